import os
from pathlib import Path

import pytest

from anabranch.errors import ReadingError
from anabranch.readers import READERS, read
from anabranch.readers.document import Document
from anabranch.readers.size_limit import USUAL, limit_of, limited


def reason(path: Path) -> str:
    with pytest.raises(ReadingError) as caught:
        list(read(path, path.name))
    assert "\n" not in str(caught.value)
    assert "Traceback" not in str(caught.value)
    return caught.value.reason


@pytest.mark.parametrize("name", ["a.one", "a.pages", "a.pdf.bak"])
def test_other_files_are_unsupported(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    assert reason(tmp_path / name) == "unsupported"


def test_folders_and_missing_files_are_unreadable(tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    assert reason(tmp_path / "folder.md") == "unreadable"
    assert reason(tmp_path / "gone.md") == "unreadable"


def test_a_file_that_may_not_be_opened_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("x")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read every file")
    assert reason(path) == "unreadable"


def test_the_numbers_that_notion_puts_behind_names_are_no_title(tmp_path: Path) -> None:
    path = tmp_path / f"Aufgaben {'0123456789abcdef' * 2}.csv"
    path.write_text("a,b\n1,2\n")
    (document,) = read(path, path.name)
    assert isinstance(document, Document)
    assert document.title == "Aufgaben"


def test_a_reader_has_the_usual_limit_or_its_own() -> None:
    @limited(10, "Cut it.")
    def own() -> None: ...

    assert limit_of(own) == (10, "Cut it.")
    assert limit_of(lambda: None) == USUAL == (1 << 30, "Split it.")
    assert limit_of(READERS.get(".csv")).most_bytes is None
