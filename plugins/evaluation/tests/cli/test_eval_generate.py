"""Questions that a chat model writes are a collection that the evaluation reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, rows_of
from tests.graph.replies import passages_in
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

pytestmark = pytest.mark.loopback


def writer(request: Request) -> Reply:
    """Ask about the passage in its last words; of one passage, invent the evidence."""
    (text,) = passages_in(request).values()
    words = text.split()
    if "Mississippi" in text:
        return Reply("What is long?\nThe Nile\nThe Nile is the longest river of all.")
    return Reply(f"What is said of {' '.join(words[1:5])}?\n{words[-1]}\n“{' '.join(words[-9:])}”")


def test_questions_are_written_and_measured(run: Run, corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "asked"
    with OpenAIStub(writer) as stub:
        given = ("--set", "model=openai:m", "--set", f"base_url={stub.base_url}")
        result = run("eval", folder, "--corpus", corpus, "--generate", 20, *given)
        calls = len(stub.calls)
    assert result.exit_code == 0, result.stderr
    written = rows_of(folder / "questions.jsonl")
    assert f"{len(written)} questions from {calls} of {calls} passages" in result.stderr
    assert 1 <= len(written) == calls - 1
    assert {row["doc"] for row in written} <= {"rivers.md", "bees.md", "cellar notes.txt"}
    measured = run("eval", folder, "--corpus", corpus, "--json", "--only", "default")
    assert measured.exit_code == 0, measured.stderr
    (collection,) = json.loads(measured.stdout)["collections"]
    assert collection["queries"] == len(written)
    assert collection["scores"]["default"]["Success@24"] == 1.0
    # What is there is not written over.
    again = run("eval", folder, "--corpus", corpus, "--generate", 2, "--set", "model=openai:m")
    assert again.exit_code == 2
    assert "exists already" in again.stderr


def test_the_corpus_may_be_that_of_the_environment(run: Run, corpus: Path, tmp_path: Path) -> None:
    result = run("eval", tmp_path / "asked", "--generate", 3, env={"ANABRANCH_CORPUS": str(corpus)})
    assert "needs a chat model" in result.stderr


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [([], 2, "--corpus DIR"), (["--corpus"], 2, "needs a chat model"), (["--corpus", "nonsense"], 1, "could be used")],
)
def test_what_cannot_work_is_said(
    run: Run, corpus: Path, tmp_path: Path, given: list[str], code: int, said: str
) -> None:
    with OpenAIStub("I cannot.") as stub:
        options = ["--corpus", corpus] if given else []
        options += ["--set", "model=openai:m", "--set", f"base_url={stub.base_url}"] if "nonsense" in given else []
        result = run("eval", tmp_path / "asked", "--generate", 3, *options)
    assert result.exit_code == code
    assert said in " ".join(result.stderr.split())
    assert not (tmp_path / "asked").exists()
