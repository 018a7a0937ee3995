"""`cat_score`: the dot product of *cat* with itself."""

from course_lib.checks.engine import Misconception, Question
from course_lib.checks.scaled_dot_product.the_article import ARTICLE, TO_ALL, WORDS

CAT_SCORE = Question(
    "cat_score",
    "scaled_dot_product",
    lambda: TO_ALL[1].item(),
    (
        Misconception("that is divided by √d_k", "The dot product alone is asked for, for now.", lambda: TO_ALL[1].item() / 2),
        Misconception("that is the length of the vector", "The dot product of a vector with itself is its length *before* the root is taken.", lambda: TO_ALL[1].sqrt().item()),
        Misconception("that is the sum of the numbers of cat", "Each number of the one vector meets the number in the same place of the other: four products.", lambda: WORDS[1].sum().item()),
        Misconception("that is cat · The", "Here cat looks at itself.", lambda: TO_ALL[0].item()),
        Misconception("that is cat · sat", "Here cat looks at itself.", lambda: TO_ALL[2].item()),
        Misconception("that is sat · sat", "Here cat looks at itself. The lesson followed sat.", lambda: (WORDS[2] @ WORDS[2]).item()),
    ),
    ARTICLE,
    tolerance=0.005,
)  # fmt: skip
