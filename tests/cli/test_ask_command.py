from __future__ import annotations

import json
import shlex
import stat
from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from itertools import count
from pathlib import Path
from typing import Any, Self

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot
from typer.testing import Result

from anabranch.cli.ask_command import hint_after_interrupt
from tests.cli.conftest import Run
from tests.graph.replies import model
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

CITATION = ["marker", "source", "title", "page", "heading", "chunk_id", "claim", "quote", "start", "end", "grade"]
STEPS = ["begin", "rewrite", "retrieve", "fuse", "rerank", "merge", "grade", "pack", "create", "cite", "finish"]
QUESTION = "What is an anabranch of a river?"


def asked(run: Run, corpus: Path, *arguments: object, **options: Any) -> dict[str, Any]:
    result = run("ask", *arguments, "--corpus", corpus, "--json", **options)
    assert result.exit_code == 0, result.stderr
    value = json.loads(result.stdout)
    assert isinstance(value, dict)
    return value


def test_the_answer_its_sources_and_who_wrote_it(run: Run, corpus: Path) -> None:
    result = run("ask", QUESTION, "--corpus", corpus)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("No chat model: the passages that match best.\n\n[1] rivers.md, Rivers")
    assert "diverts from the main channel and rejoins it downstream.**" in result.stdout
    assert result.stdout.count("[1] ") == 1
    assert result.stdout.splitlines()[-1].startswith("For a written answer: start Ollama or llama.cpp")


def test_json_has_what_scripts_rely_on(run: Run, corpus: Path) -> None:
    value = asked(run, corpus, QUESTION)
    assert (value["question"], value["abstained"], value["degraded"]) == (QUESTION, False, [])
    assert value["route"]["name"] == "compose"
    assert value["route"]["reasons"]
    for citation in value["citations"]:
        assert {*CITATION, "judged"} <= set(citation)
        assert citation["grade"] in ("quoted", "found")
        assert f"[{citation['marker']}]" in value["answer"]
    given = {passage["chunk_id"]: passage for passage in value["passages"]}
    for citation in value["citations"]:
        assert citation["quote"] in given[citation["chunk_id"]]["text"]
    for passage in value["passages"]:
        assert {"chunk_id", "source", "page", "text", "score", "heading"} <= set(passage)
        assert isinstance(passage["score"], float)
    assert value["usage"]["calls"] == value["usage"]["rounds"] == 0
    assert {"begin", "retrieve", "fuse", "cite", "finish"} <= set(value["usage"]["ms"])
    assert value["queries"][0] == {"text": QUESTION, "weight": 1.0, "kind": "asked"}
    assert value["evidence"]["verdict"] == "enough"
    assert 0.5 < value["evidence"]["confidence"] <= 1
    assert value["unconfirmed"] == []


def test_text_of_any_script_survives_json(run: Run, corpus: Path) -> None:
    question = "Was ist ein Flußarm — 河の分流?"
    result = run("ask", question, "--corpus", corpus, "--json")
    assert question in result.stdout
    assert json.loads(result.stdout)["question"] == question


def test_an_abstention_says_so(run: Run, corpus: Path) -> None:
    nowhere = ("--filter", '{"source": "nowhere.md"}')
    value = asked(run, corpus, QUESTION, *nowhere)
    assert value["abstained"] is True
    assert value["citations"] == []
    text = run("ask", QUESTION, "--corpus", corpus, *nowhere)
    assert text.exit_code == 0
    assert "did not find" in text.stdout
    assert "No chat model" not in text.stdout


def test_a_weak_match_says_so_above_the_passages(run: Run, corpus: Path) -> None:
    shown = run("ask", "Which zirconium alloy clads submarine reactor fuel?", "--corpus", corpus).stdout
    assert "They match weakly" in shown.splitlines()[0]


