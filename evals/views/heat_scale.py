"""The colours of a heat map of shares, in steps that look evenly apart, to the colour-blind and in grey too."""

from __future__ import annotations

STEPS = 20
"""Steps between 0 and 1, each 5 points."""
_POINTS = ((0.9727, -0.0055, 0.0325), (0.6562, -0.0752, -0.0591), (0.3169, -0.0184, -0.1030))
"""Pale yellow, teal and navy in OKLab (Ottosson 2020), as far from each other as from the next, with straight lines
between them: steps that look alike, and a lightness that falls throughout, so that grey keeps the order."""


def heat_step(share: float) -> int:
    """Of the scale, 0 to `STEPS`; the ends are for what is exactly 0 or 1.

    Args:
        share: A fraction in 0..1.
    """
    if share in (0, 1):
        return round(share) * STEPS
    return min(STEPS - 1, max(1, round(share * STEPS)))


def heat_colour(step: int) -> str:
    """Of a step, as `#rrggbb`."""
    part = min(len(_POINTS) - 2, int(place := step / STEPS * (len(_POINTS) - 1)))
    lightness, a, b = (x + (y - x) * (place - part) for x, y in zip(_POINTS[part], _POINTS[part + 1], strict=True))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    return "#" + "".join(f"{round(255 * _encoded(part)):02x}" for part in linear)


def ink_on(colour: str) -> str:
    """Black or white, whichever stands out more: at least 4.5 to 1 on any ground.

    Args:
        colour: Of the ground, as `#rrggbb`.
    """
    red, green, blue = (_decoded(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000000" if (luminance + 0.05) ** 2 > 0.05 * 1.05 else "#ffffff"


def _encoded(linear: float) -> float:
    held = min(1.0, max(0.0, linear))
    return 12.92 * held if held <= 0.0031308 else 1.055 * held ** (1 / 2.4) - 0.055


def _decoded(encoded: float) -> float:
    return encoded / 12.92 if encoded <= 0.04045 else ((encoded + 0.055) / 1.055) ** 2.4
