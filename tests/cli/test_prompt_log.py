"""What a model is sent can be read: every prompt, of each passage its first line, where that is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage

from anabranch.cli.prompt_log import PromptLog
from anabranch.models.document_blocks import as_request
from anabranch.safety.prompt_envelope import new_nonce, with_first_lines, wrap
from tests.cli.conftest import Run
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

QUESTION = "What is an anabranch?"
PASSAGES = [(1, "weir.md", "First line.\nSecond line."), (7, "", "x" * 300), (8, "a", "Short.")]


def writer(request: Request) -> Reply:
    if "Number of lines" in request.user:
        return Reply("rivers that rejoin\nside channels of rivers")
    return Reply("An anabranch diverts from the main channel of a river and rejoins it downstream.")


def test_passages_are_shortened_and_nothing_else_is() -> None:
    text = with_first_lines(f"Before.\nStill before.\n\n{wrap(PASSAGES, new_nonce())}\n\nQuestion: what?\nAnswer:")
    before, rest = text.split("<passages-")
    assert before == "Before.\nStill before.\n\n"
    assert "\n[1] weir.md\nFirst line. ...\n\n[7]\n" in rest
    assert f"\n{'x' * 100} ...\n" in rest
    assert "\n[8] a\nShort.\n</passages-" in rest
    assert "Second" not in rest
    assert rest.endswith("\n\nQuestion: what?\nAnswer:")


def test_passages_that_are_sent_as_documents_are_shown_too() -> None:
    log = PromptLog()
    request = as_request("Be brief.", f"{wrap(PASSAGES, new_nonce())}\n\nQuestion: what?", documents=True)
    log.on_chat_model_start({}, [request.messages], metadata={"langgraph_node": "create"})
    (sent,) = log.sent
    assert (sent["step"], sent["system"]) == ("create", "Be brief.")
    assert sent["user"].startswith("document: weir.md\nFirst line. ...\ndocument: \nxxx")
    assert sent["user"].endswith("document: a\nShort.\nQuestion: what?")
    assert log.whole[0]["user"].startswith(f"document: weir.md\nFirst line.\nSecond line.\ndocument: \n{'x' * 300}\n")


def test_a_whole_prompt_has_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789")
    log = PromptLog()
    log.on_chat_model_start({}, [[HumanMessage("Is sk-0123456789 mine?")]], metadata={"langgraph_node": "create"})
    assert [prompt["user"] for prompt in log.whole] == ["Is *** mine?"]


@pytest.mark.loopback
def test_explain_shows_each_prompt_as_it_was_sent(run: Run, corpus: Path) -> None:
    with OpenAIStub(writer) as stub:
        given = ("ask", QUESTION, "--corpus", corpus, "--model", "stub", "--base-url", stub.base_url)
        shown = run(*given, "--explain").stdout
        asked = [call.request for call in stub.calls]
        value = json.loads(run(*given, "--explain", "--json").stdout)
        plain = json.loads(run(*given, "--json").stdout)
    assert [prompt["step"] for prompt in value["prompts"]] == ["rewrite", "create"]
    for number, (prompt, request) in enumerate(zip(value["prompts"], asked, strict=True), start=1):
        assert prompt["system"] == request.system
        assert f"Prompt {number} of 2, {prompt['step']}" in shown
        assert " ".join(prompt["system"].split()) in " ".join(shown.split())
        assert request.user.splitlines()[-1] in shown
    assert value["prompts"][0]["user"] == asked[0].user
    # Nothing of it where it was not asked for, nor in what a server would keep.
    assert "prompts" not in plain
    assert "<passages-" not in json.dumps(value["trace"])


@pytest.mark.loopback
@pytest.mark.parametrize("spelling", [("--explain", "prompts"), ("--explain=prompts",)])
def test_explain_prompts_shows_each_prompt_whole(run: Run, corpus: Path, spelling: tuple[str, ...]) -> None:
    with OpenAIStub(writer) as stub:
        given = ("ask", "--corpus", corpus, "--model", "stub", "--base-url", stub.base_url, *spelling, QUESTION)
        shown = run(*given, env={"COLUMNS": "80"}).stdout
        asked = [call.request for call in stub.calls]
        value = json.loads(run(*given, "--json").stdout)
    assert shown.startswith("An anabranch diverts from the main channel")
    assert "Queries" not in shown
    for number, (step, request) in enumerate(zip(("rewrite", "create"), asked, strict=True), start=1):
        # Line for line, so that it can be copied.
        assert f"\nPrompt {number} of 2, {step}\nsystem\n{request.system}\nuser\n{request.user}\n" in shown
    assert "Anabranches can be" in asked[1].user
    # The nonce of an envelope is drawn anew in each run.
    rows = [row for row in asked[1].user.splitlines() if "passages-" not in row]
    assert [row for row in value["prompts"][1]["user"].splitlines() if "passages-" not in row] == rows


def test_without_a_model_there_is_no_prompt_to_show(run: Run, corpus: Path) -> None:
    assert "No prompt was sent" in run("ask", QUESTION, "--corpus", corpus, "--explain", "prompts").stdout


def test_explain_is_a_flag_before_a_question(run: Run, corpus: Path) -> None:
    shown = run("ask", "--explain", QUESTION, "--corpus", corpus)
    assert shown.exit_code == 0
    assert "Queries" in shown.stdout
    assert run("ask", "--corpus", corpus, "--explain", "--", "prompts").stdout.count("Queries") == 1
