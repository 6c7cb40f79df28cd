from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from anabranch.cli import installation_checks
from anabranch.cli.installation_checks import FOR_DEVELOPERS, extras_check, packages_of_extras
from anabranch.models import local_servers
from anabranch.models.local_servers import LocalServer
from tests.cli.conftest import Run
from tests.servers.openai_stub import OpenAIStub
from tests.shared_fixtures import REPOSITORY


def checks(result: Any) -> dict[str, dict[str, str]]:
    return {check["name"]: check for check in json.loads(result.stdout)["checks"]}


def test_all_is_well(run: Run, corpus: Path) -> None:
    result = run("doctor", "--corpus", corpus, "--json")
    assert result.exit_code == 0
    found = checks(result)
    assert found["corpus"]["status"] == "ok"
    assert "3 documents" in found["corpus"]["said"]
    assert found["embedder"]["status"] == "ok"
    assert (found["model"]["status"], found["keys"]["status"]) == ("off", "off")
    assert "passages that match best" in found["model"]["said"]


def _packages(extra: str, optional: dict[str, list[str]]) -> list[str]:
    """Return what an extra brings, by itself and by those of ours that it names."""
    own = re.compile(r"anabranch\[([\w,-]+)\]")
    named = [name for each in optional[extra] if (found := own.match(each)) for name in found[1].split(",")]
    plain = [each for each in optional[extra] if not own.match(each)]
    return [*plain, *(each for name in named for each in _packages(name, optional))]


def test_no_extra_is_forgotten(run: Run, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by doctor nor by the guide, whatever pyproject.toml has."""
    optional = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    wanted = sorted(set(optional) - set(FOR_DEVELOPERS))
    assert {name: len(packages) for name, packages in packages_of_extras().items()} == {
        name: len(_packages(name, optional)) for name in wanted
    }
    guide = (REPOSITORY / "docs" / "getting-started.md").read_text("utf-8")
    assert sorted(re.findall(r"^\| `([\w-]+)` \|", guide, re.MULTILINE)) == sorted({*wanted, "dev"})
    monkeypatch.setattr(installation_checks, "_version", lambda name: "" if name == "rapidocr" else "1")
    said = checks(run("doctor", "--corpus", corpus, "--json"))["extras"]["said"]
    # Half of an extra is none: Pillow is here for other reasons, too.
    assert said == f"installed: {', '.join(name for name in wanted if name != 'ocr')}; not installed: ocr"


def test_the_extras_of_a_copy_that_is_not_installed_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> list[str]:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(installation_checks, "requires", nowhere)
    assert "not known" in extras_check().said


def test_the_screen_for_a_person(run: Run, corpus: Path) -> None:
    result = run("doctor", "--corpus", corpus)
    assert result.exit_code == 0
    assert "extensions" in result.stdout


def test_a_default_corpus_that_is_not_made_yet_is_only_noted(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("doctor", "--json")
    assert result.exit_code == 0
    assert checks(result)["corpus"]["status"] == "note"
    assert "anabranch ingest" in checks(result)["corpus"]["hint"]


def test_a_corpus_that_was_named_has_to_be_there(run: Run, tmp_path: Path) -> None:
    result = run("doctor", "--corpus", tmp_path / "none", "--json")
    assert result.exit_code == 1
    assert checks(result)["corpus"]["status"] == "problem"


def test_a_key_is_named_and_never_shown(run: Run, corpus: Path) -> None:
    result = run("doctor", "--corpus", corpus, "--json", env={"OPENAI_API_KEY": "sk-very-secret"})
    found = checks(result)
    assert found["keys"]["said"] == "OPENAI_API_KEY"
    assert "--model openai:" in found["model"]["hint"]
    assert "very-secret" not in result.stdout + result.stderr


def test_a_model_without_its_key_is_a_problem(run: Run, corpus: Path) -> None:
    result = run("doctor", "--corpus", corpus, "--model", "openai:gpt-5-mini", "--json")
    assert result.exit_code == 1
    assert "key" in checks(result)["model"]["said"]


def test_a_server_without_a_model_is_a_problem(run: Run, corpus: Path) -> None:
    result = run("doctor", "--corpus", corpus, "--base-url", "http://127.0.0.1:9/v1", "--json")
    assert result.exit_code == 1
    assert checks(result)["model"]["status"] == "problem"


@pytest.mark.loopback
def test_auto_says_what_it_found_on_this_machine(run: Run, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_servers, "SECONDS", 30)  # the machine may be busy
    with OpenAIStub() as stub:
        port = int(stub.url.rpartition(":")[2])
        monkeypatch.setattr(local_servers, "SERVERS", (LocalServer("llama.cpp", port, "/v1/models"),))
        there = run("doctor", "--corpus", corpus, "--model", "auto", "--json")
    gone = run("doctor", "--corpus", corpus, "--model", "auto", "--json")
    local_servers._found.clear()
    assert checks(there)["model"]["said"] == f"auto found stub of llama.cpp at 127.0.0.1:{port}"
    assert gone.exit_code == 1
    assert "auto found no chat model" in checks(gone)["model"]["said"]


@pytest.mark.loopback
def test_a_server_of_ones_own_is_asked_for_its_models(run: Run, corpus: Path) -> None:
    with OpenAIStub() as stub:
        there = run("doctor", "--corpus", corpus, "--model", "stub", "--base-url", stub.base_url, "--json")
        other = run("doctor", "--corpus", corpus, "--model", "llama", "--base-url", stub.base_url, "--json")
    gone = run("doctor", "--corpus", corpus, "--model", "stub", "--base-url", stub.base_url, "--json")
    assert checks(there)["model"]["status"] == "ok"
    assert checks(other)["model"]["status"] == "note"
    assert "stub" in checks(other)["model"]["hint"]
    assert (checks(gone)["model"]["status"], gone.exit_code) == ("problem", 1)


def test_variables_that_nothing_reads_are_pointed_out(run: Run, corpus: Path) -> None:
    result = run("doctor", "--corpus", corpus, "--json", env={"ANABRANCH_TOPK": "5", "ANABRANCH_ALPHA": "0.3"})
    assert result.exit_code == 0
    found = checks(result)
    assert "ANABRANCH_TOPK" in found["environment"]["said"]
    assert "ANABRANCH_TOP_K" in found["environment"]["hint"]
    assert "alpha=0.3 (environment)" in found["settings"]["said"]


def test_settings_that_cannot_be_used_are_a_problem(run: Run, corpus: Path) -> None:
    result = run("doctor", "--corpus", corpus, "--json", env={"ANABRANCH_TOP_K": "none"})
    assert result.exit_code == 1
    assert "ANABRANCH_TOP_K" in checks(result)["settings"]["said"]


def test_a_retriever_that_needs_a_model_is_a_problem_without_one(run: Run, corpus: Path) -> None:
    result = run("doctor", "--json", "--corpus", str(corpus), "--set", 'retrievers=["llm"]')
    assert result.exit_code != 0
    assert checks(result)["model"]["status"] == "problem"


@pytest.mark.parametrize("setting", ["rerank=cohere", "rerank=cross_encoder", "rerank=llm"])
def test_a_reranker_that_cannot_work_is_a_problem(run: Run, corpus: Path, setting: str) -> None:
    result = run("doctor", "--corpus", corpus, "--set", setting, "--json")
    assert result.exit_code == 1
    assert checks(result)["rerank"]["status"] == "problem"
