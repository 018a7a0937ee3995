"""A frame of the Transformer, taken apart: curves of models without a part."""

import html

from course_lib.widgets.drawing import svg


def by_length_frame(curves: dict[str, dict[str, float]], below: str = "") -> str:
    """Curves from 0 to 1 over the length buckets, each with its own colour, mark and dashes.

    Args:
        curves: at most three, by name; each has a share for every bucket, in the same order.
        below: HTML under the picture.
    Raises:
        ValueError: no curve or more than three.
    """
    if not 1 <= len(curves) <= 3:
        raise ValueError(f"{len(curves)} curves were given; one to three can be told apart")
    buckets = list(next(iter(curves.values())))
    across = [56 + 310 * i / max(1, len(buckets) - 1) for i in range(len(buckets))]
    parts = [
        f'<path d="M44 {200 - 180 * share:.0f}H380" stroke="currentColor" opacity="0.25"/>'
        f'<text x="38" y="{205 - 180 * share:.0f}" text-anchor="end">{share:g}</text>'
        for share in (0, 0.5, 1)
    ]
    parts += [
        f'<text x="{x:.0f}" y="220" text-anchor="middle">{html.escape(bucket)}</text>'
        for x, bucket in zip(across, buckets, strict=True)
    ]
    styles = zip(("#0072b2", "#d55e00", "#009e73"), ("", "7 4", "2 3"), ("●", "■", "▲"), strict=True)
    for place, ((name, values), (colour, dash, mark)) in enumerate(zip(curves.items(), styles, strict=False)):
        points = [(x, 200 - 180 * values[bucket]) for x, bucket in zip(across, buckets, strict=True)]
        line = "L".join(f"{x:.0f} {y:.1f}" for x, y in points)
        parts.append(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dash}"/>')
        parts += [
            f'<text x="{x:.0f}" y="{y + 5:.1f}" text-anchor="middle" fill="{colour}">{mark}</text>' for x, y in points
        ]
        parts.append(
            f'<text x="4" y="{268 + 20 * place}"><tspan fill="{colour}">{mark}</tspan> {html.escape(name)}</text>'
        )
    tall = 258 + 20 * len(curves)
    told = "; ".join(
        f"{name}: " + ", ".join(f"{bucket} {value:.2f}" for bucket, value in values.items())
        for name, values in curves.items()
    )
    titles = (
        '<text x="44" y="12">correct sentences</text>'
        '<text x="212" y="240" text-anchor="middle">words in the English sentence</text>'
    )
    return svg(390, tall, titles + "".join(parts), f"correct sentences by length; {html.escape(told)}") + below
