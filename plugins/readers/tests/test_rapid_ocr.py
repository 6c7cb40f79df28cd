from __future__ import annotations

import pytest

from anabranch_readers.ocr import Recognised
from anabranch_readers.rapid_ocr import RapidOcr, rapid_ocr
from plugins.readers.tests.scanned import WORDS, picture


@pytest.mark.slow
def test_words_on_a_picture() -> None:
    engine = rapid_ocr()
    if not isinstance(engine, RapidOcr):
        pytest.skip(f"{engine.what}: {engine.hint}")
    found = engine.read(picture(), 200)
    assert isinstance(found, Recognised)
    assert " ".join(line.text for line in found.lines).split() == WORDS.split()
    assert (round(found.width), round(found.height)) == (500, 300)
    assert engine.read(b"no picture", 200).startswith("RapidOCR failed")  # type: ignore[union-attr]
