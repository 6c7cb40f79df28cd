"""`anabranch doctor --judge`: models that can judge claims, and some that cannot."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from anabranch_evaluation.judge_pairs import read_judge_pairs
from tests.cli.conftest import Run
from tests.servers.calls import Request
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import BROKEN, Reply, Script

pytestmark = pytest.mark.loopback

TRUE = {pair.claim for pair in read_judge_pairs() if pair.is_true}


def _claim(request: Request) -> str:
    found = re.search(r"^Statement: (.+)$", request.user, re.MULTILINE)
    assert found
    return found[1]


def knowing(request: Request) -> Reply:
    """Know every answer, and be a little less sure of the false ones than of the true ones."""
    yes = 0.9 if _claim(request) in TRUE else 0.6
    return Reply("Yes", chances={"Yes": yes, "No": 1 - yes})


def without_probabilities(request: Request) -> Reply:
    """Know every answer, on a server that takes no question for probabilities."""
    if "logprobs" in request.body:
        return Reply("Unknown field: logprobs", status=400)
    return Reply("Yes." if _claim(request) in TRUE else "No.")


def credulous(_request: Request) -> Reply:
    """Say yes to everything."""
    return Reply("Yes.")


def chatty(_request: Request) -> Reply:
    """Never say yes or no."""
    return Reply("That is an interesting question.")


def _judge(run: Run, corpus: Path, script: Script | Reply, *options: str) -> tuple[int, dict[str, Any]]:
    with OpenAIStub(script) as stub:
        given = ["--corpus", str(corpus), "--model", "openai:stub", "--base-url", stub.base_url, "--json", *options]
        result = run("doctor", "--judge", "--set", "model_retries=0", *given)
    assert result.stdout, result.output
    (found,) = [check for check in json.loads(result.stdout)["checks"] if check["name"] == "judge"]
    return result.exit_code, found


def test_a_model_that_orders_the_statements_can_judge(run: Run, corpus: Path) -> None:
    code, check = _judge(run, corpus, knowing)
    assert (code, check["status"]) == (0, "ok")
    assert "can judge claims: AUC 1.00, where 0.80 is enough; 20 of 20 true statements held, 0 of 20" in check["said"]
    assert "by the probabilities" in check["said"]
    assert "verify=llm" in check["hint"]


def test_one_whose_server_tells_no_probabilities_is_judged_by_its_words(run: Run, corpus: Path) -> None:
    _, check = _judge(run, corpus, without_probabilities)
    assert check["status"] == "ok"
    assert "AUC 1.00" in check["said"]
    assert "20 of 20 false ones refused" in check["said"]
    assert "by its words yes and no only" in check["said"]


@pytest.mark.parametrize(("script", "why"), [(credulous, "AUC 0.50"), (chatty, "40 of 40 without a yes or a no")])
def test_one_that_cannot_is_told_so_in_plain_words(script: Script, why: str, run: Run, corpus: Path) -> None:
    code, check = _judge(run, corpus, script)
    assert (code, check["status"]) == (0, "note")
    assert "cannot judge claims" in check["said"]
    assert why in check["said"]
    assert check["hint"].startswith("Leave verify at 'words'")


def test_it_is_a_problem_where_its_judgement_is_asked_for(run: Run, corpus: Path) -> None:
    code, check = _judge(run, corpus, credulous, "--set", "verify=llm")
    assert (code, check["status"]) == (1, "problem")


def test_a_server_that_fails_is_a_problem(run: Run, corpus: Path) -> None:
    code, check = _judge(run, corpus, BROKEN)
    assert (code, check["status"]) == (1, "problem")


def test_without_a_model_there_is_nothing_to_try(run: Run, corpus: Path) -> None:
    result = run("doctor", "--judge", "--corpus", corpus, "--json")
    (check,) = [check for check in json.loads(result.stdout)["checks"] if check["name"] == "judge"]
    assert (check["status"], check["said"]) == ("problem", "no chat model is set")
    assert result.exit_code == 1


def test_nobody_is_asked_without_the_option(run: Run, corpus: Path) -> None:
    with OpenAIStub(credulous) as stub:
        result = run("doctor", "--corpus", corpus, "--model", "openai:stub", "--base-url", stub.base_url, "--json")
        assert [call for call in stub.calls if call.request.kind == "chat"] == []
    assert "judge" not in {check["name"] for check in json.loads(result.stdout)["checks"]}
