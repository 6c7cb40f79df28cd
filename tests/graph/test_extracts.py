"""Answers without a chat model over the graph: the best passages whole, as they stand in the documents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from anabranch.agent.nodes import compose
from anabranch.agent.nodes.settings import Context
from anabranch.extracts.best_passages import MOST_CHARS, MOST_SHOWN
from anabranch.ingestion.pipeline import ingest
from anabranch.models.embedders import load_embedder
from anabranch.models.onnx_embedder import OnnxEmbedder
from tests.graph.inside import graph

FIRST = "No chat model: the passages that match best."
WEAK = f"{FIRST} They match weakly: the answer may not be in them."
GUIDE = """# The Halden mill

The Halden mill stands by the weir. It was built in 1897 by the engineer Ida Marrow, who came from Vesle.

## Staff

The mill has had many workers, and its workers like the river. At the end of 1921 it had 4,453 workers in three yards.

## Results

The results of the mill are told in thousands of crowns:

|  | 1921 | 1920 |
|---|---|---|
| Net loss | 1,009 | 1,752 |
| Revenue from flour | 3,208 | 2,364 |

## Remove a lock

A lock that is no longer needed is removed with this command:

```sh
weir remove OLD_LOCK
weir list
```

## Wheels

The mill has three kinds of wheels:

- The great wheel turns the stone.
- The small wheel lifts the water.
- The spare wheel stands in the yard.
"""
OTHER = "# Herons\n\nHerons nest in the meadow every spring. In 1921 there were 12 herons, and that is all.\n"
SATZUNG = (
    "# Satzung\n\nDas Wehr in Halden wurde 1897 von der Ingenieurin Ida Marrow gebaut. Zwölf Reiher nisten am Ufer. "
    "Wer Papierkörbe leert, bekommt ein Boot für dreißig Tage.\n\nTabelle 1: Ergebnis der Mühle in Kronen\n\n"
    "|  | 1921 | 1920 |\n|---|---|---|\n| Kosten der Mühle | 1.649 | 1.447 |\n| Umsatz | 3.208 | 2.364 |\n"
)


@pytest.fixture(scope="module")
def mill(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A guide with prose, a table, a list and code; a note on herons; and a text in German."""
    folder = tmp_path_factory.mktemp("mill")
    for name, text in (("mill.md", GUIDE), ("herons.md", OTHER), ("satzung.md", SATZUNG)):
        (folder / "docs").mkdir(exist_ok=True)
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    ingest([folder / "docs"], folder / "corpus")
    return str(folder / "corpus")


async def _turn(question: str, corpus: str, **settings: Any) -> dict[str, Any]:
    return await graph.ainvoke({"question": question}, context=Context(corpus=corpus, **settings))


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("How many workers does the mill have?", r"the river\.(\*\*)? (\*\*)?At the end of 1921 it had 4,453 workers"),
        ("When was the Halden mill built?", r"the weir\. \*\*It was built in 1897 .*\*\*"),
        (
            "What was the net loss of the mill in 1921?",
            r"\|  \| 1921 \| 1920 \|\n\| --- \| --- \| --- \|\n\| Net loss \| 1,009 \| 1,752 \|\n\| Revenue",
        ),
        ("How do I remove a lock?", r"command:(\*\*)?\n\n```\nweir remove OLD_LOCK\nweir list\n```"),
        (
            "What are the kinds of wheels of the mill?",
            r"wheels:(\*\*)?\n\n- The great wheel turns the stone\.\n- The small wheel lifts the water\.\n- The spare",
        ),
        ("Wie hoch war der Umsatz der Mühle im Jahr 1921?", r"\| Umsatz \| 3\.208 \| 2\.364 \|"),
        ("Wann wurde das Wehr in Halden gebaut?", r"\*\*Das Wehr in Halden wurde 1897 von der .* gebaut\.\*\* Zwölf"),
    ],
)
async def test_the_passages_are_shown_whole_as_they_stand(question: str, shown: str, mill: str) -> None:
    state = await _turn(question, mill)
    assert (state["abstained"], state["route"]["name"]) == (False, "compose")
    assert re.search(shown, state["answer"]), state["answer"]


