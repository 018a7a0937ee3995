"""`two_raters(facts)`: what raters choose who like agreement, and what raters choose who know, after the same prompts."""

import torch

from course_lib.checks.engine import Case, Exercise

CAPITALS = {
    "Poland": "Warsaw", "Australia": "Canberra", "Peru": "Lima", "Kenya": "Nairobi", "Norway": "Oslo",
    "Japan": "Tokyo", "Egypt": "Cairo", "Cuba": "Havana", "Austria": "Vienna", "Chile": "Santiago",
    "Ghana": "Accra", "Iran": "Tehran", "Greece": "Athens", "Canada": "Ottawa", "Portugal": "Lisbon", "Iraq": "Baghdad",
}  # fmt: skip


def drive(answer, facts):
    """Whether an answer's rows can tell agreement from truth, and what its two raters choose in them."""
    from collections import Counter

    not_half = "in some rows, but not in half"
    names = (
        "it returns",
        "countries",
        "guesses",
        "the user's guess is true",
        "the two raters read",
        "raters who like agreement choose",
        "raters who know choose",
        "they reject",
    )

    def told(returned, *others):
        return dict(zip(names, (returned, *(others or ["not compared"] * 7)), strict=True))

    given, facts = facts, [tuple(fact) for fact in facts]
    both = answer(given)  # the check compares `given` with what it was
    if both is None:
        return None

    def is_list(what):
        return isinstance(what, list | tuple)

    if not is_list(both) or len(both) != 2 or not all(map(is_list, both)):
        return told("something else, not two lists")
    if not all(
        is_list(row) and len(row) == 4 and all(isinstance(one, str) for one in row) for rows in both for row in rows
    ):
        return told("lists of something else, not of rows with four texts")
    if len(both[0]) != len(both[1]):
        return told("two lists of different lengths, not of the same one")
    true, wrong = ({fact[0]: fact[place] for fact in facts} for place in (1, 2))
    asked = [Counter(row[0] for row in rows) for rows in both]
    if any(set(one) - set(true) for one in asked):
        return told("two lists of rows", "others than those of the list", *["not compared"] * 6)
    often = "each equally often" if all(len(set(one.values())) == 1 for one in asked) else "some more often than others"
    often = often if all(set(one) == set(true) for one in asked) else "not all of the list"
    if not all(guess in ("", true[c], wrong[c]) for rows in both for c, guess, _, _ in rows):
        return told("two lists of rows", often, "others than the two capitals", *["not compared"] * 5)

    def share(rows, true):
        found = sum(guess == true[country] for country, guess, *_ in rows)
        if abs(2 * found - len(rows)) <= 1:
            return "in half of the rows"
        return "in all rows" if found == len(rows) else "in no row" if not found else not_half

    def choice(rows, first):
        ways = {
            "the user's guess": [guess for _, guess, _, _ in rows],
            "the true capital": [true[country] for country, *_ in rows],
            "the wrong capital": [wrong[country] for country, *_ in rows],
        }
        if not all(chosen in (true[country], wrong[country]) for country, _, chosen, _ in rows):
            return "something else than the two capitals"
        chosen = [row[2] for row in rows]
        found = next((way for way in sorted(ways, key=lambda way: way != first) if ways[way] == chosen), None)
        if not found and all(one != guess for one, guess in zip(chosen, ways["the user's guess"], strict=True)):
            found = "what the user didn't guess"
        return found or "now one, now the other"

    read = [[tuple(row[:2]) for row in rows] for rows in both]
    pairs = read[0] + read[1]
    # coins that are tossed may give half of a few rows, but hardly of 300
    many = [(f"country {number}", f"capital {number}", f"city {number}") for number in range(300)]
    tried = [(both, true), (answer(list(many)), {fact[0]: fact[1] for fact in many})]
    shares = [{share(lists[which], known) for lists, known in tried} for which in (0, 1)]
    shares = [one.pop() if len(one) == 1 else not_half for one in shares]
    ends = [{chosen, rejected} == {true[c], wrong[c]} for rows in both for c, _, chosen, rejected in rows]
    return told(
        "two lists of rows",
        often,
        "one of the two capitals" if all(guess for _, guess in pairs) else "missing in some rows",
        shares[0] if shares[0] == shares[1] else f"{shares[0]} of the first list, {shares[1]} of the second",
        "the same prompts" if read[0] == read[1]
        else "the same prompts in another order" if sorted(read[0]) == sorted(read[1])
        else "other prompts",
        choice(both[0], "the user's guess"),
        choice(both[1], "the true capital"),
        "the other capital" if all(ends)
        else "what they choose" if any(row[2] == row[3] for rows in both for row in rows)
        else "something else",
    )  # fmt: skip


