"""A frame of multi-head attention: what a single head can't tell."""

from course_lib.widgets.drawing import beside, label, svg

WHO_AND_WHOM = ("dog", "cat"), ("cat", "dog")


def two_sources_frame(heads: int, weight: float) -> str:
    """What *sees* can tell about *dog sees cat* and *cat sees dog*, with one head or with two.

    A head with weight p on the word before and 1 − p on the word after passes on p · before + (1 − p) · after.
    The first head has p = `weight`, the second, if there is one, 1 − `weight`. A linear readout can ask a head for its
    largest part. Each question goes to the head that looks harder at its word.
    """
    sentences = []
    for who, whom in WHO_AND_WHOM:
        drawings, mixed = [], []
        for head in range(heads):
            p = weight if head == 0 else 1 - weight
            amounts = {"dog": p if who == "dog" else 1 - p, "cat": p if who == "cat" else 1 - p, "bee": 0.0}
            mixed.append((p, amounts))
            parts = [f'<text x="40" y="14">head {head + 1}</text>']
            for line, (word, amount) in enumerate(amounts.items()):
                y = 22 + 22 * line
                parts.append(
                    f'<text x="32" y="{y + 13}" text-anchor="end">{word}</text>'
                    f'<path d="M40 {y}h{70 * amount:.0f}v16h-{70 * amount:.0f}z" fill="#0072b2"/>'
                    f"{label(46 + 70 * amount, y + 13, f'{amount:.1f}')}"
                )
            drawings.append(svg(142, 92, "".join(parts)))
        said = []
        for question, right, asks in (
            ("who sees?", who, max(mixed, key=lambda head: head[0])),
            ("who is seen?", whom, min(mixed, key=lambda head: head[0])),
        ):
            dog, cat = round(asks[1]["dog"], 6), round(asks[1]["cat"], 6)
            answer = "cannot tell" if dog == cat else "dog" if dog > cat else "cat"
            said.append(f"{question} {'✓' if answer == right else '✗'} {answer}")
        told = f"what {'one head passes' if heads == 1 else 'two heads pass'} on from {who} sees {whom}"
        answers = "".join(f"<div>{answer}</div>" for answer in said)
        sentences.append(f"<div><b>{who} sees {whom}</b>{beside(told, *drawings)}{answers}</div>")
    count = sum(sentence.count("✓") for sentence in sentences)
    return f'<div class="am-beside">{"".join(sentences)}</div><div><b>{count} of 4 answers right</b></div>'
