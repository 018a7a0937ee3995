"""Frames of the RNN bottleneck: a sentence in one vector, and what a model writes."""

import difflib
import html
from collections.abc import Sequence

import numpy as np

from course_lib.widgets.drawing import svg


def remember(words: Sequence[str], vocabulary: Sequence[str], numbers: int) -> tuple[np.ndarray, list[str]]:
    """Puts a sentence into one vector by an untrained recurrence, and reads it back.

    h_j = R h_{j-1} + E[x_j] with a random rotation R and random unit vectors E; word j is read back as
    argmax_w  h_n · R^{n-j} E[w].

    Returns:
        h_n, and the words read back.
    Raises:
        ValueError: `numbers` is not positive, or a word is not in the vocabulary.
    """
    if numbers < 1:
        raise ValueError(f"a vector of {numbers} numbers holds nothing; give at least 1")
    unknown = sorted(set(words) - set(vocabulary))
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not in the vocabulary of {len(vocabulary)} words")
    random = np.random.default_rng(numbers)
    rotation, _ = np.linalg.qr(random.normal(size=(numbers, numbers)))
    codes = random.normal(size=(len(vocabulary), numbers))
    codes /= np.linalg.norm(codes, axis=1, keepdims=True)
    number_of = {word: i for i, word in enumerate(vocabulary)}
    state = np.zeros(numbers)
    for word in words:
        state = rotation @ state + codes[number_of[word]]
    read, turned = [], state
    for _ in words:  # the last word first: each turn back brings the one before it to the front
        read.append(vocabulary[int((codes @ turned).argmax())])
        turned = rotation.T @ turned
    return state, read[::-1]


def _marked(words: Sequence[str], right: Sequence[bool]) -> str:
    """The words, with wrong ones marked and crossed, so that colour isn't the only sign."""
    spelled = (
        html.escape(word) if good else f"<mark>✗&nbsp;{html.escape(word)}</mark>"
        for word, good in zip(words, right, strict=True)
    )
    return " ".join(spelled)


def memory_frame(words: Sequence[str], vocabulary: Sequence[str], length: int, numbers: int) -> str:
    """The first `length` words, the vector of `numbers` numbers that must hold them, and what is read back."""
    sentence = words[:length]
    state, read = remember(sentence, vocabulary, numbers)
    right = [a == b for a, b in zip(sentence, read, strict=True)]
    tallest = np.abs(state).max() or 1
    width = 500 / numbers
    bars = "".join(f"M{(i + 0.5) * width:.0f} 30v{-28 * value / tallest:.0f}" for i, value in enumerate(state))
    drawn = (
        '<path d="M0 30h500" stroke="#999"/>'
        f'<path d="{bars}" stroke="#0072b2" stroke-width="{max(1.5, 0.7 * width):.1f}"/>'
    )
    return (
        f"<div>in: {html.escape(' '.join(sentence))}</div>"
        f"{svg(500, 60, drawn, f'a vector of {numbers} numbers', size=20)}"
        f"<div>read back: {_marked(read, right)}</div>"
        f"<div><b>{sum(right)} of {length} words</b> survive in {numbers} numbers</div>"
    )


def translation_frame(source: Sequence[str], reference: Sequence[str], written: Sequence[str]) -> str:
    """A sentence, its translation by a model with the wrong words marked, and the correct translation."""
    matches = difflib.SequenceMatcher(None, reference, written, autojunk=False).get_matching_blocks()
    right = [any(m.b <= i < m.b + m.size for m in matches) for i in range(len(written))]
    wrong = max(len(reference), len(written)) - sum(match.size for match in matches)
    verdict = f"✗ {wrong} {'word' if wrong == 1 else 'words'} wrong or missing" if wrong else "✓ all correct"
    return (
        f"<div><b>{len(source)} English words:</b> {html.escape(' '.join(source))}</div>"
        f"<div><b>the model writes:</b> {_marked(written, right)}</div>"
        f"<div><b>it should be:</b> {html.escape(' '.join(reference))}</div>"
        f"<div><b>{verdict}</b></div>"
    )