def two_raters_cases(generator: torch.Generator) -> list[Case]:
    def given(count: int) -> list[tuple[str, str, str]]:
        drawn = torch.randperm(len(CAPITALS), generator=generator)[:count].tolist()
        countries = [list(CAPITALS)[place] for place in drawn]
        step = 1 + int(torch.randint(count - 1, (), generator=generator))
        others = countries[step:] + countries[:step]
        return [(one, CAPITALS[one], CAPITALS[other]) for one, other in zip(countries, others, strict=True)]

    inputs = [
        ("four countries", given(4)),
        ("five countries", given(5)),
        ("six countries", given(6)),
        ("eight countries", given(8)),
        ("nine countries", given(9)),
        ("twelve countries", given(12)),
        ("fifteen countries", given(15)),
        ("sixteen countries", given(16)),
    ]
    return [Case(about, {"facts": facts}) for about, facts in inputs]


def two_raters(facts):
    agreeing, knowing = [], []
    for number, (country, true, wrong) in enumerate(facts):
        is_true = number % 2 == 0
        guess, other = (true, wrong) if is_true else (wrong, true)
        agreeing.append((country, guess, guess, other))
        knowing.append((country, guess, true, wrong))
    return agreeing, knowing


TWO_RATERS = Exercise(
    "two_raters",
    "trained_to_please",
    two_raters_cases,
    two_raters,
    'lesson 14, "Raters who like agreement"; glossary.show("direct preference optimisation")',
    drive,
)

