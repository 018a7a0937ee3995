"""`adjusted_numbers`: how many numbers a low-rank update trains."""

from course_lib.checks.engine import Misconception, Question

WIDTH, RANK_4, LAYERS, OF_EACH = 384, 4, 6, 2
BOTH = "A has r × 384 numbers and B has 384 × r, and each matrix gets both."
FROZEN = "The matrices themselves stay as they are. Only A and B are trained."

ADJUSTED_NUMBERS = Question(
    "adjusted_numbers",
    "a_real_model",
    lambda: LAYERS * OF_EACH * RANK_4 * (WIDTH + WIDTH),
    (
        Misconception("only A or only B is counted, or only the query or the value", f"{BOTH} A layer has two such matrices.", 6 * 2 * 4 * 384),
        Misconception("only one matrix is counted", "A layer has two such matrices, and there are six layers.", 4 * 768),
        Misconception("only one layer is counted", "There are six layers.", 2 * 4 * 768),
        Misconception("only A or only B of a single matrix is counted", f"{BOTH} Then count the matrices.", 4 * 384),
        Misconception("the count is twice as large as it should be", "Do you use r = 4? (The lesson used 8.) Do you count six layers with two matrices each, for queries and for values?", 6 * 4 * 4 * 768),
        Misconception("three matrices per layer are counted", "Only the matrices for queries and values get an update.", 6 * 3 * 4 * 768),
        Misconception("all numbers of the matrices are counted", FROZEN, 6 * 2 * 384 * 384),
        Misconception("all numbers of one matrix are counted", FROZEN, 384 * 384),
        Misconception("the frozen numbers are counted, too", "Count only what is trained. W stays as it is.", 6 * 2 * (384 * 384 + 4 * 768)),
        Misconception("all numbers of the matrices are counted four times", "The rank is the width between A and B, not a number of copies.", 6 * 2 * 384 * 384 * 4),
        Misconception("a bias is counted, too", "A and B are matrices without a bias.", 6 * 2 * (4 * 768 + 384)),
        Misconception("a bias is counted for A and for B", "A and B are matrices without a bias.", 6 * 2 * (4 * 768 + 384 + 4)),
        Misconception("every head is counted", "Each matrix of 384 × 384 serves all heads together.", 12 * 6 * 2 * 4 * 768),
        Misconception("the numbers of A and B are multiplied, not added", BOTH, 6 * 2 * (4 * 384) ** 2),
        Misconception("the rank is left out", "There are r = 4 numbers between A and B.", 6 * 2 * 768),
    ),
    'lesson 11, "Use and adjust it"; glossary.show("low-rank adaptation")',
)  # fmt: skip
