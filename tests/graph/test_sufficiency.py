"""Thin evidence is looked for once more and answered from; only where the search found nothing is nobody asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from anabranch.agent.nodes.settings import Context
from anabranch.ingestion.pipeline import ingest
from tests.graph.inside import graph
from tests.graph.replies import model, passages_in, rounds_of, step_of
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

QUESTION = "Who built the Halden weir?"
OTHER_SUBJECT = "What is the capital gains tax rate in Portugal for cryptocurrency?"


async def _ask(question: str, river: str, **settings: Any) -> dict[str, Any]:
    return await graph.ainvoke({"question": question}, context=Context(corpus=river, **settings))


async def test_confidence_is_high_with_evidence_and_low_without(river: str) -> None:
    near, far = await _ask(QUESTION, river), await _ask(OTHER_SUBJECT, river)
    assert near["evidence"]["scores"]["confidence"] > 0.8 > 0.2 > far["evidence"]["scores"]["confidence"]
    assert (near["evidence"]["verdict"], far["evidence"]["verdict"]) == ("enough", "thin")
    assert any("confidence" in reason for reason in near["evidence"]["reasons"])


@pytest.mark.parametrize("grade", ["scores", "none"])
async def test_nothing_found_is_never_answered(grade: str, river: str) -> None:
    state = await _ask("zyzzyva qwertzu?", river, retrievers=("bm25",), grade=grade)
    assert state["passages"] == []
    assert state["abstained"]
    assert "Missing: zyzzyva, qwertzu." in state["answer"]
    assert "Nearest" not in state["answer"]


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What is the Zy-Fi password?", "Missing: Zy-Fi, password."),
        ("Wie lautet das Zy-Fi-Kennwort?", "Zy-Fi-Kennwort."),
        ("ユースキャンプはいつですか", "Missing: ユースキャンプはいつですか."),
    ],
)
async def test_a_word_that_is_missing_is_named_once(question: str, missing: str, river: str) -> None:
    state = await _ask(question, river, retrievers=("bm25",))
    assert state["abstained"]
    assert missing in state["answer"]
    said = state["evidence"]["missing"].split(", ")
    assert len(said) == len(set(said))


async def test_signals_are_kept_where_nobody_judges(river: str) -> None:
    state = await _ask(OTHER_SUBJECT, river, grade="none")
    assert state["evidence"]["verdict"] == "enough"
    assert state["evidence"]["scores"]["confidence"] < 0.2


async def test_cosines_of_an_embedder_that_was_not_calibrated_do_not_count(
    river: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anabranch.agent.nodes.grade.CALIBRATED", frozenset())
    state = await _ask(QUESTION, river)
    assert not any("cosine" in reason for reason in state["evidence"]["reasons"])
    assert "Ida Marrow" in state["answer"]


@pytest.mark.loopback
async def test_an_abstention_shows_the_leaves_that_come_nearest_and_says_why(tmp_path: Path) -> None:
    filler = "The mill stands by the river and grinds the flour of the whole valley every autumn. " * 30
    (tmp_path / "long.md").write_text(f"# Valley\n\n{filler}\n\nHerons nest at the pond of the parish.\n\n{filler}")
    ingest([tmp_path / "long.md"], tmp_path / "corpus")
    question = "Which parish had a famous bishop of the pond order in the Roman empire?"
    with OpenAIStub(model(create="The passages do not say which parish it was.")) as stub:
        context = {"model": "openai:stub", "base_url": stub.base_url, "strategy": "none"}
        state = await _ask(question, str(tmp_path / "corpus"), merge_threshold=0.0, top_k=2, **context)
    assert state["abstained"], state["evidence"]["scores"]
    assert "Herons nest" in state["answer"]
    assert "Missing: " in state["answer"]


@pytest.mark.loopback
async def test_the_same_passages_are_not_judged_twice(river: str) -> None:
    verdict = Reply('{"sufficient": false, "missing": "the name of the mayor"}')
    with OpenAIStub(model(grade=verdict, rewrite="Halden weir builder?")) as stub:
        context = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0}
        state = await _ask(QUESTION, river, grade="llm", top_k=100, **context)
        asked = Counter(step_of(call.request) for call in stub.calls)
    assert state["evidence"]["reasons"][-1] == "another round found the same passages"
    assert asked == {"grade": 1, "rewrite": 2, "create": 1}
    # The search of the second round has other scores; what they are worth is known all the same.
    assert state["evidence"]["scores"]["confidence"] > 0.8
    assert state["evidence"]["missing"] == "the name of the mayor"
    assert "Ida Marrow" in state["answer"]


@pytest.mark.loopback
async def test_rounds_are_bounded_and_the_writer_is_asked_whatever_the_judge_says(river: str) -> None:
    verdict = Reply('{"sufficient": false, "missing": "more"}')
    with OpenAIStub(model(grade=verdict)) as stub:
        context = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0}
        state = await _ask(QUESTION, river, grade="llm", top_k=1, **context)
        asked = Counter(step_of(call.request) for call in stub.calls)
    assert rounds_of(state) == 2
    assert asked["grade"] <= 2
    assert asked["create"] == 1
    assert state["evidence"]["verdict"] == "thin"
    assert state["citations"]


@pytest.mark.loopback
async def test_without_other_words_there_is_one_round(river: str) -> None:
    verdict = Reply('{"sufficient": false, "missing": "more"}')
    with OpenAIStub(model(grade=verdict)) as stub:
        context = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0}
        state = await _ask(QUESTION, river, grade="llm", strategy="none", top_k=1, **context)
    assert rounds_of(state) == 1
    assert state["citations"]


@pytest.mark.loopback
@pytest.mark.parametrize(
    "question",
    [
        # Everyday words that no passage has, a paraphrase without a word of its answer, and another subject.
        "I got my feet wet by mistake. Who put that wall into the water?",
        "Wer hat die Staumauer errichtet?",
        OTHER_SUBJECT,
    ],
)
async def test_nothing_stands_between_a_question_and_the_model(question: str, river: str) -> None:
    with OpenAIStub(model()) as stub:
        context = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0}
        state = await _ask(question, river, **context)
        asked = Counter(step_of(call.request) for call in stub.calls)
    assert state["evidence"]["verdict"] == "thin"
    # Thin evidence is searched for once more, in other words, before the model reads it.
    assert asked["rewrite"] == rounds_of(state) == 2
    assert asked["create"] >= 1


@pytest.mark.loopback
async def test_the_judge_reads_the_leaves_wherever_they_stand_in_their_parent(tmp_path: Path) -> None:
    filler = "The mill stands by the river and grinds the flour of the whole valley every autumn. " * 30
    (tmp_path / "long.md").write_text(f"# Valley\n\n{filler}\n\nThe secret ford lies below the third alder.\n")
    ingest([tmp_path / "long.md"], tmp_path / "corpus")
    seen: list[str] = []

    def judge(request: Request) -> Reply:
        seen.extend(passages_in(request).values())
        return Reply('{"sufficient": true, "missing": ""}')

    with OpenAIStub(model(grade=judge)) as stub:
        context = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0}
        question = "Where does the secret ford lie?"
        state = await _ask(
            question, str(tmp_path / "corpus"), grade="llm", strategy="none", merge_threshold=0.0, **context
        )
    assert len(state["passages"]) == 1
    assert "third alder" in seen[0]


@pytest.mark.loopback
@pytest.mark.parametrize("refusal", ["The passages do not say who built it.", "Das steht nicht in den Abschnitten."])
async def test_a_writer_that_finds_nothing_is_an_abstention_with_the_nearest_passages(refusal: str, river: str) -> None:
    with OpenAIStub(model(create=refusal)) as stub:
        context = {"model": "openai:stub", "base_url": stub.base_url, "model_retries": 0}
        state = await _ask(QUESTION, river, strategy="none", **context)
    assert state["abstained"]
    assert state["answer"].startswith("I did not find the answer in your documents.")
    assert refusal not in state["answer"]
    assert "Nearest passages:" in state["answer"]


LEASE = """# Miete

