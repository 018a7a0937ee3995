"""`head_only(model, settings)`: the control in which the head trains and the body doesn't, and nothing else differs."""

import torch

from course_lib.checks.engine import Case, Exercise

SETTINGS = {"learning rate": 0.01, "weight decay": 0.01, "steps": 30, "stops on": "validation", "seed": 3}


def drive(answer, seed, parts, bias, frozen, settings):
    """What has been changed before training, what moves in a step of it, what stays, and which settings differ.

    The model is a small one with the parts named, another for each seed.
    """
    import torch
    from torch import nn

    class LowRank(nn.Module):
        """A frozen matrix and a low-rank pair beside it."""

        def __init__(self):
            super().__init__()
            self.matrix = nn.Linear(4, 4, bias=False).requires_grad_(False)
            self.down, self.up = nn.Parameter(torch.randn(2, 4)), nn.Parameter(torch.randn(4, 2))

        def forward(self, x):
            return self.matrix(x) + x @ self.down.T @ self.up.T

    kinds = {
        "words": lambda: nn.Embedding(6, 4),
        "linear": lambda: nn.Linear(4, 4),
        "low_rank": LowRank,
        "norm": lambda: nn.LayerNorm(4),
    }

    class Model(nn.Module):
        """Words in, scores of three topics out."""

        def __init__(self):
            super().__init__()
            self.body = nn.ModuleDict({name: kinds[name]() for name in parts})
            self.head = nn.Linear(4, 3, bias=bias)

        def forward(self, x):
            for part in self.body.values():
                x = part(x)
            return self.head(x)

    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(seed)
        model = Model()
        for name, numbers in model.named_parameters():
            if name.startswith(tuple(frozen)):
                numbers.requires_grad_(False)
        words = torch.randint(6, (5,))
        before = {name: numbers.detach().clone() for name, numbers in model.named_parameters()}
        found = answer(model, settings)
        if found is None:
            raise ValueError("your function returns nothing, but the settings are wanted")
        if not isinstance(found, dict):
            raise TypeError(f"your function returns something of type {type(found).__name__}, not the settings")
        begun = {name: numbers.detach().clone() for name, numbers in model.named_parameters()}
        scores = model(words)
        if scores.requires_grad:
            nn.functional.cross_entropy(scores, words % 3).backward()
        for numbers in model.parameters():
            if numbers.grad is not None:
                numbers.data -= numbers.grad
        now = dict(model.named_parameters())
        told = {
            "begins with other numbers": [n for n in before if n not in begun or not begun[n].equal(before[n])],
            "moves in a step": [n for n in now if not now[n].equal(begun[n])],
            "stays as it is": [n for n in now if now[n].equal(begun[n])],
            "settings that differ": [n for n in {**settings, **found} if settings.get(n) != found.get(n)],
        }
        return {what: ", ".join(names) or "none" for what, names in told.items()}


def cases(generator: torch.Generator) -> list[Case]:
    def given(*parts: str, bias: bool = True, frozen: tuple = (), **settings) -> dict:
        seed = int(torch.randint(10_000, (), generator=generator))
        parts = ["words", *parts]
        return {
            "seed": seed,
            "parts": parts,
            "bias": bias,
            "frozen": list(frozen),
            "settings": {**SETTINGS, **settings},
        }

    inputs = [
        ("a body of one part", given()),
        ("a matrix in the body", given("linear")),
        ("a head without a bias", given("linear", bias=False)),
        ("a LayerNorm in the body", given("linear", "norm")),
        ("a low-rank pair in the body", given("low_rank")),
        ("a low-rank pair and a LayerNorm", given("low_rank", "norm", bias=False)),
        ("a body that was frozen before, but for its low-rank pair", given("low_rank", "norm", frozen=("body.words", "body.norm"))),
        ("a head that was frozen before", given("linear", "norm", frozen=("head",))),
        ("a model that was frozen before", given("low_rank", "linear", frozen=("body", "head"))),
        ("a head whose bias was frozen before", given("norm", frozen=("head.bias",))),
        ("other settings", given("linear", "low_rank", steps=200, seed=7, **{"learning rate": 0.3, "weight decay": 0.0})),
    ]  # fmt: skip
    return [Case(about, arguments) for about, arguments in inputs]