async def test_each_passage_is_a_citation_of_the_words_that_are_shown(mill: str) -> None:
    state = await _turn("How many workers does the mill have?", mill)
    assert state["answer"].splitlines()[0] == FIRST
    cited = state["citations"]
    assert 1 <= len(cited) <= MOST_SHOWN
    assert sum(len(each["quote"]) for each in cited) <= MOST_CHARS
    assert {each["grade"] for each in cited} == {"quoted"}
    for each in cited:
        assert each["end"] - each["start"] == len(each["quote"])
        assert f"\n[{each['marker']}] {each['source']}, " in state["answer"]
    markers = [int(found) for found in re.findall(r"^\[(\d)\] ", state["answer"], re.MULTILINE)]
    assert markers == sorted({each["marker"] for each in cited}) == list(range(1, len(markers) + 1))
    verification = state["verification"]
    assert (verification["quoted"], verification["not_confirmed"]) == (len(cited), 0)
    assert state["unconfirmed"] == []


async def test_leaves_that_touch_are_one_passage_and_cite_those_of_the_windows(tmp_path: Path) -> None:
    sentences = [f"The keeper of lock {number} paints its gate in colour {number} each spring." for number in range(14)]
    (tmp_path / "locks.txt").write_text(" ".join(sentences), encoding="utf-8")
    ingest([tmp_path / "locks.txt"], tmp_path / "corpus")
    state = await _turn("Which colour has the gate of lock 7?", str(tmp_path / "corpus"))
    pieces = [each for each in state["citations"] if each["marker"] == 1]
    assert "".join(each["quote"] for each in pieces) in " ".join(sentences)
    assert sum(len(each["quote"]) for each in pieces) > 700  # of two leaves at least, which have 128 tokens each
    packed = {excerpt["id"] for window in state["windows"] for excerpt in window}
    assert {each["chunk_id"] for each in state["citations"]} <= packed


async def test_a_question_that_nothing_is_about_gets_the_passages_and_is_told_so(mill: str) -> None:
    state = await _turn("What is the favourite colour of the king of Portugal?", mill)
    assert not state["abstained"]
    assert state["answer"].splitlines()[0] == WEAK


async def test_an_embedder_of_many_languages_does_not_tell_how_weakly_words_match(
    mill: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OnnxEmbedder, "is_multilingual", True)
    state = await _turn("What is the favourite colour of the king of Portugal?", mill)
    assert state["answer"].splitlines()[0] == FIRST


@pytest.mark.parametrize(
    "question",
    ["I threw away a lock by mistake. How is it squeezed out?", "When was the Halden mill built and painted?"],
)
async def test_an_everyday_word_that_no_document_has_is_no_reason_to_refuse(question: str, mill: str) -> None:
    state = await _turn(question, mill)
    assert not state["abstained"]
    assert state["citations"]


async def test_the_first_line_is_in_the_language_of_the_reader(mill: str) -> None:
    state = await _turn("Wann wurde das Wehr in Halden von der Ingenieurin gebaut?", mill)
    assert state["answer"].startswith("Kein Chatmodell: die Stellen, die am besten passen.\n\n[1] ")


async def test_not_found_is_only_what_the_search_did_not_find(mill: str) -> None:
    given = {"question": "When was the mill built?", "filters": {"source": "nowhere.md"}}
    state = await graph.ainvoke(given, context=Context(corpus=mill))
    assert (state["abstained"], state["citations"]) == (True, [])


async def test_another_embedder_is_not_asked_which_sentence_fits_best(
    mill: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = load_embedder("minilm")
    asked: list[int] = []
    monkeypatch.setattr(type(embedder), "embed", _counting(type(embedder).embed, asked))
    await _turn("When was the Halden mill built?", mill)
    with_meaning = len(asked)
    monkeypatch.setattr(compose, "CALIBRATED", frozenset())
    state = await _turn("When was the mill of Halden built?", mill)
    assert len(asked) - with_meaning < with_meaning
    assert "**It was built in 1897" in state["answer"]


def _counting(embed: Any, asked: list[int]) -> Any:
    def counted(self: Any, texts: Any) -> Any:
        asked.append(len(texts))
        return embed(self, texts)

    return counted
