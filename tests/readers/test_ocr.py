import os
import sys
from pathlib import Path

import pytest

from anabranch.readers import ocr
from anabranch.readers.ocr import Lack, Tesseract, tesseract
from anabranch.readers.pdf_layout.hocr import Recognised
from tests.readers.scanned import WORDS, picture, program, stand_in

NEEDS_SHELL = pytest.mark.skipif(sys.platform == "win32", reason="stands in for Tesseract with a shell script")


def said(found: Recognised | str) -> str:
    assert isinstance(found, Recognised)
    return " ".join(line.text for line in found.lines)


def test_words_on_a_picture() -> None:
    found = program().read(picture(kind="pnm"), 200)
    assert said(found) == WORDS
    assert isinstance(found, Recognised)
    assert (round(found.width), round(found.height)) == (500, 300)
    assert all(35 < line.x0 < 60 and 13 < line.size < 18 for line in found.lines)


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_words_on_a_picture_that_lies_on_its_side(turn: int) -> None:
    known = program()
    if not known.knows_directions:
        pytest.skip("Tesseract has no data for directions (osd)")
    text = " ".join([WORDS] * 5)  # enough letters for it to be sure
    assert said(known.read(picture(text, turn), 200)) == text


def test_a_blank_picture_says_nothing() -> None:
    assert said(program().read(picture(""), 200)) == ""


def test_what_is_no_picture_is_a_failure() -> None:
    assert "code" in str(program().read(b"no picture", 200))


def test_a_language_without_data_is_a_lack() -> None:
    program()
    found = tesseract(("eng", "tlh"))
    assert isinstance(found, Lack)
    assert "tlh" in found.what
    assert "TESSDATA_PREFIX" in found.hint


def test_without_the_program_there_is_a_lack(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = tesseract(("eng",))
    assert isinstance(found, Lack)
    assert found.what == "Tesseract is not on this machine"
    assert "ocrmypdf" in found.hint


@NEEDS_SHELL
def test_the_program_is_found_on_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in(tmp_path, "exit 3")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    found = tesseract(("eng",))
    assert isinstance(found, Tesseract)
    assert found.program == str(tmp_path / "tesseract")
    assert isinstance(tesseract(("deu",)), Lack)
    assert isinstance(tesseract(()), Lack)


@NEEDS_SHELL
def test_a_program_that_does_not_start_is_a_lack(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "tesseract"
    path.write_text("#!/no/such/shell\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = tesseract(("eng",))
    assert isinstance(found, Lack)
    assert "does not start" in found.what


@NEEDS_SHELL
def test_a_program_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ocr, "_SECONDS", 0.5)
    assert stand_in(tmp_path, "exec sleep 600").read(b"", 200) == "it took over 0.5 seconds"


@NEEDS_SHELL
def test_a_program_that_fails_says_why(tmp_path: Path) -> None:
    failing = stand_in(tmp_path, 'echo "out of   luck" >&2; exit 3')
    assert failing.read(b"", 200) == "Tesseract failed with code 3: out of luck"
    assert said(stand_in(tmp_path, "echo rubbish").read(b"", 200)) == ""


def test_one_thread_a_page(tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("stands in for Tesseract with a shell script")
    assert "limit 1" in str(stand_in(tmp_path, 'echo "limit $OMP_THREAD_LIMIT" >&2; exit 1').read(b"", 200))
