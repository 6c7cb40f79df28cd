"""The scripted replies are what the page says of them, and the command counts what a reader is shown of each."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from anabranch.errors import SettingsError
from evals.replies import shown_passages
from evals.replies.__main__ import PAGE, main
from evals.replies.judged_reply import JudgedReply, judged, judged_all, through_the_graph
from evals.replies.reply_set import (
    ANSWERABLE,
    FOLDER,
    KINDS,
    SPLITS,
    UNANSWERABLE,
    ScriptedQuestion,
    documents,
    read_questions,
)
from evals.replies.reply_tables import judged_table

NOT_FOUND = {"status": "not_found", "verification": {}, "unconfirmed": [], "citations": []}
HELD = {
    "status": "answered",
    "verification": {"claims": 2, "quoted": 1, "found": 1, "not_confirmed": 0},
    "unconfirmed": [],
    "citations": [{"claim": "It opened in May.", "quote": "It was opened in May."}],
}
PARTLY = HELD | {
    "verification": {"claims": 2, "quoted": 1, "found": 0, "not_confirmed": 1},
    "unconfirmed": [{"text": "It cost 9 pounds.", "reason": "", "nearest": ""}],
}
NOT_CONFIRMED = PARTLY | {
    "status": "not_confirmed",
    "verification": {"claims": 1, "not_confirmed": 1},
    "citations": [],
}
# An answer that states nothing is none that a reader could rely on.
EMPTY = HELD | {"verification": {"claims": 0}, "citations": []}


def scripted(kinds: Iterable[str] = ANSWERABLE) -> ScriptedQuestion:
    return ScriptedQuestion("q", "en", "weir.md", "When?", "In May.", "month", {kind: f"{kind}." for kind in kinds})


def rows_of(split: str) -> list[ScriptedQuestion]:
    return read_questions(FOLDER / split / "questions.jsonl")


@pytest.mark.parametrize(("split", "answerable", "unanswerable"), [("dev", 40, 20), ("test", 34, 16)])
def test_every_question_has_its_document_and_all_replies(split: str, answerable: int, unanswerable: int) -> None:
    rows = rows_of(split)
    assert len({row.id for row in rows}) == len(rows) == answerable + unanswerable
    assert {row.document for row in rows} == {file.name for file in documents(split).iterdir()}
    assert sum(set(row.replies) == set(ANSWERABLE) for row in rows) == answerable
    assert sum(set(row.replies) == set(UNANSWERABLE) for row in rows) == unanswerable
    for row in rows:
        assert row.question.strip()
        assert row.wrong.strip()
        assert all(reply.strip() for reply in row.replies.values())
        assert len(set(row.replies.values())) == 3
        assert row.says or "refusal" in row.replies


def test_no_document_is_in_both_splits_and_each_is_text() -> None:
    texts = [file.read_text("utf-8") for split in SPLITS for file in documents(split).iterdir()]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("record", "said"),
    [({"replies": {"right": "Yes."}}, "'q' are right"), ({"more": 1}, "line 1.*more"), ({}, "")],
)
def test_a_line_that_is_no_question_is_named(record: dict[str, Any], said: str, tmp_path: Path) -> None:
    row = scripted()
    fields = {name: getattr(row, name) for name in ScriptedQuestion.__slots__}
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps(fields | record) + "\n")
    if not record:
        assert read_questions(file) == [row]
        return
    with pytest.raises(SettingsError, match=said):
        read_questions(file)


@pytest.mark.parametrize(
    ("result", "as_wanted"),
    [
        (HELD, {"right", "longer"}),
        (PARTLY, {"wrong", "invented"}),
        (NOT_CONFIRMED, {"wrong", "invented"}),
        (EMPTY, {"wrong", "invented"}),
        (NOT_FOUND, {"wrong", "invented", "refusal", "refusal_and_aside"}),
    ],
)
def test_a_reply_is_judged_by_what_a_reader_is_shown(result: dict[str, Any], as_wanted: set[str]) -> None:
    assert {kind for kind in KINDS if judged(scripted(), "dev", kind, result).as_wanted} == as_wanted


def test_claims_and_evidence_are_taken_from_the_result() -> None:
    found = judged(scripted(), "dev", "longer", PARTLY)
    assert (found.held, found.claims, found.unconfirmed) == (1, 2, ("It cost 9 pounds.",))
    assert found.cited == (("It opened in May.", "It was opened in May."),)
    assert judged(scripted(), "dev", "right", NOT_FOUND).claims == 0


def test_replies_go_through_the_whole_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "weir.md").write_text("# The weir\n\nThe weir was rebuilt by Ada Stern in 1848.\n")
    monkeypatch.setattr(shown_passages, "documents", lambda split: tmp_path)
    replies = {
        "right": "The weir was rebuilt by Ada Stern in 1848.",
        "wrong": "The weir was rebuilt by Ada Stern in 1931.",
    }
    row = ScriptedQuestion("q", "en", "weir.md", "Who rebuilt the weir, and when?", "", "", replies)
    right, wrong = through_the_graph([row], "dev")
    assert (right.kind, right.as_wanted, right.held) == ("right", True, 1)
    assert (wrong.kind, wrong.as_wanted, wrong.held) == ("wrong", True, 0)


def test_a_document_that_cannot_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "weir.pdf").write_bytes(b"nothing")
    monkeypatch.setattr(shown_passages, "documents", lambda split: tmp_path)
    with pytest.raises(SettingsError, match=r"weir\.pdf"):
        through_the_graph([scripted()], "dev")


def accepting(rows: Iterable[ScriptedQuestion], split: str) -> list[JudgedReply]:
    return judged_all(rows, split, lambda question, reply: HELD)


def finding_nothing(rows: Iterable[ScriptedQuestion], split: str) -> list[JudgedReply]:
    return judged_all(rows, split, lambda question, reply: NOT_FOUND)


def test_the_command_writes_what_was_shown(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    assert main(["--write", str(page)], judge=accepting) == 0
    written = page.read_text("utf-8")
    assert "| right | shown | 40 of 40 | 34 of 34 |" in written
    assert "| right | unmarked | 40 of 40 | 34 of 34 |" in written
    assert "| longer | claims held | 80 of 80 | 68 of 68 |" in written
    assert "| invented | unmarked | 20 of 20 | 16 of 16 |" in written
    assert "| dev | fr | 4 of 4 | 4 of 4 | 4 of 4 | 4 of 4 | 4 of 4 | 3 of 3 | 0 of 3 | 0 of 3 | 8 of 8 |" in written
    assert main(["--write", str(page)], judge=finding_nothing) == 0
    written = page.read_text("utf-8")
    assert "| wrong | unmarked | 0 of 40 | 0 of 34 |" in written
    assert "| right | shown | 0 of 40 | 0 of 34 |" in written
    assert "| refusal | not found | 20 of 20 | 16 of 16 |" in written
    assert "| longer | claims held | - | - |" in written


def test_cases_are_shown_of_dev_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--show", "wrong"], judge=accepting) == 0
    shown = capsys.readouterr().out
    assert shown.count(", wrong; 2 of 2 claims held)") == 40
    with pytest.raises(SystemExit) as refused:
        main(["--show", "wrong", "--split", "test"], judge=accepting)
    assert refused.value.code == 2
    assert "cases of test are not shown" in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--split", "dev"], ["--show", "all"]])
def test_a_page_has_both_splits(options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main([*options, "--write", str(tmp_path / "page.md")], judge=accepting)
    assert refused.value.code == 2
    assert "both splits" in capsys.readouterr().err


def test_a_judge_marks_what_it_denies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tmp_path.joinpath("weir.md").write_text("# Weir\n\nThe weir was built in May 1850 by Ada Stern.\n", "utf-8")
    monkeypatch.setattr(shown_passages, "documents", lambda _: tmp_path)
    row = ScriptedQuestion(
        "q",
        "en",
        "weir.md",
        "When was the weir built?",
        "In May.",
        "month",
        {"right": "The weir was built in May 1850."},
    )
    found = {
        said: through_the_graph([row], "dev", FakeListChatModel(responses=[said]))
        for said in ("Yes.", "No, it was not.")
    }
    assert [each.as_wanted for each in found["Yes."]] == [True]
    assert [each.as_wanted for each in found["No, it was not."]] == [False]
    (right, *_) = judged_table(found["Yes."]).rows
    assert right == ("right", "shown", "1 of 1")
