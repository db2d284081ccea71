"""Scanned pages that lie slightly turned: by how much, and turned back."""

from __future__ import annotations

from typing import Any

LIMIT = 3.0
"""Degrees looked through to each side; a page turned further is a page scanned sideways, not a skew."""
LEAST = 0.4
"""Degrees left as they are: lines of text stay apart, and turning blurs."""


def skew_of(image: Any) -> float:
    """The degrees by which a page is turned, clockwise positive, to a tenth; 0 where no lines of text can be told.

    The sum of ink along rows jumps most between lines and the white between them where the rows are level, so the
    angle with the largest squared differences of neighbouring row sums is taken (Postl 1986).

    Args:
        image: height x width x 3, 8 bits, dark on light.
    """
    import cv2
    import numpy as np

    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    scale = 800 / max(grey.shape)
    small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else grey
    _, ink = cv2.threshold(small, 0, 255, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)
    height, width = ink.shape
    if not 0.002 < np.count_nonzero(ink) / ink.size < 0.5:
        return 0.0

    def sharpness(degrees: float) -> float:
        turn = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
        rows = cv2.warpAffine(ink, turn, (width, height), flags=cv2.INTER_NEAREST).sum(axis=1, dtype=np.float64)
        return float(np.square(np.diff(rows)).sum())

    coarse = max(np.arange(-LIMIT, LIMIT + 0.01, 0.5), key=sharpness)
    fine = max(np.arange(coarse - 0.4, coarse + 0.41, 0.1), key=sharpness)
    angle = round(float(fine), 1)
    return angle if sharpness(angle) > 1.1 * sharpness(0.0) else 0.0


def levelled(image: Any) -> tuple[Any, float]:
    """The page turned back, and by how many degrees; a page turned less than ``LEAST`` stays as it is."""
    import cv2

    angle = skew_of(image)
    if abs(angle) < LEAST:
        return image, 0.0
    height, width = image.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1.0)
    white = (255, 255, 255)
    flat = cv2.warpAffine(
        image, turn, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_CONSTANT, borderValue=white
    )
    return flat, angle