def right(model, settings):
    model.body.requires_grad_(False)
    model.head.requires_grad_(True)
    return settings


HEAD_ONLY = Exercise(
    "head_only",
    "a_real_model",
    cases,
    right,
    'lesson 11, "The classifier or the model?"; glossary.show("low-rank adaptation")',
    drive,
)

BODY = "model.body.requires_grad_(False)"
HEAD = "model.head.requires_grad_(True)"
RETURNED = "return settings"


def keep(model, *kept):
    """Lets the parameters train whose names hold one of these."""
    for name, numbers in model.named_parameters():
        numbers.requires_grad_(any(one in name for one in kept))


SWITCH = "A module has no switch of its own. `module.requires_grad = False` only gives it a new attribute. What do its parameters have?"
HEAD_ONLY.edit("nothing is frozen", SWITCH, (BODY, "model.body.requires_grad = False"), (HEAD, "pass"))
HEAD_ONLY.edit("the body isn't frozen", SWITCH, (BODY, "model.body.requires_grad = False"))
HEAD_ONLY.edit("everything is made to train", SWITCH, (BODY, "model.requires_grad_(True)"))
HEAD_ONLY.edit(
    "nothing at all trains",
    "Is the head frozen together with the body? In the control, the head must be able to move.",
    (BODY, "model.requires_grad_(False)"),
    (HEAD, "pass"),
)
HEAD_ONLY.edit(
    "a head that was frozen before stays frozen",
    "Another arm may have frozen the head in this model. Is it enough to freeze the body?",
    (HEAD, "pass"),
)
HEAD_ONLY.edit(
    "the body trains, and the head is frozen",
    "That is the other arm, the model alone. Which of the two should move here?",
    (BODY, "model.body.requires_grad_(True)"),
    (HEAD, "model.head.requires_grad_(False)"),
)
HEAD_ONLY.edit(
    "only the head's matrix trains",
    "A classifier has a matrix and a bias, and both trained in the arms that you compare with.",
    (BODY, "model.requires_grad_(False)"),
    (HEAD, "model.head.weight.requires_grad_(True)"),
)
PARTS = (
    "The control is only a control if *nothing* in the body moves. Print the names of all parameters that can train."
)
HEAD_ONLY.edit(
    "the low-rank pair still trains", f"It belongs to the body. {PARTS}", (BODY, "keep(model, 'down', 'up')")
)
HEAD_ONLY.edit("the body's biases still train", PARTS, (BODY, "keep(model, 'bias')"))
HEAD_ONLY.edit("the LayerNorm still trains", f"It belongs to the body. {PARTS}", (BODY, "keep(model, 'norm')"))
HEAD_ONLY.edit("the LayerNorm and the biases still train", PARTS, (BODY, "keep(model, 'norm', 'bias')"))
HEAD_ONLY.edit("the word vectors still train", f"They belong to the body. {PARTS}", (BODY, "keep(model, 'words')"))
HEAD_ONLY.edit(
    "the matrices still train",
    f"Did you freeze only the low-rank pair? {PARTS}",
    (BODY, "keep(model, 'linear', 'words', 'norm', 'matrix')"),
)
TWO = (
    "Then two things change at once, the part that trains and this. If the arms end differently, what would that show?"
)
for head in ("model.head.reset_parameters()", "torch.nn.init.zeros_(model.head.weight)"):
    HEAD_ONLY.edit(
        "the head begins with other numbers",
        f"The other arms begin with the classifier as it is. {TWO}",
        (HEAD, f"model.head.requires_grad_(True)\n    {head}"),
    )
for setting, value, name in (
    ("learning rate", "1e-3", "the learning rate is another one"),
    ("weight decay", "0.5", "the penalty on large weights is another one"),
    ("steps", "100", "the number of steps is another one"),
    ("stops on", "'test'", "it stops on other data"),
    ("seed", "settings['seed'] + 1", "the seed is another one"),
):
    HEAD_ONLY.edit(name, TWO, (RETURNED, f"return {{**settings, {setting!r}: {value}}}"))
HEAD_ONLY.edit(
    "no settings are returned",
    "Return all of the settings, so that the control trains as the other arms do.",
    (RETURNED, "return {}"),
)
