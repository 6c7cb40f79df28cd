"""The rules of words stand in one list, and none is added to it."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from types import ModuleType

import pytest

from anabranch.citations import alignment, rules
from anabranch.citations.passage_text import PassageText
from anabranch.citations.rules import OF_ANSWERS, OF_BEST_ANSWERS, OF_CLAIMS, OF_PARTS, OF_QUOTES, OF_WORDS, RULES
from anabranch.citations.verification import attribute

# The modules that hold the rules, and what they have beside them.
MODULES = {
    "agreement": {"ReadClaim", "is_same", "is_among", "count_denials", "find_denying_titles", "shortest_run"},
    "counted_numbers": {"find_counted"},
    "parallel_sentences": set(),
    # Lets a span speak for itself, and speaks against none.
    "rivals": {"is_anchored"},
    "table_cells": {"TableRow", "table_rows", "row_cells", "denied_cells", "find_row"},
}


def imported(module: ModuleType) -> dict[str, set[str]]:
    """Return what a module imports from the modules with rules."""
    nodes = ast.walk(ast.parse(inspect.getsource(module)))
    found = {
        node.module or "": {name.name for name in node.names} for node in nodes if isinstance(node, ast.ImportFrom)
    }
    return {name: found.get(f"anabranch.citations.{name}", set()) for name in MODULES}


def test_no_rule_is_added() -> None:
    # Rules of words are frozen: what words cannot tell is not confirmed. One that moves nothing is taken out
    # (python -m evals.rules); no name is ever added to this list.
    assert list(RULES) == [
        "figures of the question",
        "denials",
        "another word in its place",
        "opposites",
        "counts something else",
        "measures something else",
        "another sign",
        "another period",
        "range turned round",
        "another column",
        "another item of a list",
        "a parallel sentence",
        "a nearer rival",
        "refuted in part",
    ]


def test_every_rule_is_asked_through_the_list() -> None:
    used = {*OF_ANSWERS, *OF_BEST_ANSWERS, *OF_CLAIMS, *OF_PARTS, *OF_QUOTES, *OF_WORDS}
    assert used == set(RULES)
    for name, beside in MODULES.items():
        module = import_module(f"anabranch.citations.{name}")
        public = {each for each, _ in inspect.getmembers(module, inspect.isfunction) if not each.startswith("_")}
        own = {each for each in public if getattr(module, each).__module__ == module.__name__}
        # Each function that speaks against a span is asked by a rule of the list, and by nothing else.
        assert own - beside <= imported(rules)[name]
        assert imported(alignment)[name] <= beside


@pytest.mark.parametrize(("off", "found"), [("opposites", 1), ("denials", 0), ("", 0)])
def test_a_rule_can_be_switched_off_by_its_name(off: str, found: int) -> None:
    kept = {name: rule for name, rule in RULES.items() if name != off}
    passages = {1: PassageText("1", "The gate of the weir is opened after the flood of the spring has passed.")}
    claim = "The gate of the weir is opened before the flood of the spring."
    assert attribute(claim, passages, "When is the gate opened?", rules=kept).set_markers().found == found
