import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.readers.code_languages import LANGUAGES
from anabranch.readers.code_symbols import definitions


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