def test_explain_shows_the_whole_way(run: Run, corpus: Path) -> None:
    result = run("ask", QUESTION, "--corpus", corpus, "--explain")
    assert result.exit_code == 0
    for part in ("Queries", "asked", "bm25", "dense", "fused", "rivers.md", "evidence", "route", "compose", "Claims"):
        assert part in result.stdout
    for step in STEPS:
        assert step in result.stdout
    assert max(map(len, result.stdout.split("Queries", 1)[1].splitlines())) <= 100


def test_explain_in_json(run: Run, corpus: Path) -> None:
    value = asked(run, corpus, QUESTION, "--explain")
    assert value["trace"][0]["node"] == "begin"
    assert value["candidates"][0]["ranks"]
    assert value["merged"][0]["leaves"]


def test_a_question_from_standard_input(run: Run, corpus: Path) -> None:
    assert asked(run, corpus, "-", stdin=f"{QUESTION}\n")["question"] == QUESTION


@pytest.mark.parametrize(("given", "stdin"), [("", None), (" ", None), ("-", "\n")])
def test_an_empty_question_is_told_of_in_words_of_the_command_line(run: Run, given: str, stdin: str | None) -> None:
    result = run("ask", given, stdin=stdin)
    assert result.exit_code == 2
    assert "There is no question. For example: anabranch ask" in result.stderr


def test_filters_narrow_the_search(run: Run, corpus: Path) -> None:
    value = asked(run, corpus, QUESTION, "--filter", '{"source": "bees.md"}')
    assert {passage["source"] for passage in value["passages"]} <= {"bees.md"}


@pytest.mark.loopback
def test_a_filter_from_the_question_is_shown_and_can_be_taken_away(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind, said in (("contract", "is four weeks."), ("memo", "was short, and Mr Jansen asked for a longer one.")):
        text = f"---\nkind: {kind}\n---\n# Boiler\n\nThe notice period for the boiler {said}\n"
        (tmp_path / f"{kind}.md").write_text(text, encoding="utf-8")
    assert run("ingest", tmp_path, "--corpus", tmp_path / "kinds").exit_code == 0
    question = "Only contracts: what is the notice period for the boiler?"
    with OpenAIStub(model(rewrite="boiler\nONLY: kind = contract")) as stub:
        given = ("--model", "stub", "--base-url", stub.base_url)
        monkeypatch.setenv("ANABRANCH_INFER_FILTER", "true")
        value = asked(run, tmp_path / "kinds", question, *given)
        shown = run("ask", question, "--corpus", tmp_path / "kinds", *given)
        explained = run("ask", question, "--corpus", tmp_path / "kinds", *given, "--explain")
        everything = asked(run, tmp_path / "kinds", question, *given, "--no-inferred-filter")
    assert value["inferred_filter"] == "kind = contract"
    assert {passage["source"] for passage in value["passages"]} == {"contract.md"}
    assert "Searched only: kind = contract (--no-inferred-filter searches all)." in shown.stdout
    assert "only=kind = contract" in " ".join(explained.stdout.split())
    assert everything["inferred_filter"] == ""
    assert {passage["source"] for passage in everything["passages"]} == {"contract.md", "memo.md"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["ask"],
        ["ask", ""],
        ["ask", "   "],
        ["ask", "???"],
        ["ask", "x" * 100_000],
        ["ask", "x", "--set", "topk=3"],
        ["ask", "x", "--set", "top_k=many"],
        ["ask", "x", "--set", 'retrievers=["google"]'],
        ["ask", "x", "--set", "review=queries"],
        ["ask", "x", "--resume", "--thread", "t"],
        ["ask", "--resume"],
        ["ask", "--resume", "--thread", "never-used"],
        ["ask", "x", "--reply", "true"],
        ["ask", "x", "--thread", " "],
        ["ask", "x", "--filter", "[]"],
        ["ask", "x", "--filter", '{"year": {"like": 1}}'],
        ["ask", "x", "--corpus", "nowhere"],
        ["ask", "x", "--model", "openai:gpt-5-mini"],
        ["ask", "x", "--model", "nonsense"],
        ["ask", "x", "--base-url", "localhost"],
        ["ask", "x", "--set", "rerank=llm"],
        ["ask", "x", "--questions", "q.jsonl", "--out", "o.jsonl"],
        ["ask", "--questions", "q.jsonl"],
        ["ask", "x", "--bogus"],
    ],
    ids=lambda arguments: " ".join(arguments)[:40],
)
def test_the_users_mistakes(run: Run, corpus: Path, arguments: list[str]) -> None:
    result = run(*arguments, *([] if "--corpus" in arguments else ["--corpus", corpus]))
    assert result.exit_code == 2, result.stderr
    assert result.stdout == ""
    assert result.stderr.strip()
    assert "Traceback" not in result.stderr


