"""`adjusted_numbers`: how many numbers a low-rank update has."""

from course_lib.checks.engine import Misconception, Question

WIDTH, RANK_4, LAYERS, OF_EACH = 384, 4, 6, 2
BOTH = "A has r × 384 numbers, and B has 384 × r: a matrix gets both."
FROZEN = "Those stay as they are. Trained are A and B, with r = 4 numbers in between."

ADJUSTED_NUMBERS = Question(
    "adjusted_numbers",
    "a_real_model",
    lambda: LAYERS * OF_EACH * RANK_4 * (WIDTH + WIDTH),
    (
        Misconception("only A or only B is counted, or only the query or the value", f"{BOTH} And a layer has two such matrices.", 6 * 2 * 4 * 384),
        Misconception("that is one matrix", "A layer has two such matrices, and there are six layers.", 4 * 768),
        Misconception("that is one layer", "There are six layers.", 2 * 4 * 768),
        Misconception("that is one of A and B, of a single matrix", f"{BOTH} Then count the matrices.", 4 * 384),
        Misconception("that is twice as many", "Is r = 4 (the lesson took 8)? Are there six layers, and two matrices in each, the query's and the value's?", 6 * 4 * 4 * 768),
        Misconception("three matrices a layer are counted", "Only queries and values are adjusted: two matrices a layer.", 6 * 3 * 4 * 768),
        Misconception("all numbers of the matrices are counted", FROZEN, 6 * 2 * 384 * 384),
        Misconception("all numbers of one matrix are counted", FROZEN, 384 * 384),
        Misconception("the frozen numbers are counted, too", "Only what is trained is asked for: W stays as it is.", 6 * 2 * (384 * 384 + 4 * 768)),
        Misconception("all numbers of B A are counted, four times", "A rank is a width in between, no number of copies.", 6 * 2 * 384 * 384 * 4),
        Misconception("a bias is counted, too", "A and B are matrices alone.", 6 * 2 * (4 * 768 + 384)),
        Misconception("a bias is counted for A and for B", "A and B are matrices alone.", 6 * 2 * (4 * 768 + 384 + 4)),
        Misconception("every head is counted", "The matrices are those of all heads together: 384 × 384.", 12 * 6 * 2 * 4 * 768),
        Misconception("the numbers of A and B are multiplied, not added", BOTH, 6 * 2 * (4 * 384) ** 2),
        Misconception("the rank is left out", "Between A and B there are r = 4 numbers.", 6 * 2 * 768),
    ),
    'lesson 11, "Use and adjust it"; glossary.show("low-rank adaptation")',
)  # fmt: skip
