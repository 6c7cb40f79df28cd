"""Answers judged by a chat model: what it says, in any language, what cannot be read, and which of two is better."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch_evaluation.answer_judge import BETTER, PROMPTS
from plugins.evaluation.tests.made import ASKED, make_collection, write_lines
from tests.cli.conftest import Run, rows_of
from tests.graph.replies import passages_in
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

pytestmark = pytest.mark.loopback

ANSWERS = {"q1": "Otters hold hands.", "q2": "By 270 degrees.", "q3": "It tells where the flowers are.", "q4": ""}
TABLE = """\
kind: judged
title: Two ways to answer
collections: [animals]
settings: {strategy: none}
configurations:
  short: {top_k: 1, window_tokens: 64}
  wide: {top_k: 4}
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    animals = make_collection(folder / "animals")
    write_lines(
        animals / "queries.jsonl", [{"_id": key, "text": text, "answer": ANSWERS[key]} for key, text in ASKED.items()]
    )
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def judge(better: Callable[[Request], str] = lambda _: "0", **replies: str) -> Callable[[Request], Reply]:
    """Judge as told; what asks for an answer gets the words of the first passage."""

    def script(request: Request) -> Reply:
        name = next((name for name, prompt in PROMPTS.items() if prompt == request.system), "")
        if name:
            return Reply(replies.get(name, "5"))
        if request.system == BETTER:
            return Reply(better(request))
        return Reply(next(iter(passages_in(request).values())))

    return script


def test_a_folder_is_judged_in_one_command(run: Run, data: Path, cache: Path, tmp_path: Path) -> None:
    report, every = tmp_path / "r.md", tmp_path / "q.jsonl"
    with OpenAIStub(judge(correctness="Note: 4 sur 5", relevancy="**5**", faithfulness="Bewertung: 3 von 5")) as stub:
        result = run(
            "eval", data / "animals", "--cache", cache, "--judge-model", "openai:judge", "--set",
            f"base_url={stub.base_url}", "--json", "--per-query", every, "--report", report,
        )  # fmt: skip
        systems = [call.request.system for call in stub.calls]
        models = {call.request.model for call in stub.calls}
        texts = [request.user for request in (call.request for call in stub.calls)]
    assert result.exit_code == 0, result.stderr
    value = json.loads(result.stdout)
    (of,) = value["scores"]
    assert (of["correctness"], of["relevancy"], of["faithfulness"]) == (4.0, 5.0, 3.0)
    assert 0.3 < of["similarity"] <= 1.0
    assert (of["questions"], of["answered"], of["not_judged"], of["compared"]) == (4, 1.0, 0, {})
    # No model writes the answers here; q4 has no reference, so nobody is asked whether it is correct.
    assert models == {"judge"}
    assert systems.count(PROMPTS["correctness"]) == 3
    assert value["judge"]["calls"] == len(systems) == 11
    assert all("<passages-" in text for text in texts)
    assert "| animals | default | 4 | 1.000 | 4.000 | 5.000 | 3.000 |" in report.read_text()
    assert next(row for row in rows_of(every) if row["question"] == "q4")["scores"]["correctness"] is None


def test_what_cannot_be_read_is_not_judged_and_no_low_score(run: Run, data: Path, cache: Path) -> None:
    replies = iter(["5", "Das kann ich nicht beurteilen.", "zwischen 2 und 4", "5"])

    def script(request: Request) -> Reply:
        is_relevancy = request.system == PROMPTS["relevancy"]
        broken = Reply("out of order", status=500) if request.system == PROMPTS["faithfulness"] else Reply("4")
        return Reply(next(replies)) if is_relevancy else broken

    with OpenAIStub(script) as stub:
        result = run(
            "eval", data / "animals", "--cache", cache, "--judge-model", "openai:judge", "--set",
            f"base_url={stub.base_url}", "--set", "model_retries=0", "--json",
        )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    (of,) = json.loads(result.stdout)["scores"]
    assert (of["relevancy"], of["correctness"], of["faithfulness"]) == (5.0, 4.0, None)
    assert of["not_judged"] == 2 + 4
    assert "4 calls of the judge failed" in result.stderr


def prefers_first(request: Request) -> str:
    return "1"


def prefers_long(request: Request) -> str:
    first, second, *_ = passages_in(request).values()
    return "0" if len(first) == len(second) else f"Antwort {1 if len(first) > len(second) else 2}"


@pytest.mark.parametrize("better", [prefers_first, prefers_long])
def test_an_answer_wins_only_where_both_orders_agree(
    run: Run, data: Path, cache: Path, tmp_path: Path, better: Callable[[Request], str]
) -> None:
    (tmp_path / "t.yaml").write_text(TABLE, encoding="utf-8")

    def script(request: Request) -> Reply:
        if request.system in (BETTER, *PROMPTS.values()):
            return judge(better)(request)
        passages = passages_in(request)
        return Reply("\n\n".join(passages.values()) if len(passages) > 1 else next(iter(passages.values())))

    with OpenAIStub(script) as stub:
        result = run(
            "eval", tmp_path / "t.yaml", "--data", data, "--cache", cache, "--json", "--set", "model=openai:m",
            "--set", f"base_url={stub.base_url}",
        )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    short, wide = json.loads(result.stdout)["scores"]
    assert (short["configuration"], short["compared"]) == ("short", {})
    assert sum(wide["compared"].values()) == 4
    if better is prefers_first:
        assert wide["compared"]["orders differ"] == 4
    else:
        assert wide["compared"]["won"] == 4


@pytest.mark.parametrize(
    ("table", "given", "said"),
    [
        (TABLE, [], "No chat model is set to judge"),
        (TABLE + "baseline: nobody\n", [], "no configuration 'nobody'"),
        (TABLE + "judge: {modell: x}\n", [], "Did you mean 'model'"),
        ("title: T\nmetrics: [R@5]\nconfigurations: {a: {}}\n", ["--judge-model", "x"], "goes with a folder"),
    ],
)
def test_the_users_mistakes(
    run: Run, data: Path, cache: Path, tmp_path: Path, table: str, given: list[str], said: str
) -> None:
    (tmp_path / "t.yaml").write_text(table, encoding="utf-8")
    result = run("eval", tmp_path / "t.yaml", "--data", data, "--cache", cache, *given)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
