"""A function is a verb and a parameter a noun: names that were riddles do not come back (CONTRIBUTING.md, "Names")."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.shared_fixtures import REPOSITORY

FOLDERS = ("anabranch", "graph", "nodes", "prompts", "plugins")
RETIRED = frozenset(
    {
        "affords_more", "as_asked", "as_left", "as_searched", "as_spending", "beside", "brought", "chunks_of",
        "corpus_of", "goes_on_with", "gone", "granted", "heard", "in_force", "kept", "left_of", "model_of", "said",
        "says", "scope_of", "seen", "settle", "settled", "shown", "spares", "spent_on", "tell", "told", "whoever",
    }
)  # fmt: skip
RETIRED_PARAMETERS = RETIRED | {"of", "who"}


def retired_in(tree: ast.Module) -> Iterator[str]:
    """Yield the functions and parameters with a retired name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.strip("_") in RETIRED:
                yield f"{node.lineno} def {node.name}"
            arguments = node.args
            for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                if each.arg in RETIRED_PARAMETERS:
                    yield f"{node.lineno} {node.name}({each.arg})"


def test_no_function_or_parameter_has_a_retired_name() -> None:
    files = [path for folder in FOLDERS for path in sorted((REPOSITORY / folder).rglob("*.py"))]
    # `anabranch/agent` has links to the folders of the graph; tests may name what was said.
    own = [path for path in files if not {"agent", "tests"} & set(path.relative_to(REPOSITORY).parts)]
    assert len(own) > 300
    found = [
        f"{path.relative_to(REPOSITORY)}:{each}"
        for path in own
        for each in retired_in(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def test_an_offender_is_found() -> None:
    offender = "def _told(rows): ...\nasync def create(request, *, of): ...\ndef find_rows(told, row): ...\n"
    assert list(retired_in(ast.parse(offender))) == ["1 def _told", "2 create(of)", "3 find_rows(told)"]
    assert list(retired_in(ast.parse("def list_rows(services, caller): ...\n"))) == []
