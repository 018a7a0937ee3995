"""How good a translation is, how good an alignment, and how well a text was predicted."""

import math
from collections.abc import Iterable, Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.attention_map import AttentionMap
from course_lib.corpus import Bucket, Corpus, Links, SentencePair
from course_lib.decoding import AT_ONCE, greedy
from course_lib.decorators import restoring_modes


def _same_number(written: Sequence, pairs: Sequence) -> None:
    if not pairs:
        raise ValueError("there is nothing to measure: no sentence pair was given")
    if len(written) != len(pairs):
        raise ValueError(f"{len(written)} translations for {len(pairs)} sentence pairs; one for each is wanted")
    if isinstance(written[0], str):
        raise TypeError(
            f"a translation is a string, {written[0]!r}, whose characters would count as words; split it first"
        )


def sentence_accuracy(written: Sequence[Sequence[str]], pairs: Sequence[SentencePair]) -> float:
    """The share of translations that equal the reference word for word, 0 … 1."""
    _same_number(written, pairs)
    return sum(tuple(tokens) == pair.target for tokens, pair in zip(written, pairs, strict=True)) / len(pairs)


def accuracy_by_length(model, corpus: Corpus, parts: Mapping[Bucket, Sequence[SentencePair]]) -> dict[str, float]:
    """Whole-sentence accuracy of greedy decoding for each length bucket, named like "3–6"."""
    accuracy = {}
    for (low, high), pairs in parts.items():
        written = [translation.tokens for translation in greedy(model, corpus, [pair.source for pair in pairs])]
        accuracy[f"{low}–{high}"] = sentence_accuracy(written, pairs)
    return accuracy


def corpus_bleu(written: Sequence[Sequence[str]], pairs: Sequence[SentencePair]) -> float:
    """BLEU (Papineni et al. 2002) of the whole corpus, 0 … 100, by sacrebleu on words as they are.

    It counts runs of up to four words, so three-word sentences alone score 0: no run of four is written. (Where runs
    are written and none of a length is right, sacrebleu puts a small number in place of that 0.)
    """
    import sacrebleu

    _same_number(written, pairs)
    references = [" ".join(pair.target) for pair in pairs]
    return sacrebleu.corpus_bleu(
        [" ".join(tokens) for tokens in written], [references], tokenize="none", force=True
    ).score


def alignment_error_rate(proposed: Iterable[Iterable[tuple[int, int]]], pairs: Sequence[SentencePair]) -> float:
    """`AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)`: Och & Ney 2003, section 2.2; over all the pairs together.

    Args:
        proposed: for each pair a set A of links (target position, source position).
        pairs: with gold links, S = `sure`, P = `possible`.
    Returns:
        0 (every sure link found, only possible ones proposed) … 1.
    Raises:
        ValueError: another number of proposals than pairs, no gold links, or a link outside its sentence.
    """
    proposed = [frozenset(links) for links in proposed]
    _same_number(proposed, pairs)
    hits = size = 0
    for links, pair in zip(proposed, pairs, strict=True):
        outside = [(t, s) for t, s in links if not (0 <= t < len(pair.target) and 0 <= s < len(pair.source))]
        if outside:
            raise ValueError(f"link {outside[0]} (target, source) lies outside the sentence pair {pair}")
        if not pair.sure:
            raise ValueError(f"no gold links are known for the sentence pair {pair}")
        hits += len(links & pair.sure) + len(links & pair.possible)
        size += len(links) + len(pair.sure)
    return 1 - hits / size


def strongest_links(weights: Float[Tensor, "batch target source"], pairs: Sequence[SentencePair]) -> list[Links]:
    """A_t = {(t, argmax_i α_{t,i})}: from each word of the reference to the source word with the largest weight.

    The weights are those of teacher forcing, so that row t belongs to word t of the reference. What lies behind a
    sentence (the step that writes `<eos>`, and padding) is left out; a row of zeros proposes nothing.

    Args:
        weights: of a whole batch, as `model(batch.source, batch.source_mask, batch.target_input)` gives them.
        pairs: those of the batch, in its order.
    Returns:
        for each pair its links (target position, source position), for `alignment_error_rate`.
    Raises:
        ValueError: another number of pairs than of rows in the batch; fewer target or source positions than the
            pair has words; or weights that do not sum to 1 over the source words (`AttentionMap`).

    >>> import torch
    >>> pair = SentencePair(("black", "cat"), ("chat", "noir"))
    >>> sorted(strongest_links(torch.tensor([[[0.1, 0.9], [0.7, 0.3], [0.5, 0.5]]]), [pair])[0])
    [(0, 1), (1, 0)]
    """
    if len(weights) != len(pairs):
        raise ValueError(
            f"attention weights of {len(weights)} sentences for {len(pairs)} sentence pairs; "
            "give the pairs of the batch, in its order"
        )
    proposed = []
    for sentence, pair in zip(weights, pairs, strict=True):
        targets, sources = sentence.shape
        if targets < len(pair.target) or sources < len(pair.source):
            raise ValueError(
                f"the weights have {targets} target and {sources} source positions, too few for the "
                f"{len(pair.target)} and {len(pair.source)} words of {pair}; are the pairs in the batch's order?"
            )
        seen = AttentionMap(sentence[: len(pair.target), : len(pair.source)], pair.target, pair.source)
        # Not `seen.strongest()`: how a map is shown is no part of a fingerprint, and what is measured must be.
        proposed.append(frozenset((t, int(row.argmax())) for t, row in enumerate(seen.weights) if row.any()))
    return proposed


@restoring_modes
@torch.no_grad()
def bits_per_character(model, text: str, vocabulary) -> float:
    """`−Σ_t log₂ p(y_t | up to L tokens before it) / characters`, so that all vocabularies can be compared.

    Windows of L = `model.trained_length` tokens follow one another by L / 2: behind the first, every token is predicted
    from at least L / 2 before it. The very first costs log₂ V.

    Args:
        vocabulary: has `encode`, as `BytePairs`.
    Raises:
        ValueError: the text has fewer than two tokens.
    """
    model.eval()
    numbers = torch.tensor(vocabulary.encode(text))
    last = len(numbers) - 1
    if last < 1:
        raise ValueError(f"the text has {last + 1} tokens; two are needed, one to predict the other from")
    length = min(model.trained_length, last)
    ends = torch.tensor([*range(length, last, max(1, length // 2)), last])
    windows = numbers[ends[:, None] - length + torch.arange(length + 1)]  # (window, length + 1)
    new = ends.diff(prepend=torch.tensor([0]))  # what no earlier window has predicted
    counted = torch.arange(length) >= length - new[:, None]  # (window, length)
    nats, device = math.log(len(vocabulary)), next(model.parameters()).device
    for window, counts in zip(windows.split(AT_ONCE), counted.split(AT_ONCE), strict=True):
        log_p = model(window[:, :-1].to(device))[0].log_softmax(-1).cpu()
        nats -= log_p.gather(-1, window[:, 1:, None])[..., 0][counts].double().sum().item()
    return nats / math.log(2) / len(text)
