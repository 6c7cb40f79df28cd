"""Words that no passage has, corrected by those that passages have, and by no others."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from anabranch.agent.graph.retrieval import graph
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import InputState
from anabranch.ingestion.pipeline import ingest
from anabranch.retrieval.question_words import list_queries
from anabranch.retrieval.spelling import correct_words, neighbours, other_forms, splits
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus
from tests.graph.inside import graph as whole

NOTES = [
    {"id": "ski", "text": "Ski-joring was introduced to Switzerland by a horse dealer."},
    {"id": "key", "text": "The spare key of the boiler room hangs behind the door."},
    {"id": "two", "text": "Another spare key is in the cellar; the spear is a toy."},
    {"id": "ru", "text": "Плотину на реке построили из дуба."},
    {"id": "de", "text": "Die Mühle steht am großen Wehr."},
    {"id": "fees", "text": "Die Beiträge der Erwachsenen stehen im Protokoll, das der Kassenwart führt."},
    {"id": "it", "text": "Il custode tiene le chiavi della cassa e del magazzino."},
    {"id": "fr", "text": "La clef du barrage est chez le gardien de la maison."},
    {"id": "miss", "text": "Visitors may miss the small door of the house, which is behind the stairs."},
    {"id": "list", "text": "Sluicegate 12, penstock 14"},
    {"id": "secret", "text": "The password of the safe is kept by Marrowby.", "access": ["board"]},
]


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> str:
    home = tmp_path_factory.mktemp("spelling")
    (home / "notes.jsonl").write_text("\n".join(map(json.dumps, NOTES)), encoding="utf-8")
    ingest(home / "notes.jsonl", home / "corpus")
    return str(home / "corpus")


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("When was skijoring introduced?", {"skijoring": "ski joring"}),
        ("Where is the spaer key?", {"spaer": "spare"}),
        ("Where is the boilr?", {"boilr": "boiler"}),
        ("Where is the obiler?", {"obiler": "boiler"}),
        # Who is called so is somebody else, and so is what a code stands for.
        ("Who is Koiler?", {}),
        ("Where is BOILR?", {}),
        ("Where is boilr2?", {}),
        ("Из чего построили плотену?", {"плотену": "плотину"}),
        ("Wo steht die Mühlle?", {"Mühlle": "mühle"}),
        ("Où est le barage ?", {"barage": "barrage"}),
        ("Qui est le gardein du barrage ?", {"gardein": "gardien"}),
        ("Chi è il custode del magazino?", {"magazino": "magazzino"}),
        # A word of one language is no misspelt word of another.
        ("Wie lange muss mein Kind nach Fieber zu Hause bleiben?", {}),
        ("Wo ist der Boilr?", {}),
        ("Dove sono i custodes?", {}),
        ("Where is the gardein?", {}),
        ("Why is the magazino away?", {}),
        # Nobody knows of which language a few words are, or a list.
        ("boilr room", {}),
        ("Where is the sluicegat?", {}),
        ("Where is the spare key?", {}),
        # Words of the language that the documents do not have: nothing is wrong with them.
        ("Where is the spade key?", {}),
        ("What protects the town from floods?", {}),
        ("Who is Zbigniew?", {}),
        ("Teh 2012 x1 ??", {}),
        ("", {}),
    ],
)
async def test_a_word_that_no_passage_has(notes: str, question: str, meant: dict[str, str]) -> None:
    found = await correct_words(await open_corpus(notes), question, Scope())
    assert {word: _folded(near) for word, near in found.items()} == {w: _folded(near) for w, near in meant.items()}


def _folded(text: str) -> str:
    return text.replace("ü", "u")


async def test_words_that_the_caller_may_not_read_correct_nothing(notes: str) -> None:
    corpus = await open_corpus(notes)
    assert await correct_words(corpus, "Who is Marowby?", Scope()) == {}
    assert await correct_words(corpus, "Who is Marowby?", Scope(access=("board",))) == {"Marowby": "marrowby"}


def test_neighbours_are_one_edit_away() -> None:
    near = set(neighbours("weir"))
    assert {"wier", "wei", "weirs", "weer", "eir"} <= near
    assert "weir" not in near - {"weir"}
    assert len(near) < 300
    assert list(splits("skijor")) == [("ski", "jor")]


async def test_the_question_is_searched_for_both_ways_and_that_is_told(notes: str) -> None:
    async def asked(question: str) -> dict[str, Any]:
        context = Context(corpus=notes, strategy="none")
        state: dict[str, Any] = await graph.ainvoke(InputState(question=question), context=context)
        return state

    state, plain = await asyncio.gather(asked("When was skijoring introduced?"), asked("Where is the spare key?"))
    assert [(query["text"], query["kind"]) for query in state["queries"]] == [
        ("When was skijoring introduced?", "asked"),
        ("When was ski joring introduced?", "spelling"),
    ]
    (told,) = [step["counts"]["spelling"] for step in state["trace"] if step["node"] == "rewrite"]
    assert told == {"skijoring": "ski joring"}
    assert state["candidates"][0]["ranks"]["bm25"] == 1
    assert [query["kind"] for query in plain["queries"]] == ["asked"]


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Gibt es für Erwachsene einen Schwimmkurs in Madrid?", "erwachsenen"),
        ("Quanto guadagnano i custodi della scuola di Palermo?", "custod"),
    ],
)
async def test_another_form_of_a_word_is_searched_for_and_is_no_correction(
    notes: str, question: str, form: str
) -> None:
    context = Context(corpus=notes, strategy="none")
    state: dict[str, Any] = await whole.ainvoke(InputState(question=question), context=context)
    asked, other = state["queries"]
    assert (asked["text"], asked["kind"], other["kind"]) == (question, "asked", "form")
    assert form in other["text"].rstrip("?").split()
    (told,) = [step["counts"] for step in state["trace"] if step["node"] == "rewrite"]
    assert "spelling" not in told
    # The documents have the word, in that form; so it is not missing, and the reader's own word stays as it is.
    assert form not in state["evidence"]["missing"].split(", ")
    assert list_queries(state["queries"]) == [question]
    assert other["text"] not in state["answer"]


def test_a_wrong_letter_is_no_other_form() -> None:
    assert other_forms("Wo steht die Mühlle für Erwachsene?", {"Mühlle": "mühle", "Erwachsene": "erwachsenen"}) == {
        "Erwachsene"
    }
    assert other_forms("Where is the boilr?", {"boilr": "boiler"}) == set()
    assert other_forms("custodi", {"custodi": "custode"}) == set()
