"""Questions nobody should ask, of corpora nobody should have: a clear result or a clear error, never a crash."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from anabranch.agent.graph.retrieval import graph as search
from anabranch.agent.nodes.begin import MAX_QUESTION_CHARS
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import InputState
from anabranch.errors import CorpusEmptyError, QuestionError
from anabranch.ingestion.pipeline import ingest
from plugins.evaluation.tests.made import make_collection
from tests.cli.conftest import Run, run, write_rows  # noqa: F401  # a fixture
from tests.graph.inside import build as build_answer

ANSWER = build_answer().compile()

REFUSED = {
    "nothing": "",
    "white space": " \n\t\u3000",
    "controls": "\x00\x01\x1b\x7f",
    "invisible": "\u200b\u202e\u2066\ufeff\U000e0041",
    "a lone surrogate": "\ud800",
    "punctuation": "?!… — *()[]",
    "emoji": "😀🎉👩\u200d🚀",
    "ten thousand words": "river " * 10_000,
    "ten thousand words without spaces": "川" * (MAX_QUESTION_CHARS + 1),
}
ODD = {
    "a stop word": "the",
    "stop words": "what is it that they have",
    "one letter": "a",
    "one digit": "7",
    "Japanese": "川とは何ですか",
    "Arabic": "ما هو النهر",
    "Russian": "Что такое река?",
    "Thai": "แม่น้ำคืออะไร",
    "one long word": "x" * MAX_QUESTION_CHARS,
    "as many words as fit": "river weir " * (MAX_QUESTION_CHARS // 11),
    "one word over and over": "river " * 1_600,
    "operators": 'NEAR("river" OR weir*) AND -mill; DROP TABLE chunks; --',
    "markup": "<b>river</b> {{weir}} ${mill} %s %(x)s {0}",
    "emoji in words": "Where is the weir 😀👩\u200d🚀?",
    "lines": "Where\r\nis\u2028the\x0bweir?\n\n\n",
    "combining marks": "w" + "\u0301" * 500 + "eir",
}
TEXT = "The weir at Ellsworth was built in 1911 and raises the river by two metres."
CORPORA = {
    "one document": [TEXT],
    "identical documents": [TEXT] * 5,
    "one word": ["weir"],
    "only stop words": ["the of and", "it is what it is"],
    "only punctuation": ["?!… — *", "..."],
    "another script": ["川は水の流れである。", "النهر مجرى مائي طبيعي."],
}


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("odd")
    for name, texts in CORPORA.items():
        rows = [{"_id": f"d{number}", "text": text} for number, text in enumerate(texts)]
        ingest([write_rows(home / f"{name}.jsonl", *rows)], home / name)
    return {name: str(home / name) for name in CORPORA}


def check(state: dict[str, Any]) -> None:
    """A state is plain data without a NaN, its candidates are distinct and in order."""
    plain = json.dumps({**state, "messages": []}, allow_nan=False, ensure_ascii=False)
    plain.encode("utf-8")
    scores = [candidate["score"] for candidate in state["candidates"]]
    assert all(math.isfinite(score) for score in scores)
    assert scores == sorted(scores, reverse=True)
    ids = [candidate["id"] for candidate in state["candidates"]]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("question", REFUSED.values(), ids=REFUSED)
async def test_what_is_no_question_is_refused(river: str, question: str) -> None:
    for graph in (search, ANSWER):
        with pytest.raises(QuestionError) as caught:
            await graph.ainvoke(InputState(question=question), context=Context(corpus=river))
        assert caught.value.hint
        assert len(str(caught.value)) < 300
        str(caught.value).encode("utf-8")


@pytest.mark.parametrize("question", ODD.values(), ids=ODD)
@pytest.mark.work(60)
async def test_an_odd_question_gets_a_plain_answer(river: str, question: str) -> None:
    state = await ANSWER.ainvoke(InputState(question=question), context=Context(corpus=river))
    check(state)
    assert state["answer"]
    assert state["abstained"] or state["citations"]
    said = [each["reason"] for each in state["degraded"]]
    # The bundled embedder knows Latin letters, and says so of others.
    assert all("does not read" in reason for reason in said)
    assert bool(said) == (question in (ODD["Japanese"], ODD["Arabic"], ODD["Russian"], ODD["Thai"]))


SEARCHES: list[dict[str, Any]] = [{}, {"retrievers": ("bm25",)}, {"retrievers": ("dense",)}, {"fusion": "rrf"}]


# Each corpus as usual and in one other way; the rest is for `make exhaustive`.
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        pytest.param(name, settings, marks=[] if way in (0, 1 + at % 3) else pytest.mark.exhaustive)
        for at, name in enumerate(CORPORA)
        for way, settings in enumerate(SEARCHES)
    ],
)
async def test_an_odd_corpus_is_searched(corpora: dict[str, str], name: str, settings: dict[str, Any]) -> None:
    context = Context(corpus=corpora[name], **settings)
    for question in ("weir", "the", "川", "Who built the weir at Ellsworth?", "zyzzyva"):
        check(await search.ainvoke(InputState(question=question), context=context))


@pytest.mark.parametrize("name", CORPORA)
async def test_an_odd_corpus_answers(corpora: dict[str, str], name: str) -> None:
    question = InputState(question="When was the weir at Ellsworth built?")
    state = await ANSWER.ainvoke(question, context=Context(corpus=corpora[name]))
    check(state)
    assert ("1911" in state["answer"]) == (name in ("one document", "identical documents"))


async def test_identical_documents_are_all_found(corpora: dict[str, str]) -> None:
    context = Context(corpus=corpora["identical documents"], strategy="none")
    state = await search.ainvoke(InputState(question="weir"), context=context)
    assert len(state["candidates"]) == 5


async def test_a_corpus_of_an_empty_text_says_so(tmp_path: Path) -> None:
    report = ingest([write_rows(tmp_path / "empty.jsonl", {"_id": "a", "text": " \n"})], tmp_path / "corpus")
    assert "the text is empty" in report.rows[0].reason
    with pytest.raises(CorpusEmptyError, match="holds no passage"):
        await search.ainvoke(InputState(question="weir"), context=Context(corpus=str(tmp_path / "corpus")))


@pytest.mark.parametrize(
    "noisy",
    [
        "Where is\x00 the\x1b wei\u200br\u202e?",
        "\ufeffWhere is the \u2066weir\u2069?",
        "Where is the weir?\ud800",
        "Where\u00ad is the weir\U000e0041?\x07",
    ],
)
async def test_what_is_invisible_in_a_question_changes_nothing(river: str, noisy: str) -> None:
    context = Context(corpus=river)
    clean = await search.ainvoke(InputState(question="Where is the weir?"), context=context)
    for given in (InputState(question=noisy), InputState(messages=[HumanMessage(noisy)])):
        state = await search.ainvoke(given, context=context)
        assert state["turn"]["question"] == "Where is the weir?"
        assert state["candidates"] == clean["candidates"]


async def test_a_thread_survives_a_bad_question(river: str) -> None:
    graph = build_answer().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    for question in ("\ud800 \x00", "???"):
        with pytest.raises(QuestionError):
            await graph.ainvoke(InputState(question=question), config, context=Context(corpus=river))
    state = await graph.ainvoke(InputState(question="Where is\ud800 the weir?"), config, context=Context(corpus=river))
    assert state["turn"]["question"] == "Where is the weir?"
    assert state["answer"]


@pytest.fixture(params=["search", "ask"])
def command(request: pytest.FixtureRequest) -> Iterator[str]:
    yield request.param


@pytest.mark.parametrize("question", REFUSED.values(), ids=REFUSED)
def test_the_command_line_refuses_it_in_a_sentence(run: Run, river: str, command: str, question: str) -> None:  # noqa: F811
    result = run(command, "--corpus", river, "--", question)
    assert result.exit_code == 2
    assert "question" in result.stderr or "There is no query" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", ["a stop word", "Arabic", "one long word", "operators", "combining marks", "lines"])
def test_the_command_line_answers_it(run: Run, river: str, command: str, name: str) -> None:  # noqa: F811
    result = run(command, "--json", "--corpus", river, "--", ODD[name])
    assert result.exit_code in (0, 1)
    json.loads(result.stdout, parse_constant=pytest.fail)


def test_an_evaluation_of_bad_queries_goes_through(run: Run, tmp_path: Path) -> None:  # noqa: F811
    asked = {
        f"q{number}": text for number, text in enumerate([*REFUSED.values(), *list(ODD.values())[:6]]) if text.strip()
    }
    judged = [(key, "d0", 1) for key in asked] + [("fine", "nowhere", 1), ("nobody", "d0", 1)]
    documents = {f"d{number}": TEXT for number in range(3)}
    folder = make_collection(tmp_path / "odd", documents, {**asked, "fine": "weir"}, [*judged, ("fine", "d0", 1)])
    result = run("eval", folder, "--cache", tmp_path / "cache", "--json")
    assert result.exit_code == 0, result.stderr
    json.loads(result.stdout, parse_constant=pytest.fail)