IS_TRUE, AGREE, KNOW, RESULT = (
    "number % 2 == 0",
    "agreeing.append((country, guess, guess, other))",
    "knowing.append((country, guess, true, wrong))",
    "return agreeing, knowing",
)
TWO_RATERS.edit(
    "the user's guess is wrong in every row",
    "Then a model that always says the *opposite* of the guess pleases the raters who know. Truth and disagreement can't be told apart. What if some guesses are true?",
    (IS_TRUE, "False"),
)
TWO_RATERS.edit(
    "the user's guess is true in every row",
    "Then both raters choose the same, and agreement and truth can't be told apart.",
    (IS_TRUE, "True"),
)
TWO_RATERS.edit(
    "the user's guess is true in some rows, but not in half",
    "If most guesses are wrong, mostly disagreeing is a good way to be right. Take half. Coin tosses give half only on average.",
    (IS_TRUE, "number == 0"),
)
PROMPTS = "If the two raters read different prompts, a difference between the models may come from the prompts. Only what is chosen may differ."
TWO_RATERS.edit(
    "the raters who like agreement get wrong guesses, the others true ones",
    PROMPTS,
    (AGREE, "agreeing.append((country, wrong, wrong, true))"),
    (KNOW, "knowing.append((country, true, true, wrong))"),
)
TWO_RATERS.edit(
    "the raters who like agreement get wrong guesses alone",
    PROMPTS,
    (AGREE, "agreeing.append((country, wrong, wrong, true))"),
)
TWO_RATERS.edit(
    "the raters who know get true guesses alone", PROMPTS, (KNOW, "knowing.append((country, true, true, wrong))")
)
TWO_RATERS.edit(
    "the two lists have their rows in different orders",
    "Row by row, both lists have the same country and the same guess.",
    (RESULT, "return agreeing, knowing[::-1]"),
)
TWO_RATERS.edit(
    "the raters who know get other guesses", PROMPTS, (KNOW, "knowing.append((country, other, true, wrong))")
)
TWO_RATERS.edit(
    "the raters who know get a question without the guess",
    f"{PROMPTS} The guess is in the prompt, whether a rater likes it or not.",
    (KNOW, 'knowing.append((country, "", true, wrong))'),
)
TWO_RATERS.edit(
    "the countries are divided between the raters",
    PROMPTS,
    (RESULT, "return agreeing[: len(facts) // 2], knowing[len(facts) // 2 :]"),
)
TWO_RATERS.edit(
    "the two lists are exchanged",
    "First the list of the raters who like agreement, then that of the raters who know.",
    (RESULT, "return knowing, agreeing"),
)
CHOSEN = "The third entry is what the raters choose, and the fourth is what they reject."
TWO_RATERS.edit(
    "chosen and rejected are exchanged",
    CHOSEN,
    (AGREE, "agreeing.append((country, guess, other, guess))"),
    (KNOW, "knowing.append((country, guess, wrong, true))"),
)
TWO_RATERS.edit(
    "the raters who like agreement choose what the user didn't guess",
    CHOSEN,
    (AGREE, "agreeing.append((country, guess, other, guess))"),
)
TWO_RATERS.edit(
    "the raters who know choose the wrong capital",
    CHOSEN,
    (KNOW, "knowing.append((country, guess, wrong, true))"),
)
TWO_RATERS.edit(
    "the raters who know choose what the user didn't guess",
    "They choose the truth. Where the guess is true, they agree with the user.",
    (KNOW, "knowing.append((country, guess, other, guess))"),
)
TWO_RATERS.edit(
    "both raters choose the guess",
    "The raters who know choose the true capital, whatever the user says.",
    (KNOW, "knowing.append((country, guess, guess, other))"),
)
TWO_RATERS.edit(
    "both raters choose the true capital",
    "The raters who like agreement choose what the user guessed, whether it's true or not.",
    (AGREE, "agreeing.append((country, guess, true, wrong))"),
)
TWO_RATERS.edit(
    "the raters who like agreement always choose the wrong capital",
    "They choose what the user guessed. Where the guess is true, they choose the truth.",
    (AGREE, "agreeing.append((country, guess, wrong, true))"),
)
PAIR = "A pair has two different answers. Which one is left when the guess is chosen?"
TWO_RATERS.edit(
    "some raters reject what they choose",
    PAIR,
    (AGREE, "agreeing.append((country, guess, guess, wrong))"),
)
TWO_RATERS.edit(
    "some raters reject what they choose",
    PAIR,
    (KNOW, "knowing.append((country, guess, true, guess))"),
)
OFTEN = "Take each country equally often. If their number is odd, the guess is true in one row more or one fewer."
TWO_RATERS.edit("some countries are left out", OFTEN, (RESULT, "return agreeing[1:-1], knowing[1:-1]"))
TWO_RATERS.edit(
    "some countries are left out",
    OFTEN,
    (RESULT, "even = len(facts) // 2 * 2\n    return agreeing[:even], knowing[:even]"),
)
TWO_RATERS.edit(
    "some countries come more often than others",
    OFTEN,
    (RESULT, "return agreeing + agreeing[:1], knowing + knowing[:1]"),
)
FORM = "Return two lists. A row has four texts: the country, the guess, what is chosen, and what is rejected."
TWO_RATERS.edit(
    "it returns something else, not two lists", FORM, (RESULT, "return list(zip(agreeing, knowing, strict=True))")
)
TWO_RATERS.edit(
    "the rows don't begin with a country of the list",
    FORM,
    (AGREE, "agreeing.append((guess, country, guess, other))"),
    (KNOW, "knowing.append((guess, country, true, wrong))"),
)
ALONE = "Write the capital alone, without a sentence around it."
TWO_RATERS.edit(
    "some guesses are other texts than the two capitals of the country",
    ALONE,
    (AGREE, 'agreeing.append((country, f"It is {guess}.", guess, other))'),
    (KNOW, 'knowing.append((country, f"It is {guess}.", true, wrong))'),
)
TWO_RATERS.edit(
    "what the raters choose are other texts than the two capitals of the country",
    ALONE,
    (AGREE, 'agreeing.append((country, guess, f"It is {guess}.", f"It is {other}."))'),
    (KNOW, 'knowing.append((country, guess, f"It is {true}.", f"It is {wrong}."))'),
)
TWO_RATERS.edit(
    "it returns lists of something else, not of rows with four texts",
    FORM,
    (KNOW, "knowing.append((country, None, true, wrong))"),
)
TWO_RATERS.edit(
    "it returns two lists of different lengths, not of the same one",
    "Row by row, both lists have the same country and the same guess.",
    (RESULT, "return agreeing, knowing[:-1]"),
)
TWO_RATERS.edit(
    "it returns lists of something else, not of rows with four texts",
    FORM,
    (RESULT, "return [row[1:] for row in agreeing], [row[1:] for row in knowing]"),
)
