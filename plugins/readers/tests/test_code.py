from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch import readers
from anabranch.errors import ReadingError
from anabranch.readers.document import Document
from anabranch_readers.code import definitions, read_code
from anabranch_readers.code_languages import LANGUAGES

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
    with (tmp_path / "dump.yaml").open("wb") as file:
        file.truncate((1 << 25) + 1)
    with pytest.raises(ReadingError, match="JSON lines") as caught:
        list(readers.read(tmp_path / "dump.yaml", "dump.yaml"))
    assert caught.value.reason == "too_large"


@pytest.mark.parametrize("extension", LANGUAGES)
def test_every_language_is_read(tmp_path: Path, extension: str) -> None:
    document = read(tmp_path, "some words\n", f"a{extension}")
    assert document.blocks[0].text == "some words"
    assert document.metadata["language"] == LANGUAGES[extension]


def found(language: str, text: str) -> list[tuple[int, int, str]]:
    return [(each.line, each.depth, each.name) for each in definitions(text.split("\n"), language)]


def test_python_knows_the_ends_of_definitions() -> None:
    assert found("python", "import a\n# why\n@b\ndef c():\n    pass\nd = 1") == [(1, 0, "c"), (5, 0, "")]


def test_python_that_does_not_parse_goes_by_its_look() -> None:
    assert found("python", "class A:\n  def b(self):\n    print 'old'") == [(0, 0, "A"), (1, 1, "b")]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("c", "#include <a.h>\n\nstatic int add(int a, int b)\n{\n  return f(a);\n}", [(2, 0, "add")]),
        ("c", "int main(void) {\n  if (x) {\n  }\n  printf(1);\n}", [(0, 0, "main")]),
        ("c++", "namespace n {\ntemplate <class T>\nclass A : B {\n};\n}", [(0, 0, "n"), (2, 0, "A")]),
        (
            "java",
            "package a;\n\n/** Why. */\npublic class A {\n    private int b(int c) {\n        return c;\n    }\n}",
            [(2, 0, "A"), (4, 1, "b")],
        ),
        ("javascript", "export const f = async (a) => {\n}\nfunction g() {}", [(0, 0, "f"), (2, 0, "g")]),
        (
            "typescript",
            "export default class A {\n  get(b: string) {\n    if (b) {\n    }\n  }\n}",
            [(0, 0, "A"), (1, 1, "get")],
        ),
        ("go", "// Why.\nfunc (s *Server) Run(a int) error {\n}", [(0, 0, "Run")]),
        (
            "rust",
            "pub(crate) struct A;\nimpl<T> A {\n    pub async fn b() {}\n}",
            [(0, 0, "A"), (1, 0, "A"), (2, 1, "b")],
        ),
        ("ruby", "module M\n  class A\n    def b?\n    end", [(0, 0, "M"), (1, 1, "A"), (2, 2, "b")]),
        ("bash", "set -e\nbuild() {\n  make\n}", [(1, 0, "build")]),
        ("r", "add <- function(a, b) {\n}", [(0, 0, "add")]),
        (
            "sql",
            "create table if not exists a.b (\n  c int\n);\nCREATE OR REPLACE VIEW d AS",
            [(0, 0, "a.b"), (3, 0, "d")],
        ),
        ("toml", "a = [1]\n[tool.x]  # why\n[[y]]\nb = 2", [(1, 0, "tool.x"), (2, 0, "y")]),
        ("ini", "[one]\na=b", [(0, 0, "one")]),
        (
            "latex",
            "\\section{One}\n\\subsection*{Two}\ntext\n\\section[s]{Three}",
            [(0, 0, "One"), (1, 1, "Two"), (3, 0, "Three")],
        ),
        ("json", '{"class": "def a"}', []),
        ("yaml", "class: a", []),
    ],
)
def test_other_languages_go_by_their_look(language: str, text: str, expected: list[tuple[int, int, str]]) -> None:
    assert found(language, text) == expected


@pytest.mark.work(60)
@pytest.mark.parametrize("language", sorted(set(LANGUAGES.values())))
@pytest.mark.parametrize("line", ["a " * 100, "a(" * 100, "[" * 200, "export const " * 15, "x<" * 90, "\t" * 199 + "a"])
def test_no_line_takes_long(language: str, line: str) -> None:
    found(language, "\n".join([line] * 300))


@pytest.mark.work(60)
@pytest.mark.parametrize("text", ["(" * 100_000, "-" * 100_000 + "1", "a." * 100_000 + "b", "x = " * 50_000 + "1"])
def test_python_that_nests_too_deep_is_no_error(text: str) -> None:
    assert found("python", text) == []


@given(
    st.text(st.sampled_from("def class(){}:\n\t =#@aA<>*&"), max_size=200),
    st.sampled_from(sorted(set(LANGUAGES.values()))),
)
def test_definitions_stand_in_order_inside_the_file(text: str, language: str) -> None:
    lines = [each.line for each in definitions(text.split("\n"), language)]
    assert all(0 <= line <= text.count("\n") + 1 for line in lines)
