from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch import readers
from anabranch.errors import ReadingError
from anabranch.readers.code import read_code
from anabranch.readers.code_languages import LANGUAGES
from anabranch.readers.document import Document

PYTHON = '''"""What the module does."""
import os

LIMIT = 3


# Above the function.
@decorated
def first(a):
\t"""Tabs stay."""
\tdef inner():
\t\treturn a

\treturn inner


class Thing:
    """A thing."""

    size = 1

    def grow(self):
        return self.size + 1

    async def shrink(self): ...


print(first(1))
'''


def read(tmp_path: Path, text: str | bytes, name: str = "module.py") -> Document:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    (document,) = read_code(path, f"src/{name}")
    return document


def headings(document: Document) -> list[tuple[str, str]]:
    return [(" > ".join(block.heading), block.text.strip().split("\n")[0]) for block in document.blocks]


def test_python_is_cut_at_its_definitions(tmp_path: Path) -> None:
    document = read(tmp_path, PYTHON)
    assert headings(document) == [
        ("", '"""What the module does."""'),
        ("first", "# Above the function."),
        ("Thing", "class Thing:"),
        ("Thing > grow", "def grow(self):"),
        ("Thing > shrink", "async def shrink(self): ..."),
        ("", "print(first(1))"),
    ]
    assert document.title == "src/module.py"
    assert document.metadata == {"format": "code", "language": "python"}
    assert not any(block.is_heading for block in document.blocks)


def test_text_stays_as_it_is_in_each_block(tmp_path: Path) -> None:
    document = read(tmp_path, PYTHON)
    assert all(block.text in PYTHON for block in document.blocks)
    assert '\t"""Tabs stay."""\n\tdef inner():\n\t\treturn a\n\n\treturn inner' in document.blocks[1].text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.sampled_from(PYTHON.split("\n")), min_size=1, max_size=30), st.sampled_from(["a.py", "a.js", "a.c"]))
def test_no_line_is_lost_or_moved(tmp_path: Path, lines: list[str], name: str) -> None:
    if not any(line.strip() for line in lines):
        return
    document = read(tmp_path, "\n".join(lines), name)
    kept = [line for block in document.blocks for line in block.text.split("\n") if line.strip()]
    assert kept == [line for line in lines if line.strip()]


def test_characters_that_make_code_read_otherwise_than_it_runs_go(tmp_path: Path) -> None:
    document = read(tmp_path, "if admin:\u202e  # }\n    pass\n")
    assert document.blocks[0].text == "if admin:  # }\n    pass"
    assert document.notes == ("invisible characters were removed (1)",)


@pytest.mark.parametrize(
    ("data", "reason"), [(b"", "empty"), (b"\n \n", "empty"), (b"\x7fELF\x02" + bytes(200), "broken")]
)
def test_what_is_no_code_says_why(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(ReadingError) as caught:
        read(tmp_path, data)
    assert caught.value.reason == reason


def test_data_in_the_coat_of_code_is_refused_with_advice(tmp_path: Path) -> None:
    with (tmp_path / "dump.json").open("wb") as file:
        file.truncate((1 << 25) + 1)
    with pytest.raises(ReadingError, match="JSON lines") as caught:
        list(readers.read(tmp_path / "dump.json", "dump.json"))
    assert caught.value.reason == "too_large"


@pytest.mark.parametrize("extension", LANGUAGES)
def test_every_language_is_read(tmp_path: Path, extension: str) -> None:
    document = read(tmp_path, "some words\n", f"a{extension}")
    assert document.blocks[0].text == "some words"
    assert document.metadata["language"] == LANGUAGES[extension]