Der Mieter muss drei Monate vor dem Auszug schriftlich Bescheid geben.

# Garten

Die Hecke wird im Herbst geschnitten.
"""


def _other_embedder(tmp_path: Path, stub: OpenAIStub) -> str:
    (tmp_path / "lease.md").write_text(LEASE, "utf-8")
    ingest([tmp_path / "lease.md"], tmp_path / "corpus", embedder="openai:multilingual", base_url=stub.base_url)
    return str(tmp_path / "corpus")


@pytest.mark.loopback
@pytest.mark.parametrize("question", ["How long is the period of notice?", "Wie lange beträgt die Kündigungsfrist?"])
@pytest.mark.parametrize("grade", ["scores", "llm"])
async def test_with_another_embedder_the_model_reads_what_shares_no_word(
    question: str, grade: str, tmp_path: Path
) -> None:
    with OpenAIStub(model()) as stub:
        corpus = await asyncio.to_thread(_other_embedder, tmp_path, stub)
        settings = {"model": "openai:stub", "base_url": stub.base_url, "strategy": "none", "grade": grade}
        state = await _ask(question, corpus, **settings)
        asked = [step_of(call.request) for call in stub.calls if call.request.kind == "chat"]
    assert asked[-1] == "create"
    assert not state["abstained"]
    assert "drei Monate" in state["answer"]


@pytest.mark.loopback
async def test_with_another_embedder_nothing_found_asks_nobody(tmp_path: Path) -> None:
    with OpenAIStub(model()) as stub:
        corpus = await asyncio.to_thread(_other_embedder, tmp_path, stub)
        settings = {"model": "openai:stub", "base_url": stub.base_url, "strategy": "none", "retrievers": ("bm25",)}
        state = await _ask("zyzzyva qwertzu?", corpus, **settings)
        assert not [call for call in stub.calls if call.request.kind == "chat"]
    assert state["evidence"]["verdict"] == "nothing"
    assert state["abstained"]


@pytest.mark.loopback
async def test_with_another_embedder_and_no_model_passages_on_another_subject_are_said_to_be_weak(
    tmp_path: Path,
) -> None:
    with OpenAIStub(model()) as stub:
        corpus = await asyncio.to_thread(_other_embedder, tmp_path, stub)
        state = await _ask(OTHER_SUBJECT, corpus)
    assert state["evidence"]["verdict"] == "thin"
    assert "They match weakly" in state["answer"].splitlines()[0]
