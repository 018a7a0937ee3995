"""Measures how good translations and alignments are, and how well a model predicts a text."""

import math
from collections.abc import Iterable, Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.attention_map import AttentionMap
from course_lib.corpus import Bucket, Corpus
from course_lib.decoding import AT_ONCE, greedy
from course_lib.decorators import restoring_modes
from course_lib.toy_french import Links, SentencePair


def _same_number(written: Sequence, pairs: Sequence) -> None:
    if not pairs:
        raise ValueError("no sentence pair was given; give at least one")
    if len(written) != len(pairs):
        raise ValueError(f"there are {len(written)} translations for {len(pairs)} sentence pairs; give one for each")
    if isinstance(written[0], str):
        raise TypeError(
            f"a translation is a string, {written[0]!r}, whose characters would count as words; split it first"
        )


def sentence_accuracy(written: Sequence[Sequence[str]], pairs: Sequence[SentencePair]) -> float:
    """Returns the share of translations, 0 … 1, whose words are exactly those of the reference."""
    _same_number(written, pairs)
    return sum(tuple(tokens) == pair.target for tokens, pair in zip(written, pairs, strict=True)) / len(pairs)


def accuracy_by_length(model, corpus: Corpus, parts: Mapping[Bucket, Sequence[SentencePair]]) -> dict[str, float]:
    """Returns the sentence accuracy of greedy decoding for each length bucket, under names like "3–6"."""
    accuracy = {}
    for (low, high), pairs in parts.items():
        written = [translation.tokens for translation in greedy(model, corpus, [pair.source for pair in pairs])]
        accuracy[f"{low}–{high}"] = sentence_accuracy(written, pairs)
    return accuracy


def corpus_bleu(written: Sequence[Sequence[str]], pairs: Sequence[SentencePair]) -> float:
    """Computes BLEU (Papineni et al. 2002) of the whole corpus, 0 … 100, with sacrebleu and without its tokenizer.

    BLEU counts n-grams of up to four words, so a corpus of three-word sentences scores 0, since it has no four-gram.
    If n-grams of a length are written and none is correct, sacrebleu uses a small number instead of 0.
    """
    import sacrebleu

    _same_number(written, pairs)
    references = [" ".join(pair.target) for pair in pairs]
    return sacrebleu.corpus_bleu(
        [" ".join(tokens) for tokens in written], [references], tokenize="none", force=True
    ).score


def alignment_error_rate(proposed: Iterable[Iterable[tuple[int, int]]], pairs: Sequence[SentencePair]) -> float:
    """Computes `AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)` over all pairs together (Och & Ney 2003, section 2.2).

    Args:
        proposed: for each pair a set A of links (target position, source position).
        pairs: have gold links, S = `sure` and P = `possible`.
    Returns:
        A number from 0 to 1; 0 means that every sure link was found and only possible links were proposed.
    Raises:
        ValueError: there are not as many proposals as pairs, a pair has no gold links, or a link is outside its pair.
    """
    proposed = [frozenset(links) for links in proposed]
    _same_number(proposed, pairs)
    hits = size = 0
    for links, pair in zip(proposed, pairs, strict=True):
        outside = [(t, s) for t, s in links if not (0 <= t < len(pair.target) and 0 <= s < len(pair.source))]
        if outside:
            raise ValueError(
                f"link {outside[0]} (target, source) is outside the sentence pair {pair}, which has "
                f"{len(pair.target)} target and {len(pair.source)} source words"
            )
        if not pair.sure:
            raise ValueError(f"the sentence pair {pair} has no gold links; give pairs that have `sure` links")
        hits += len(links & pair.sure) + len(links & pair.possible)
        size += len(links) + len(pair.sure)
    return 1 - hits / size


def strongest_links(weights: Float[Tensor, "batch target source"], pairs: Sequence[SentencePair]) -> list[Links]:
    """Links each word of the reference to the source word with the largest weight: A_t = {(t, argmax_i α_{t,i})}.

    The weights come from teacher forcing, so row t belongs to word t of the reference. The step that writes `<eos>`
    and the padding are left out; a row of zeros gives no link.

    Args:
        weights: of a whole batch, as `model(batch.source, batch.source_mask, batch.target_input)` returns them.
        pairs: the pairs of the batch, in its order.
    Returns:
        For each pair its links (target position, source position), for `alignment_error_rate`.
    Raises:
        ValueError: there are not as many pairs as rows in the batch; there are fewer target or source positions than
            words; or weights do not sum to 1 over the source words (`AttentionMap`).

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
        # Not `seen.strongest()`: a fingerprint leaves out `attention_map`, and it must cover what is measured.
        proposed.append(frozenset((t, int(row.argmax())) for t, row in enumerate(seen.weights) if row.any()))
    return proposed


@restoring_modes
@torch.no_grad()
def bits_per_character(model, text: str, vocabulary) -> float:
    """Computes −Σ_t log₂ p(y_t | up to L tokens before it) per character, which makes vocabularies comparable.

    Windows of L = `model.trained_length` tokens start every L / 2 tokens. After the first window, every token is
    predicted from at least L / 2 tokens before it. The first token costs log₂ V.

    Args:
        vocabulary: has `encode`, as `BytePairs` does.
    Raises:
        ValueError: the text has fewer than two tokens.
    """
    model.eval()
    numbers = torch.tensor(vocabulary.encode(text))
    last = len(numbers) - 1
    if last < 1:
        raise ValueError(f"the text has {last + 1} tokens; it needs at least 2, so that one predicts the other")
    length = min(model.trained_length, last)
    ends = torch.tensor([*range(length, last, max(1, length // 2)), last])
    windows = numbers[ends[:, None] - length + torch.arange(length + 1)]  # (window, length + 1)
    new = ends.diff(prepend=torch.tensor([0]))  # tokens that no earlier window has predicted
    counted = torch.arange(length) >= length - new[:, None]  # (window, length)
    nats, device = math.log(len(vocabulary)), next(model.parameters()).device
    for window, counts in zip(windows.split(AT_ONCE), counted.split(AT_ONCE), strict=True):
        log_p = model(window[:, :-1].to(device))[0].log_softmax(-1).cpu()
        nats -= log_p.gather(-1, window[:, 1:, None])[..., 0][counts].double().sum().item()
    return nats / math.log(2) / len(text)