def test_a_corpus_with_nothing_in_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.md").write_text("")
    run("ingest", tmp_path / "empty.md", "--corpus", tmp_path / "c")
    result = run("ask", "x", "--corpus", tmp_path / "c")
    assert result.exit_code == 2
    assert "holds no passage" in result.stderr


def writer(request: Request) -> Reply:
    """Write one claim that the passages hold, and nothing useful for any other step."""
    if "[1]" not in request.user and "<" not in request.user:
        return Reply("rivers that rejoin\nside channels of rivers")
    return Reply("An anabranch diverts from the main channel of a river and rejoins it downstream.")


@pytest.mark.loopback
def test_a_model_writes_when_there_is_one(run: Run, corpus: Path) -> None:
    with OpenAIStub(writer) as stub:
        value = asked(run, corpus, QUESTION, "--model", "stub", "--base-url", stub.base_url)
    assert value["route"]["name"] == "create"
    assert value["usage"]["calls"] >= 1
    assert value["usage"]["prompt_tokens"] > 0
    assert "rejoins it downstream" in value["citations"][0]["quote"]


@pytest.mark.loopback
def test_an_effort_has_an_option_and_a_quick_answer_offers_to_look_further(run: Run, corpus: Path) -> None:
    with OpenAIStub(writer) as stub:
        model = ("--model", "stub", "--base-url", stub.base_url)
        quick = run("ask", QUESTION, "--corpus", corpus, *model, "--effort", "quick")
        assert len(stub.calls) == 1
        normal = run("ask", QUESTION, "--corpus", corpus, *model, "--effort", "normal")
        assert len(stub.calls) == 3
    assert quick.stdout.rstrip().endswith("To look further, ask again with --effort normal.")
    assert "look further" not in normal.stdout
    wrong = run("ask", QUESTION, "--corpus", corpus, "--effort", "most")
    assert wrong.exit_code == 2
    assert "'effort' cannot be 'most'" in wrong.stderr


@pytest.mark.loopback
def test_a_model_that_is_down_degrades_and_says_so(run: Run, corpus: Path) -> None:
    with OpenAIStub() as stub:
        base_url = stub.base_url
    options = ("--model", "stub", "--base-url", base_url, "--set", "model_retries=0", "--set", "model_timeout=60")
    result = run("ask", QUESTION, "--corpus", corpus, *options)
    assert result.exit_code == 0
    assert f"degraded: create: 'stub' failed: no connection to {base_url} (" in result.stdout
    assert "See that the server runs and that its address is right" in result.stdout
    assert ".." not in result.stdout.replace("...", "")
    assert "the passages that match best" in result.stdout


@pytest.mark.loopback
def test_strict_fails_where_a_model_was_asked_for_and_did_not_write(run: Run, corpus: Path, tmp_path: Path) -> None:
    with OpenAIStub(Reply("out of order", status=503)) as stub:
        model = ("--model", "stub", "--base-url", stub.base_url, "--set", "model_retries=0")
        lax = run("ask", QUESTION, "--corpus", corpus, *model, "--json")
        assert lax.exit_code == 0
        assert "did not write" in json.loads(lax.stdout)["degraded"][-1]["reason"]
        strict = run("ask", QUESTION, "--corpus", corpus, *model, "--strict")
        assert strict.exit_code == 1
        assert "did not write" in strict.stderr
        questions, out = tmp_path / "q.jsonl", tmp_path / "a.jsonl"
        questions.write_text(json.dumps({"id": "1", "question": QUESTION}) + "\n")
        assert run("ask", "--questions", questions, "--out", out, "--corpus", corpus, *model, "--strict").exit_code == 1
    assert run("ask", QUESTION, "--corpus", corpus, "--strict").exit_code == 0  # no model was asked for


