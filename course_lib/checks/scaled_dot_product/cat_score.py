"""`cat_score`: the dot product of *cat* with itself."""

from course_lib.checks.engine import Misconception, Question
from course_lib.checks.scaled_dot_product.the_article import ARTICLE, TO_ALL, WORDS

CAT_SCORE = Question(
    "cat_score",
    "scaled_dot_product",
    lambda: TO_ALL[1].item(),
    (
        Misconception("that is divided by √d_k", "For now, the exercise asks only for the dot product.", lambda: TO_ALL[1].item() / 2),
        Misconception("that is the length of the vector", "The length is a root. Does a dot product take one?", lambda: TO_ALL[1].sqrt().item()),
        Misconception("that is the sum of the numbers of cat", "Each number of one vector meets the number at the same position of the other. That makes four products.", lambda: WORDS[1].sum().item()),
        Misconception("that is cat · The", "Here cat looks at itself.", lambda: TO_ALL[0].item()),
        Misconception("that is cat · sat", "Here cat looks at itself.", lambda: TO_ALL[2].item()),
        Misconception("that is sat · sat", "Here cat looks at itself. The lesson followed sat.", lambda: (WORDS[2] @ WORDS[2]).item()),
    ),
    ARTICLE,
    tolerance=0.005,
)  # fmt: skip
