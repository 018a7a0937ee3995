"""From a trained model to words."""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from course_lib.attention_map import AttentionMap
from course_lib.corpus import BOS, EOS, SPECIALS, Corpus, pad

AT_ONCE = 500  # sentences


class Translation(NamedTuple):
    """What a model wrote. `finished` is False if it had not written `<eos>` when it was stopped."""

    tokens: tuple[str, ...]
    attention: AttentionMap | None
    finished: bool


@torch.no_grad()
def greedy(model, corpus: Corpus, sentences: Sequence[Sequence[str]]) -> list[Translation]:
    """Writes the likeliest next word, again and again, until `<eos>`.

    y_t = argmax p(y | y_1 … y_{t-1}, x). A sentence is stopped when it has twice as many words as its source
    and ten more. The model needs `encode`, `start` and `step` as `recurrent.EncoderDecoder` has them.

    Args:
        sentences: lists of source words.
    Returns:
        for each sentence its words and, if the model has attention, the map from them to the source words.
    Raises:
        KeyError: a word is not in the source vocabulary.
        ValueError: a sentence is empty.
    """
    if not len(sentences):
        return []
    model.eval()
    device = next(model.parameters()).device
    numbers = [corpus.source_vocabulary.encode(sentence) for sentence in sentences]
    if [] in numbers:
        raise ValueError(f"sentence {numbers.index([])} is empty; every sentence needs at least one word")
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    translations: dict[int, Translation] = {}
    for chunk in (order[i : i + AT_ONCE] for i in range(0, len(order), AT_ONCE)):
        source, mask = (tensor.to(device) for tensor in pad([numbers[i] for i in chunk]))
        limit = 2 * mask.sum(1) + 10
        memory = model.encode(source, mask)
        state = model.start(memory)
        words = torch.full_like(limit, SPECIALS.index(BOS))
        written, weights = [], []
        done = torch.zeros_like(limit, dtype=torch.bool)
        while not done.all():
            logits, state, weight = model.step(words, state, memory)
            words = logits.argmax(-1)
            written.append(words)
            weights.append(weight)
            done |= (words == SPECIALS.index(EOS)) | (len(written) >= limit)
        table = torch.stack(written, 1).tolist()
        seen = torch.stack(weights, 1).cpu() if weights[0] is not None else None
        for row, i in enumerate(chunk):
            line = table[row][: int(limit[row])]
            finished = SPECIALS.index(EOS) in line
            count = line.index(SPECIALS.index(EOS)) if finished else len(line)
            tokens = tuple(corpus.target_vocabulary.words[number] for number in line[:count])
            attention = None
            if seen is not None:
                attention = AttentionMap(seen[row, :count, : len(sentences[i])], tokens, sentences[i])
            translations[i] = Translation(tokens, attention, finished)
    return [translations[i] for i in range(len(sentences))]