@pytest.mark.loopback
def test_strict_is_content_where_the_model_wrote(run: Run, corpus: Path) -> None:
    with OpenAIStub('A river diverts [1].\n\nQUOTES:\n[1] "diverts from the main channel"') as stub:
        model = ("--model", "stub", "--base-url", stub.base_url)
        assert run("ask", QUESTION, "--corpus", corpus, *model, "--strict").exit_code == 0


def test_options_that_may_be_secrets_are_not_repeated(run: Run, corpus: Path) -> None:
    given = 'model_kwargs={"api_key": "sk-very-secret"}'
    result = run("ask", QUESTION, "--corpus", corpus, "--set", given)
    assert result.exit_code == 2
    assert "environment variable" in result.stderr
    assert "sk-very-secret" not in result.stderr


@pytest.mark.loopback
def test_a_refused_key_is_the_users_mistake(run: Run, corpus: Path) -> None:
    from tests.servers.scripts import UNAUTHORISED

    with OpenAIStub(lambda request: UNAUTHORISED) as stub:
        result = run("ask", QUESTION, "--corpus", corpus, "--model", "stub", "--base-url", stub.base_url)
    assert result.exit_code == 2
    assert "refused the key" in result.stderr


def stopped_before(put: int, monkeypatch: pytest.MonkeyPatch, ask: Callable[[], Result]) -> bool:
    """Leave a thread as a kill leaves it after a step's writes and before its checkpoint; False: no such checkpoint.

    Args:
        put: Which checkpoint of the run cannot be kept: 0 is of the input, 1 of it being handed on, 2 of `begin`.
        monkeypatch: Stands in for the kill.
        ask: Runs the command.
    """
    keep, puts = AsyncSqliteSaver.aput, count()

    async def aput(self: AsyncSqliteSaver, config: Any, checkpoint: Any, metadata: Any, versions: Any) -> Any:
        if next(puts) >= put:
            raise RuntimeError("stopped")
        return await keep(self, config, checkpoint, metadata, versions)

    with monkeypatch.context() as patched:
        patched.setattr(AsyncSqliteSaver, "aput", aput)
        result = ask()
    assert (result.exit_code == 0) != ("stopped" in result.stderr), result.stderr
    return result.exit_code != 0


def to_be_asked_again(run: Run, begin: tuple[object, ...]) -> None:
    refused = run("ask", *begin, "--resume")
    assert refused.exit_code == 2
    assert "before its question was saved" in " ".join(refused.stderr.split())
    # A full stop would become part of the path that is copied.
    assert refused.stderr.rstrip().endswith(f"--corpus {begin[begin.index('--corpus') + 1]}")
    value = json.loads(run("ask", QUESTION, *begin, "--json").stdout)
    assert (value["question"], value["abstained"]) == (QUESTION, False)


