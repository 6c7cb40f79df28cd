"""The command asks each system each question, keeps what it has, and says what it leaves out and what is wrong."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from evals.synthesis import systems
from evals.synthesis.__main__ import PAGE, evenly, main
from evals.synthesis.packs import Pack, Passage
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Reply

WEIR = Passage("weir", "The weir at Halden was rebuilt in 1911 by its engineer, after the flood had carried it away.")
MILL = Passage("mill", "The mill of Brook has four wheels, and grinds the corn of three villages.")
NAMES = "plain prompt,Anabranch stuff,LangChain map_reduce"


def pack(name: str, split: str, kind: str, text: str, *spellings: str) -> Pack:
    return Pack(name, "made", split, kind, text, spellings, (WEIR, MILL), ((WEIR,), (MILL,)))


PACKS = [
    pack("q1", "dev", "answerable", "When was the weir at Halden rebuilt?", "1911"),
    pack("q2", "dev", "unanswerable", "Who painted the bridge at Halden?"),
    pack("q3", "test", "answerable", "How many wheels has the mill of Brook?", "four"),
    replace(pack("q4", "test", "unanswerable", "Who painted the door of the mill?"), set="xquad/en"),
]


@pytest.fixture
def packs(tmp_path: Path) -> str:
    file = tmp_path / "packs.json"
    file.write_text(json.dumps([asdict(each) for each in PACKS]))
    return str(file)


def rows(page: Path, split: str) -> dict[str, list[str]]:
    """Return the cells of a table by their first."""
    found = re.search(
        rf"<!-- synthesis-{split} -->(.*?)<!-- /synthesis-{split} -->", page.read_text("utf-8"), re.DOTALL
    )
    assert found
    lines = [line.strip("|").split("|") for line in found[1].splitlines() if line.startswith("|")]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in lines[2:]}


def said(request: object) -> str:
    text = str(request)
    if "painted" in text:
        return "The passages do not mention who painted the bridge."
    return "The weir at Halden was rebuilt in 1911."


@pytest.mark.loopback
def test_each_system_has_its_row_and_a_second_run_asks_nothing(packs: str, tmp_path: Path) -> None:
    page, replies, kept = tmp_path / "page.md", tmp_path / "replies.jsonl", tmp_path / "kept.jsonl"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    with OpenAIStub(lambda request: Reply(said(request.user))) as stub:
        options = [packs, "--systems", NAMES, "--base-url", stub.base_url, "--kept-replies", str(replies)]
        assert main([*options, "--write", str(page)]) == 0
        asked = len(stub.calls)
        assert main([*options, "--kept", str(kept)]) == 0
        assert len(stub.calls) == asked > 0
    dev, test, paragraph = (rows(page, name) for name in ("dev", "test", "paragraph"))
    assert set(dev) == set(test) == set(paragraph) == set(NAMES.split(","))
    assert paragraph["plain prompt"][:4] == ["-", "-", "-", "1 of 1"]
    # contains, false abstentions, wrong, unanswerable refused, absent refused
    assert dev["plain prompt"][:6] == ["1 of 1", "0 of 1", "0 of 1", "1 of 1", "-", "1.0"]
    assert test["plain prompt"][:4] == ["0 of 1", "0 of 1", "1 of 1", "-"]
    assert dev["Anabranch stuff"][0] == "1 of 1"
    assert dev["LangChain map_reduce"][5] == "3.0"
    assert all(float(cells[6].replace(",", "")) > 0 for cells in dev.values())
    marks = rows(page, "dev-marks")
    assert set(marks) == {"Anabranch stuff"}
    # right: shown, unmarked; wrong: shown, unmarked; unanswerable: refused, marked, unmarked
    assert marks["Anabranch stuff"] == ["1 of 1", "1 of 1", "0 of 1", "0 of 1", "1 of 1", "0 of 1", "0 of 1"]
    before = page.read_text("utf-8")
    assert main([packs, "--kept", str(kept), "--write", str(page)]) == 0
    assert page.read_text("utf-8") == before


@pytest.mark.loopback
def test_an_answer_that_is_not_confirmed_is_counted_as_shown_and_marked_by_the_words_of_the_model_alone(
    packs: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    # Below it stand the nearest passages, which hold the right answer.
    with OpenAIStub("Otto Kraus blew up a tunnel in Utopia.") as stub:
        options = [packs, "--systems", "Anabranch stuff", "--base-url", stub.base_url, "--split", "dev"]
        assert main([*options, "--write", str(page)]) == 0
    assert rows(page, "dev-marks")["Anabranch stuff"] == [
        "0 of 1", "0 of 1", "1 of 1", "0 of 1", "0 of 1", "1 of 1", "0 of 1"
    ]  # fmt: skip
    assert rows(page, "dev")["Anabranch stuff"][:4] == ["0 of 1", "0 of 1", "1 of 1", "0 of 1"]


@pytest.mark.loopback
def test_a_system_that_is_not_installed_is_left_out_and_said_to_be(
    packs: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(systems.SYSTEMS, "Absent", ("no_such_module", "stuff"))
    with OpenAIStub("1911") as stub:
        assert main([packs, "--systems", "plain prompt,Absent", "--base-url", stub.base_url, "--most", "1"]) == 0
        assert len(stub.calls) == 1
    assert "Absent is left out: No module named" in capsys.readouterr().out


def test_an_unknown_system_is_named(packs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([packs, "--systems", "guess"]) == 2
    assert "'guess'" in capsys.readouterr().out


def test_a_run_that_is_stopped_has_asked_some_of_each_kind() -> None:
    many = [pack(f"a{n}", "dev", "answerable", "?", "x") for n in range(10)]
    few = [pack(f"u{n}", "dev", "unanswerable", "?") for n in range(4)]
    kinds = [each.kind for each in evenly([*many, *few])]
    assert len(kinds) == 14
    assert kinds[:7].count("unanswerable") == 2
