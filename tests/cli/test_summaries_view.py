"""`ingest --summaries`: what is refused before anything is read, and what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import DOCUMENTS, Run
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub


def summary(request: Request) -> Reply:
    assert "You write the summary of a document" in request.system
    return Reply("down", status=400) if "Honey bees" in request.user else Reply("What it is about.")


@pytest.mark.loopback
def test_it_prints_what_was_written_and_what_failed(run: Run, documents: Path, tmp_path: Path) -> None:
    with OpenAIStub(summary) as stub, OpenAIStub() as vectors:
        chat = ("--summaries", "--model", "stub", "--base-url", stub.base_url)
        embedder = ("--embedder", "openai:stub", "--embedder-url", vectors.base_url)
        given = ("ingest", documents, "--corpus", tmp_path / "c", *chat, *embedder)
        first = run(*given)
        second = run(*given)
        in_json = run(*given, "--json")
    assert first.exit_code == 0
    assert "3 added" in first.stdout
    assert "\n2 summaries written (" in first.stdout
    assert "bees.md: no summary: " in first.stderr
    # The document that failed is tried again, and no other.
    assert "\n0 summaries written (" in second.stdout
    assert "Stopped, because no call of 1 succeeded" in second.stderr
    assert second.exit_code == 1
    assert in_json.stdout.startswith("[")
    assert "0 summaries written" in in_json.stderr
    assert [call.request.kind for call in stub.calls] == ["chat"] * (len(DOCUMENTS) + 2)
    assert {call.request.kind for call in vectors.calls} == {"embedding"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--summaries"], "--summaries needs a chat model"),
        (["--model", "openai:gpt-5-mini"], "--model and --base-url name the chat model of --summaries"),
        (["--base-url", "http://127.0.0.1:9/v1"], "--embedder-url name the embedder"),
        (["--summaries", "--model", "openai:gpt-5-mini"], "needs a key"),
        (["--summaries", "--base-url", "http://127.0.0.1:9/v1"], "but no model is given"),
        (["--summaries", "--queue", "--model", "x"], "--summaries cannot be combined with --queue"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_read(
    run: Run, documents: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    result = run("ingest", documents, "--corpus", tmp_path / "c", *options)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert not (tmp_path / "c").exists()
