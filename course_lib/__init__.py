"""The library of the course "Attention, Measured": one module per idea, each taught in a lesson."""

__version__ = "0.1.0"

# The modules in order: each imports only from earlier ones, so there are no import cycles. A folder counts as one
# module, except `tools`, whose modules share only that no lesson imports them.
LAYERS = {
    "Data and masks": "files cache curriculum speed masks attention_map toy_french corpus fingerprint byte_pairs "
    "word_pieces texts scenes",
    "Attention and its parts": "decorators attention cores positions layers",
    "Translators and language models": "recurrent transformer language_models gguf_file pretrained",
    "Training, decoding, metrics": "processes decoding metrics training preferences",
    "Figures, and models to read": "plotting trained",
    "What a notebook calls": "effects claims glossary checks widgets",
}
NOT_IN_LESSONS = (
    "tools.environment tools.model tools.hosted tools.lessons tools.saved_widgets tools.seeds tools.recording "
    "tools.restamp tools.confirm tools.web tools.slides tools.workbook tools.pages tools.bench tools.bench_in_page "
    "tools.hub tools.mutants tools.rewrapped tools.edges tools.relations tools.cards tools.translation tools.site "
    "tools.book grading __main__"
)


def progress():
    """Shows which exercises are done, and writes progress.html into the workbook, to print or to show."""
    from course_lib import checks

    checks.progress()


def quiz(lesson: int, when: str):
    """Asks three questions before or after a lesson, given by its number, and says which sections to review."""
    from course_lib.checks.quiz import ask

    ask(lesson, when)
