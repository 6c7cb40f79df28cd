"""The replies of real models are what the page says of them, and the command counts what the graph shows of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from anabranch.citations.read_passages import PassageText
from anabranch.citations.verification import verify
from anabranch.errors import SettingsError
from evals.real.__main__ import PAGE, main
from evals.real.real_replies import RealQuestion, RealReply, read_replies
from evals.real.report import table
from evals.real.shown_reply import ShownReply, through_the_graph
from evals.synthesis.packs import Passage
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Reply

WEIR = Passage("Weir", "The weir at Halden was rebuilt in 1911, after the flood had carried it away. It has two gates.")
QUESTION = RealQuestion("q", "en", "weir.md", "answerable", "When was the weir at Halden rebuilt?", "in 1911", (WEIR,))


def reply(text: str, label: str = "right", kind: str = "answerable") -> RealReply:
    question = RealQuestion("q", "en", "weir.md", kind, QUESTION.question, "", (WEIR,))
    return RealReply(question, "small", text, label)


def test_each_question_was_put_to_a_model_once_and_has_its_passages() -> None:
    found = read_replies()
    assert max(Counter((each.question.id, each.model) for each in found).values()) == 1
    assert len({each.model for each in found}) == 2
    assert all(each.question.passages for each in found)
    assert all(each.question.says for each in found if each.question.kind == "answerable")


def test_of_what_models_really_wrote_as_much_is_unmarked_as_it_was() -> None:
    unmarked = Counter[bool]()
    for each in read_replies():
        passages = enumerate(each.question.passages, start=1)
        read = {number: PassageText(str(number), passage.text, passage.label) for number, passage in passages}
        checked = verify(each.reply, read, each.question.question)
        unmarked[each.kind == "right"] += bool(checked.citations) and not checked.not_confirmed
    assert unmarked[True] >= 20
    assert unmarked[False] <= 22


def test_the_page_says_how_many_there_are() -> None:
    found = read_replies()
    assert f"{len(found)} replies" in PAGE.read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "status", "unmarked"),
    [
        ("The weir at Halden was rebuilt in 1911.", "answered", True),
        ("The weir at Halden was rebuilt in 1911. It was painted by Otto Kraus.", "answered", False),
        ("Otto Kraus painted the bridge of Brook.", "not_confirmed", False),
        ("The passages do not say when the weir was rebuilt.", "not_found", False),
    ],
)
def test_a_reply_is_shown_by_the_graph_as_it_stands(text: str, status: str, unmarked: bool) -> None:
    (shown,) = through_the_graph([reply(text)])
    assert (shown.status, shown.is_unmarked) == (status, unmarked)
    assert shown.is_shown is (status != "not_found")


@pytest.mark.loopback
def test_with_a_judge_the_claims_of_the_kept_reply_are_put_to_it() -> None:
    with OpenAIStub(Reply("No.")) as stub:
        (shown,) = through_the_graph([reply("The weir at Halden was rebuilt in 1911.")], judge_url=stub.base_url)
        (call,) = stub.calls
    assert "Statement: The weir at Halden was rebuilt in 1911." in call.request.user
    assert call.request.body["logprobs"] is True
    assert (shown.status, shown.is_unmarked) == ("not_confirmed", False)


def test_an_answer_to_what_the_passages_do_not_tell_is_a_row_of_its_own() -> None:
    assert reply("In 1911.", "wrong").kind == "wrong"
    assert reply("In 1911.", "wrong", "unanswerable").kind == "unanswerable"
    assert reply("It has two gates.", "beside", "unanswerable").kind == "unanswerable"
    assert reply("They do not say.", "refusal", "unanswerable").kind == "refusal"


def test_the_table_counts_what_is_shown_and_what_is_marked() -> None:
    rebuilt, painted = ("It was rebuilt.",), ("It was painted.",)
    found = [
        ShownReply(reply("a"), "answered", rebuilt),
        ShownReply(reply("b"), "answered", rebuilt, painted),
        ShownReply(reply("c"), "not_confirmed", (), painted),
        ShownReply(reply("d", "refusal"), "not_found"),
    ]
    rows = {row[:2]: row[2:] for row in table(found).rows}
    assert rows["right", "both"] == rows["right", "small"] == ("3", "3", "1", "0")
    assert rows["a refusal", "both"] == ("1", "0", "0", "1")
    assert rows["wrong", "both"] == ("0", "0", "0", "0")


def _write(folder: Path, label: str, kind: str = "answerable", name: str = "q") -> None:
    question = {
        "id": "q", "language": "en", "document": "d", "kind": kind, "question": "?", "says": "",
        "passages": [{"label": "l", "text": "t"}],
    }  # fmt: skip
    said = {"id": name, "model": "m", "reply": "r", "label": label}
    (folder / "questions.jsonl").write_text(json.dumps(question) + "\n")
    (folder / "replies.jsonl").write_text(json.dumps(said) + "\n")


@pytest.mark.parametrize(
    ("change", "named"), [({"label": "fine"}, "fine"), ({"name": "q9"}, "q9"), ({"kind": "odd"}, "odd")]
)
def test_what_is_no_reply_is_refused(change: dict[str, str], named: str, tmp_path: Path) -> None:
    _write(tmp_path, **{"label": "right", **change})
    with pytest.raises(SettingsError, match=named):
        read_replies(tmp_path)


def _as_answered(replies: Iterable[RealReply]) -> list[ShownReply]:
    return [ShownReply(each, "answered") for each in replies]


def test_the_command_writes_its_table_and_shows_replies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "real.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    assert main(["--write", str(page)], send=_as_answered) == 0
    right = sum(each.kind == "right" for each in read_replies())
    assert f"| right | both | {right} | {right} | {right} | 0 |" in page.read_text("utf-8")
    assert main(["--show", "right"], send=_as_answered) == 0
    assert read_replies()[0].question.question in capsys.readouterr().out
