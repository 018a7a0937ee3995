"""Small models with which greedy_words and beam_words write, and the search for those that tell mistakes apart."""

import torch

MOST_DRAWS = 150  # of inputs that may tell misconceptions apart


def drive_writer(answer, p, echo, added=0.0, **settings):
    """Passes on a model of a few words, which looks at the last word and, `echo` times as much, at those before it.

    Its scores are log p, and `added` more, which changes no softmax.
    """
    import torch

    calls = 0

    def scores(words):
        nonlocal calls
        calls += 1
        if calls > 10_000 or len(words) > settings["limit"] + 50:
            raise RecursionError("it keeps asking the model, far beyond the limit")
        if isinstance(words, torch.Tensor):
            raise TypeError("the model takes a list of word numbers, but it got a tensor")
        row = p[int(words[-1])].log()
        if echo:
            for back in range(2, 1 + len(words)):
                row = row + echo * p[int(words[-back])].log().roll(back - 1)
        return row.log_softmax(-1) + added

    return answer(scores, *settings.values())


def newest(answer, count: int):
    """Returns the same answer, except that the model gets only the newest `count` words."""
    return lambda model, *settings: answer(lambda words: model(words[-count:]), *settings)


def told_apart(draw, right, misconceptions, clear=lambda arguments: True, nameless=()) -> list[dict]:
    """Finds arguments that show each misconception: there, neither the right answer nor another misconception gives the same.

    For the `nameless` ones, it is enough that the right answer gives something else. Arguments are skipped where rounding
    could decide (`clear` is False), because a right answer in another style might be refused there.
    """
    found, lacking = [], [*misconceptions, *nameless]
    for _ in range(MOST_DRAWS):
        arguments = draw()
        wanted, *named = [drive_writer(answer, **arguments) for answer in (right, *misconceptions)]
        shown = [
            misconception
            for misconception, given in zip(misconceptions, named, strict=True)
            if [wanted, *named].count(given) == 1
        ]
        others = [misconception for misconception in nameless if misconception in lacking]
        shown += [misconception for misconception in others if drive_writer(misconception, **arguments) != wanted]
        if not set(shown).isdisjoint(lacking) and clear(arguments):
            found.append(arguments)
            lacking = [misconception for misconception in lacking if misconception not in shown]
        if not lacking:
            break
    return found


def table(generator: torch.Generator, words: int) -> torch.Tensor:
    return torch.randn(words, words, generator=generator, dtype=torch.float64).mul(1.5).softmax(-1)