class Yesterday(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return super().now(tz) - timedelta(days=1)


class TestThreads:
    def test_a_conversation_goes_on(self, run: Run, corpus: Path) -> None:
        asked(run, corpus, "What is a distributary?", "--thread", "talk")
        value = asked(run, corpus, "Does it return to the main channel?", "--thread", "talk")
        assert value["queries"][0]["kind"] == "together"
        assert "distributary" in value["queries"][0]["text"]
        fresh = asked(run, corpus, "Does it return to the main channel?", "--thread", "other")
        assert fresh["queries"][0]["kind"] == "asked"

    def test_it_is_kept_beside_the_corpus_for_its_owner_alone(self, run: Run, corpus: Path) -> None:
        asked(run, corpus, "What is a distributary?", "--thread", "private")
        for path in corpus.parent.glob("corpus.threads.db*"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert (corpus.parent / "corpus.threads.db").exists()

    def test_a_finished_thread_has_nothing_to_resume(self, run: Run, corpus: Path) -> None:
        asked(run, corpus, "What is a distributary?", "--thread", "done")
        result = run("ask", "--resume", "--thread", "done", "--corpus", corpus)
        assert result.exit_code == 2
        assert "no unfinished run" in result.stderr
        assert " ".join(result.stderr.split()).endswith(f"--thread done --corpus {corpus}")

    def test_a_run_that_failed_goes_on_where_it_stopped(self, run: Run, corpus: Path) -> None:
        begin = ("--corpus", corpus, "--thread", "stopped")
        failed = run("ask", QUESTION, *begin, "--set", "grade=llm")
        assert failed.exit_code == 2
        assert "needs a chat model" in failed.stderr
        assert run("ask", *begin, "--resume", "--reply", "true").exit_code == 2
        resumed = json.loads(run("ask", *begin, "--resume", "--set", "grade=scores", "--json", "--explain").stdout)
        assert resumed["question"] == QUESTION
        assert [step["node"] for step in resumed["trace"]].count("retrieve") == 2
        assert resumed["citations"]

    @pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.exhaustive)])
    def test_a_run_stopped_before_a_checkpoint_goes_on_where_it_stopped(
        self, run: Run, corpus: Path, monkeypatch: pytest.MonkeyPatch, every: int
    ) -> None:
        whole = asked(run, corpus, QUESTION, "--thread", f"whole-{every}", "--explain")
        for put in range(2, 24, every):
            begin = ("--corpus", corpus, "--thread", f"stopped-before-{put}-of-{every}")
            if not stopped_before(put, monkeypatch, lambda begin=begin: run("ask", QUESTION, *begin)):
                break
            resumed = run("ask", *begin, "--resume", "--json", "--explain")
            assert resumed.exit_code == 0, (put, resumed.stderr)
            value = json.loads(resumed.stdout)
            assert (value["answer"], value["citations"]) == (whole["answer"], whole["citations"])
            assert [line["node"] for line in value["trace"]] == [line["node"] for line in whole["trace"]]
            assert "no unfinished run" in run("ask", *begin, "--resume").stderr
        assert put > len({line["node"] for line in whole["trace"]})

    def test_a_run_stopped_before_a_checkpoint_is_said_to_be_left_behind(
        self, run: Run, corpus: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        begin = ("--corpus", corpus, "--thread", "left-before-a-checkpoint")
        assert stopped_before(4, monkeypatch, lambda: run("ask", QUESTION, *begin))
        assert "unfinished run" in run("ask", "Who decoded the waggle dance?", *begin).stderr

    @pytest.mark.parametrize("turns", [0, 1])
    def test_a_run_that_begin_did_not_finish_is_to_be_asked_again(self, run: Run, corpus: Path, turns: int) -> None:
        begin = ("--corpus", corpus, "--thread", f"not-taken-in-after-{turns}")
        for _ in range(turns):
            assert run("ask", "Who decoded the waggle dance?", *begin).exit_code == 0
        wrong = ("--set", "rerank=cross_encoder", "--set", "rerank_model=/nowhere")
        assert run("ask", QUESTION, *begin, *wrong).exit_code == 2
        to_be_asked_again(run, begin)

    @pytest.mark.parametrize("turns", [0, 1])
    def test_a_run_stopped_before_begin_is_to_be_asked_again(
        self, run: Run, corpus: Path, monkeypatch: pytest.MonkeyPatch, turns: int
    ) -> None:
        begin = ("--corpus", corpus, "--thread", f"not-begun-after-{turns}")
        for _ in range(turns):
            assert run("ask", "Who decoded the waggle dance?", *begin).exit_code == 0
        assert stopped_before(1, monkeypatch, lambda: run("ask", QUESTION, *begin))
        to_be_asked_again(run, begin)

    def test_a_clock_that_was_set_back_is_said(self, run: Run, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        begin = ("--corpus", corpus, "--thread", "ahead")
        for _ in range(2):
            assert "clock" not in run("ask", QUESTION, *begin).stderr
        monkeypatch.setattr("anabranch.cli.threads.datetime", Yesterday)
        assert "The clock went back" in " ".join(run("ask", QUESTION, *begin).stderr.split())

    def test_a_new_question_takes_the_place_of_an_unfinished_run(self, run: Run, corpus: Path) -> None:
        begin = ("--corpus", corpus, "--thread", "left-behind")
        run("ask", QUESTION, *begin, "--set", "review=queries")
        result = run("ask", "Who decoded the waggle dance?", *begin, "--json")
        assert "unfinished run" in result.stderr
        assert json.loads(result.stdout)["question"] == "Who decoded the waggle dance?"

    def test_a_file_that_is_no_database_is_said_to_be_none(self, run: Run, documents: Path, tmp_path: Path) -> None:
        run("ingest", documents, "--corpus", tmp_path / "c")
        (tmp_path / "c.threads.db").write_text("not a database " * 100)
        result = run("ask", QUESTION, "--corpus", tmp_path / "c", "--thread", "t")
        assert result.exit_code == 1
        assert "c.threads.db" in result.stderr


class TestReview:
    def test_queries_wait_for_a_word(self, run: Run, corpus: Path) -> None:
        begin = ("--corpus", corpus, "--thread", "review-queries")
        paused = run("ask", QUESTION, *begin, "--set", "review=queries")
        assert paused.exit_code == 0
        assert f"1. {QUESTION}" in paused.stdout
        assert "--thread review-queries --resume" in paused.stdout
        edited = json.loads(run("ask", *begin, "--resume", "--reply", '["honey bees"]', "--json").stdout)
        assert [query["text"] for query in edited["queries"]] == ["honey bees"]
        assert edited["question"] == QUESTION

    def test_sources_wait_for_a_word(self, run: Run, corpus: Path) -> None:
        begin = ("--corpus", corpus, "--thread", "review-sources")
        waiting = json.loads(run("ask", QUESTION, *begin, "--set", "review=sources", "--json").stdout)
        offered = [passage["id"] for passage in waiting["waiting"]["passages"]]
        again = json.loads(run("ask", *begin, "--resume", "--json").stdout)
        assert again["waiting"] == waiting["waiting"]
        kept = json.loads(run("ask", *begin, "--resume", "--reply", json.dumps(offered[:1]), "--json").stdout)
        assert {passage["chunk_id"] for passage in kept["passages"]} == {offered[0]}

    def test_a_reply_that_cannot_be_used_leaves_the_run_waiting(self, run: Run, corpus: Path) -> None:
        begin = ("--corpus", corpus, "--thread", "review-bad")
        run("ask", QUESTION, *begin, "--set", "review=sources")
        for reply in ('["made-up"]', "[]", "5", "{"):
            result = run("ask", *begin, "--resume", "--reply", reply)
            assert result.exit_code == 2
            assert "Traceback" not in result.stderr
        assert run("ask", *begin, "--resume", "--reply", "true").exit_code == 0


@pytest.mark.parametrize(("how", "said"), [("--resume goes on.", "--resume goes on.\n"), ("", "")])
def test_ctrl_c_says_how_to_go_on_where_something_was_kept(
    capsys: pytest.CaptureFixture[str], how: str, said: str
) -> None:
    with pytest.raises(KeyboardInterrupt), hint_after_interrupt(lambda: how):
        raise KeyboardInterrupt
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("how", [("--corpus", "{}"), ("--set", "corpus={}")])
def test_ctrl_c_prints_a_command_that_goes_on_when_pasted(
    run: Run, tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch, how: tuple[str, str]
) -> None:
    async def stopped(*_: Any) -> None:
        raise KeyboardInterrupt

    place = (tmp_path / "my corpus").symlink_to(corpus) or tmp_path / "my corpus"
    given = (how[0], how[1].format(place))
    run("ask", QUESTION, *given, "--thread", "my thread", "--set", "review=queries")
    with monkeypatch.context() as patch:
        patch.setattr("anabranch.cli.ask_turn.answer", stopped)
        result = run("ask", "And now?", *given, "--thread", "my thread")
        assert result.exit_code == 130
        printed = next(line for line in result.stderr.splitlines() if line.startswith("anabranch "))
        alone = run("ask", "And now?", "--thread", "t", env={"ANABRANCH_CORPUS": str(place)})
        # Nothing was saved of it: to resume would be refused.
        assert 'nothing to resume. To ask again:\nanabranch ask "..." --thread t\n' in alone.stderr
    resumed = run(*shlex.split(printed)[1:])
    assert resumed.exit_code == 0, resumed.stderr
    assert f"1. {QUESTION}" in resumed.stdout
    (accept,) = [line for line in resumed.stdout.splitlines() if line.startswith("Accept:")]
    assert run(*shlex.split(accept)[2:]).exit_code == 0


@pytest.mark.parametrize(
    ("snapshot", "begun"), [({"next": ("map",)}, True), ({"next": ("begin",)}, False), ({}, False)]
)
def test_ctrl_c_names_the_file_of_rows_and_resumes_only_what_was_saved(
    run: Run, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: dict[str, Any], begun: bool
) -> None:
    async def stopped(*_: Any) -> None:
        raise KeyboardInterrupt

    async def kept(*_: Any) -> StateSnapshot:
        whole = {"values": {}, "next": (), "config": {}, "metadata": None, "created_at": None, "parent_config": None}
        return StateSnapshot(**{**whole, "tasks": (), "interrupts": (), **snapshot})

    run("ask", QUESTION, "--corpus", corpus, "--thread", "rr")  # makes the file of threads
    monkeypatch.setattr("anabranch.cli.ask_turn.answer", stopped)
    monkeypatch.setattr(CompiledStateGraph, "aget_state", kept)
    rows = tmp_path / "my rows.csv"
    result = run("ask", QUESTION, "--corpus", corpus, "--thread", "rr", "--rows", rows)
    printed = result.stderr.splitlines()[1]
    expected = ["--thread", "rr", *(["--resume"] if begun else []), "--rows", str(rows), "--corpus", str(corpus)]
    assert shlex.split(printed) == ["anabranch", "ask", *([] if begun else ["..."]), *expected]


def test_k_says_how_many_passages_are_found(run: Run, corpus: Path) -> None:
    assert len(asked(run, corpus, QUESTION, "-k", "1", "--explain")["merged"]) == 1


def test_a_filter_that_matches_nothing_is_said_to(run: Run, corpus: Path) -> None:
    for command in ("ask", "search"):
        result = run(command, QUESTION, "--corpus", corpus, "--filter", '{"source": "nowhere.md"}')
        assert result.exit_code == 0
        assert "match the filter" in result.stdout
        assert "match the filter" not in run(command, QUESTION, "--corpus", corpus).stdout


def test_an_abstention_repeats_the_question_as_it_was_asked(run: Run, corpus: Path) -> None:
    shown = run("ask", QUESTION, "--corpus", corpus, "--filter", '{"source": "nowhere.md"}').stdout
    assert f"Looked for: “{QUESTION}”." in shown
    assert "cosine" not in shown


@pytest.mark.parametrize(("model", "said"), [("foo:bar", "no provider 'foo'"), ("llama3", "it names no provider")])
def test_a_model_of_no_provider_is_said_in_our_words(run: Run, corpus: Path, model: str, said: str) -> None:
    result = run("ask", QUESTION, "--corpus", corpus, "--model", model)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Spell it 'provider:name' (openai:gpt-5-mini), or give base_url as well." in result.stderr
    assert "model_provider" not in result.stderr
