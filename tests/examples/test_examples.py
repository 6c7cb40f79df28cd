"""The experiments of the guide run as they are written, on small documents."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from examples import annual_report, novel, paper, parents, reading, sentences, tree, writing
from plugins.onnx.tests.pair_models import counter
from tests.graph.replies import model
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub
from tests.shared_fixtures import REPOSITORY

WEIR = REPOSITORY / "tests" / "samples" / "weir.md"
FLOOD = REPOSITORY / "tests" / "samples" / "flood.md"
QUESTIONS = {
    novel: (WEIR, "Who built the Halden weir?", "Ida Marrow"),
    annual_report: (FLOOD, "At which level does the gauge at Brannock give an alarm?", "2.8 metres"),
    paper: (WEIR, "How many salmon were counted in the best year?", "1,412"),
    tree: (WEIR, "Who built the Halden weir?", "Ida Marrow"),
    writing: (WEIR, "Who built the Halden weir?", "Ida Marrow"),
    parents: (WEIR, "Who built the Halden weir?", "Ida Marrow"),
}


def _run(module: ModuleType, *arguments: Any) -> str:
    app = typer.Typer()
    app.command()(module.main)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("module", QUESTIONS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_an_experiment_without_a_model(module: ModuleType, tmp_path: Path) -> None:
    document, question, answer = QUESTIONS[module]
    output = _run(module, document, "--question", question, "--home", tmp_path)
    said = output[output.index("\nAnswer\n") :]
    assert answer in said
    assert f"[1] {document.name}" in said
    assert "0 calls in 0 rounds" in said


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("module", "steps"),
    [
        # Ten passages are too many for these documents: as many as there are, in batches of five.
        (novel, {"rerank", "create"}),
        (annual_report, {"rerank", "create"}),
        (paper, {"rewrite", "create"}),
        (tree, {"create", "reduce"}),
        (parents, {"create"}),
    ],
    ids=lambda value: value.__name__.rpartition(".")[2] if isinstance(value, ModuleType) else "",
)
def test_an_experiment_with_a_model(
    module: ModuleType, steps: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.graph.replies import step_of

    monkeypatch.setenv("OPENAI_API_KEY", "none")
    document, question, _ = QUESTIONS[module]
    with OpenAIStub(model()) as stub:
        given = ("--question", question, "--model", "openai:stub", "--base-url", stub.base_url, "--home", tmp_path)
        output = _run(module, document, *given)
        assert {step_of(call.request) for call in stub.calls} == steps
    assert re.search(r"\n  [1-9]\d* calls in [1-9]\d* rounds", output)
    assert ("4 queries, 8 ranked lists" in output) == (module is paper)


@pytest.mark.loopback
def test_the_tree_grows_from_six_passages_in_three_levels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    text = "\n\n".join(
        f"# Part {part}\n\n" + f"The {part} mill grinds flour for the town. " * 12 for part in "abcdefgh"
    )
    (tmp_path / "mills.md").write_text(text, encoding="utf-8")
    with OpenAIStub(model()) as stub:
        given = ("--model", "openai:stub", "--base-url", stub.base_url, "--home", tmp_path / "home")
        output = _run(tree, tmp_path / "mills.md", "--question", "Summarise all the mills.", *given)
    assert "map: 6 calls at the same time" in output
    assert [int(calls) for calls in re.findall(r"reduce: (\d) calls", output)] == [3, 1, 1]


@pytest.mark.loopback
def test_the_same_passages_are_written_in_three_ways_by_templates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    def script(request: Request) -> Reply:
        return Reply("KEEP") if "or KEEP:" in request.user else model()(request)

    with OpenAIStub(script) as stub:
        given = ("--model", "openai:stub", "--base-url", stub.base_url, "--home", tmp_path)
        output = _run(writing, WEIR, "--question", "Who built the Halden weir?", *given)
        asked = [call.request.user for call in stub.calls]
    assert re.findall(r"\nsynthesis: (\w+)\n", output) == ["stuff", "refine", "map_reduce"]
    assert re.findall(r"\nRoute\n  (\w+)", output) == ["create", "refine", "map_reduce"]
    assert sum("Given the context alone, answer the query." in user for user in asked) >= 4
    assert any("Query: Who built the Halden weir?\nAnswer: " in user and "or KEEP:" in user for user in asked)
    assert not any("{context_str}" in user for user in asked)


@pytest.mark.loopback
def test_a_model_reads_everything_or_reranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.graph.replies import step_of

    monkeypatch.setenv("OPENAI_API_KEY", "none")
    question = ("--question", "Who built the Halden weir?", "--home", tmp_path)
    alone = _run(reading, WEIR, *question)
    assert len(re.findall(r"\n  \d\.\d{3} \(", alone)) == 3
    assert "model" not in alone
    with OpenAIStub(model()) as stub:
        output = _run(reading, WEIR, *question, "--model", "openai:stub", "--base-url", stub.base_url)
        assert [step_of(call.request) for call in stub.calls][-1] == "retrieve"
        assert {step_of(call.request) for call in stub.calls} == {"rerank", "retrieve"}
    assert "(llm 1)" in output.partition("The model alone, which read everything")[2]


def test_more_is_merged_the_lower_the_threshold(tmp_path: Path) -> None:
    output = _run(parents, WEIR, "--question", "Who built the Halden weir?", "--home", tmp_path)
    counts = [int(count) for count in re.findall(r"threshold \S+: (\d+) passages", output)]
    assert len(counts) == 4
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]


def test_five_of_the_sentences_are_reranked_by_a_cross_encoder(tmp_path: Path) -> None:
    home = counter(tmp_path / "model", place="onnx/model.onnx")
    kept = _run(sentences, "--home", tmp_path, "--cross-encoder", home).partition("five of them reranked\n")[2]
    assert len(kept.splitlines()) == 3
    assert all(line.startswith("  0.000 s") for line in kept.splitlines())  # that model counts weirs


def test_ten_sentences_by_words_by_meaning_and_by_both(tmp_path: Path) -> None:
    output = _run(sentences, "--home", tmp_path)
    blocks = re.findall(r"alpha (\S+)\n((?:  .+\n)+)", output)
    assert [alpha for alpha, _ in blocks] == ["0", "0.5", "1"]
    first = {alpha: re.match(r"  \S+ (s\d+):", lines)[1] for alpha, lines in blocks}
    assert first["0"] == "s4"  # shares the word "reads", which only it has
    assert first["1"] == "s10"  # says why
    assert first["0.5"] == "s10"
    assert "s4" in blocks[1][1]


def test_a_document_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty.pdf").write_bytes(b"")
    app = typer.Typer()
    app.command()(novel.main)
    result = CliRunner().invoke(app, [str(tmp_path / "empty.pdf"), "--home", str(tmp_path / "home")])
    assert result.exit_code != 0
    assert "empty.pdf" in str(result.exception)


def test_the_guide_names_every_experiment_and_no_other() -> None:
    guide = (REPOSITORY / "docs" / "experiments.md").read_text(encoding="utf-8")
    others = {"__init__", "running", "agent", "deep_agent", "expansion"}  # these are in embedding.md
    scripts = {path.stem for path in (REPOSITORY / "examples").glob("*.py")} - others
    assert set(re.findall(r"`examples\.(\w+)`", guide)) == scripts
    assert set(re.findall(r"python -m examples\.(\w+)", guide)) == scripts


def test_the_ten_sentences_in_the_guide_are_those_of_the_script() -> None:
    guide = (REPOSITORY / "docs" / "experiments.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^  \d\.\d{3} s(\d+): (.+)$", guide, flags=re.MULTILINE))
    assert len(shown) >= 4
    assert all(sentences.SENTENCES[int(number) - 1] == text for number, text in shown.items())
