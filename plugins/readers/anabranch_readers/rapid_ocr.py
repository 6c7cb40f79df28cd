"""Read pages that are pictures of text through RapidOCR (the extra `ocr`), where Tesseract is not on this machine.

Its models come with its package, so nothing is downloaded; it reads Latin letters and Chinese, whatever languages are
named. It takes about 1 GB of memory and several seconds a page, and runs in the process that reads.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from anabranch.text.normalization import squeeze
from anabranch_readers.ocr import OcrUnavailable, Recognised
from anabranch_readers.pdf_layout.text_lines import Line

_SIZE = 0.8  # of the height of a box, which has some air around the letters
_LEAST_SURE = 0.5
_LOCK = threading.Lock()


class RapidOcr:
    """The engine, ready for use."""

    languages = ("RapidOCR",)

    def __init__(self, engine: Any) -> None:  # noqa: ANN401  # RapidOCR has no types
        """Take over an engine."""
        self._engine = engine

    def read(self, picture: bytes, dpi: float) -> Recognised | str:
        """Return what stands on a picture, or why it could not be read; see `Tesseract.read`."""
        try:
            with _LOCK:
                found = self._engine(picture)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  # one page must not cost the others
            return f"RapidOCR failed: {squeeze(str(error))[:200] or type(error).__name__}"
        height, width = found.img.shape[:2] if found.img is not None else (0, 0)
        if found.boxes is None:
            return Recognised(width=width * 72 / dpi, height=height * 72 / dpi)
        said = list(zip(found.boxes, found.txts, found.scores, strict=True))
        sure = [(box, text) for box, text, score in said if score >= _LEAST_SURE and squeeze(text)]
        lines = tuple(_line(box, text, 72 / dpi) for box, text in sure)
        return Recognised(lines, (), width * 72 / dpi, height * 72 / dpi, len(said) - len(sure))


# One for each process: loading takes seconds and half a gigabyte.
@cache
def rapid_ocr() -> RapidOcr | OcrUnavailable:
    """Return the engine, if it is installed."""
    try:
        from rapidocr import RapidOCR
    except ImportError:
        return OcrUnavailable("RapidOCR is not installed", "Install it: pip install 'anabranch[ocr]'")
    threads = {f"EngineConfig.onnxruntime.{name}_op_num_threads": 1 for name in ("intra", "inter")}
    return RapidOcr(RapidOCR(params={"Global.log_level": "critical", **threads}))


def _line(box: Sequence[Sequence[float]], text: str, scale: float) -> Line:
    corners = np.asarray(box, dtype=float) * scale
    left, top = corners.min(axis=0)
    right, bottom = corners.max(axis=0)
    return Line(squeeze(text), float(left), float(top), float(right), float(bottom), _SIZE * float(bottom - top))
