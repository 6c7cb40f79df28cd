from __future__ import annotations

import json
import shlex
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from anabranch.cli.review_prompt import ask_person, reply_of, resume_commands, show
from anabranch.errors import SettingsError

QUERIES = {"review": "queries", "question": "Why?", "queries": ["why is it", "what's the cause"]}
PASSAGES = {
    "review": "sources",
    "question": "Why?",
    "passages": [
        {"id": "p1", "source": "a.pdf", "page": 2, "preview": "first", "score": 1.0},
        {"id": "p2", "source": "b.md", "page": None, "preview": "second", "score": 0.5},
    ],
}


def answered(monkeypatch: pytest.MonkeyPatch, waiting: dict[str, Any], *typed: str) -> Any:
    lines = iter(typed)
    monkeypatch.setattr("builtins.input", lambda *prompt: next(lines))
    return ask_person(Console(file=StringIO()), waiting)


def test_enter_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answered(monkeypatch, QUERIES, "") is True
    assert answered(monkeypatch, PASSAGES, "") is True


def test_queries_are_typed_until_an_empty_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answered(monkeypatch, QUERIES, "one query", "another", "") == ["one query", "another"]


def test_passages_are_chosen_by_number_in_the_order_given(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answered(monkeypatch, PASSAGES, "2, 1") == ["p2", "p1"]
    assert answered(monkeypatch, PASSAGES, "7", "zero", "0", "1") == ["p1"]


def test_what_waits_is_shown_numbered() -> None:
    console = Console(file=StringIO(), width=80)
    show(console, PASSAGES)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "1. a.pdf, p. 2: first" in text
    assert "2. b.md: second" in text
    show(console, {**QUERIES, "inferred_filter": "kind = contract"})
    assert "Only documents of: kind = contract (" in console.file.getvalue()  # type: ignore[attr-defined]


def test_the_commands_to_go_on_can_be_pasted_into_a_shell() -> None:
    accept, change = resume_commands(QUERIES, "my thread", "some dir")
    assert shlex.split(accept)[2:] == ["--thread", "my thread", "--resume", "--corpus", "some dir", "--reply", "true"]
    assert json.loads(shlex.split(change)[-1]) == QUERIES["queries"]
    assert json.loads(shlex.split(resume_commands(PASSAGES, "t", None)[1])[-1]) == ["p1", "p2"]
    with_rows = resume_commands(QUERIES, "t", None, Path("my rows.csv"))
    assert all(shlex.split(command)[5:7] == ["--rows", "my rows.csv"] for command in with_rows)


def test_a_reply_is_true_or_a_list() -> None:
    assert reply_of("true", QUERIES) is True
    assert reply_of('["a"]', QUERIES) == ["a"]
    assert reply_of('["p2"]', PASSAGES) == ["p2"]


@pytest.mark.parametrize("text", ["yes", "{", "false", "5", "{}", "[]", '[""]', "[1]"])
def test_what_is_neither_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="--reply"):
        reply_of(text, QUERIES)


def test_only_passages_that_were_offered_can_be_chosen() -> None:
    with pytest.raises(SettingsError, match="p9"):
        reply_of('["p1", "p9"]', PASSAGES)
