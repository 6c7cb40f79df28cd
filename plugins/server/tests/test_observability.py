"""What an operator sees of `anabranch serve`: log lines, metrics and spans, with ids in them and no text."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from anabranch.ingestion.pipeline import ingest
from anabranch_server.identity.api_keys import digest_of_secret, new_key
from plugins.server.tests.dev_server import dev_server
from plugins.server.tests.otlp_collector import OtlpCollector, collecting
from plugins.server.tests.serve_process import ServeProcess, serving
from tests.graph.replies import model
from tests.servers.openai_stub import OpenAIStub
from tests.servers.scripts import Reply
from tests.shared_fixtures import REPOSITORY

pytestmark = [pytest.mark.loopback, pytest.mark.slow]

CANARY = "zxqcanary"
QUESTION = f"Who built the Halden weir, {CANARY}?"
KEYS = {name: new_key() for name in ("alicia", "rooty")}


@dataclass
class Watched:
    """A server, and what came out of it for a question."""

    server: ServeProcess
    collector: OtlpCollector
    answer: dict[str, Any]

    def get(self, path: str, **headers: str) -> httpx.Response:
        return httpx.get(f"{self.server.url}{path}", headers=headers, timeout=60)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.server.log.read_text().splitlines()]


def _bearer(name: str) -> str:
    return f"Bearer {KEYS[name]}"


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    home = tmp_path_factory.mktemp("watched")
    shutil.copytree(REPOSITORY / "tests" / "samples", home / "samples")
    ingest([home / "samples"], home / "corpus")
    roles = {"rooty": ["admin"], "alicia": ["ask"]}
    entries = [{"identity": name, "sha256": digest_of_secret(key), "roles": roles[name]} for name, key in KEYS.items()]
    (home / "auth.yaml").write_text(yaml.safe_dump({"keys": entries}))
    script = model(rewrite=Reply(f"There is no {CANARY}.", status=400))
    with OpenAIStub(script) as stub, collecting() as collector:
        variables = {
            "ANABRANCH_AUTH": str(home / "auth.yaml"),
            "ANABRANCH_MODEL": "openai:stub",
            "ANABRANCH_BASE_URL": stub.base_url,
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
            "OTEL_METRIC_EXPORT_INTERVAL": "300",
        }
        with serving(home, "--log-format", "json", **variables) as server:
            body = {"input": {"question": QUESTION}, "stream_mode": ["messages-tuple"]}
            headers = {"Authorization": _bearer("alicia"), "X-Request-ID": "ticket-17"}
            reply = httpx.post(f"{server.url}/runs/wait", json=body, headers=headers, timeout=120)
            assert reply.headers["X-Request-ID"] == "ticket-17"
            answer = reply.json()
            until = time.monotonic() + 60
            while time.monotonic() < until and not _has_arrived(collector):
                time.sleep(0.1)
            yield Watched(server, collector, answer)


def _has_arrived(collector: OtlpCollector) -> bool:
    names = {span.name for span in collector.spans}
    return {"invoke_workflow answer", "POST /runs/wait"} <= names and any(
        "metrics" in path for path, _ in collector.bodies
    )


def test_each_line_says_which_request_and_run_it_belongs_to(watched: Watched) -> None:
    of = [line for line in watched.lines() if line.get("request_id") == "ticket-17"]
    (run,) = [line for line in of if line["logger"] == "anabranch.server.runs"]
    assert (run["status"], run["graph"]) == ("success", "answer")
    steps = {line["step"]: line for line in of if "step" in line}
    assert {"begin", "rewrite", "retrieve", "create", "finish"} <= set(steps)
    assert {line["run_id"] for line in steps.values()} == {run["run_id"]}
    assert steps["rewrite"]["status"] == "degraded"
    assert steps["create"]["calls"] == 1
    (request,) = [line for line in of if line["logger"] == "anabranch.server.requests"]
    assert (request["method"], request["route"], request["status"]) == ("POST", "/runs/wait", 200)
    assert request["seconds"] >= run["seconds"] > 0
    (span,) = [span for span in watched.collector.spans if span.name == "POST /runs/wait"]
    assert {line["trace_id"] for line in of} == {span.trace_id.hex()}


def test_an_id_that_is_none_is_replaced(watched: Watched) -> None:
    for given in ("two words", "x" * 65, "<script>"):
        assert re.fullmatch("[0-9a-f]{32}", watched.get("/ok", **{"X-Request-ID": given}).headers["X-Request-ID"])
    assert watched.get("/ok", **{"X-Request-ID": "a.b:c-1_2"}).headers["X-Request-ID"] == "a.b:c-1_2"


def test_a_run_hangs_below_its_request(watched: Watched) -> None:
    spans = {span.span_id: span for span in watched.collector.spans}
    (run,) = [span for span in spans.values() if span.name == "invoke_workflow answer"]
    assert spans[run.parent_span_id].name == "POST /runs/wait"
    below = {span.name for span in spans.values() if span.parent_span_id == run.span_id}
    assert {"begin", "retrieve", "create", "cite", "finish"} <= below
    (call,) = [span for span in spans.values() if span.name == "chat openai:stub" and not span.status.code]
    assert spans[call.parent_span_id].name == "create"


def test_metrics_are_for_an_admin(watched: Watched) -> None:
    assert watched.get("/metrics").status_code == 401
    assert watched.get("/metrics", Authorization=_bearer("alicia")).status_code == 403
    text = watched.get("/metrics", Authorization=_bearer("rooty")).text
    until = time.monotonic() + 60
    while "anabranch_server_runs_waiting 0.0" not in text and time.monotonic() < until:
        time.sleep(0.5)  # how many wait is looked at now and then
        text = watched.get("/metrics", Authorization=_bearer("rooty")).text
    for metric in (
        'anabranch_step_duration_seconds_count{anabranch_outcome="degraded",anabranch_step="rewrite"} 1.0',
        'anabranch_step_model_calls_total{anabranch_step="create"} 1.0',
        'anabranch_degraded_total{anabranch_step="rewrite",error_type="request_refused"} 1.0',
        'anabranch_answers_total{anabranch_outcome="answered",anabranch_route="create"} 1.0',
        'anabranch_run_duration_seconds_count{anabranch_run_status="success",gen_ai_workflow_name="answer"} 1.0',
        'anabranch_server_runs_accepted_total{gen_ai_workflow_name="answer"} 1.0',
        'anabranch_server_runs_ended_total{anabranch_run_status="success",gen_ai_workflow_name="answer"} 1.0',
        'anabranch_server_runs_running{gen_ai_workflow_name="answer"} 0.0',
        "anabranch_server_runs_waiting 0.0",
        'anabranch_server_run_first_word_seconds_count{gen_ai_workflow_name="answer"} 1.0',
        "gen_ai_client_token_usage_count",
        'http_route="/runs/wait"',
    ):
        assert metric in text


def test_the_guide_names_metrics_that_there_are(watched: Watched) -> None:
    text = watched.get("/metrics", Authorization=_bearer("rooty")).text
    guide = (REPOSITORY / "docs" / "operating.md").read_text(encoding="utf-8")
    table, (rules,) = (
        re.findall(r"^\| (`.*?) \|", guide, re.MULTILINE),
        re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL),
    )
    expressions = " ".join(rule["expr"] for rule in yaml.safe_load(rules)["groups"][0]["rules"])
    named = re.findall(r"\b(?:anabranch|gen_ai|http|process)_[a-z_]+", " ".join(table) + expressions)
    assert len(set(named)) > 15
    there = set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE)) | set(re.findall(r"[{,](\w+)=", text))
    assert sorted(name for name in set(named) if name not in there) == []


def test_nobodys_name_and_no_text_is_in_any_of_it(watched: Watched) -> None:
    assert CANARY in json.dumps(watched.answer)
    told = {
        "log": watched.server.log.read_text(),
        "metrics": watched.get("/metrics", Authorization=_bearer("rooty")).text,
        "sent": b"\n".join(body for _, body in watched.collector.bodies).decode(errors="replace"),
    }
    quotes = [citation["quote"] for citation in watched.answer["citations"]]
    sources = [citation["source"] for citation in watched.answer["citations"]]
    assert quotes
    for where, text in told.items():
        for never in (CANARY, *quotes, *sources, *KEYS, *KEYS.values()):
            assert never not in text, (where, never)


# As `opentelemetry-instrument` does: the SDK is set up before anything else is imported.
SITE = """
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

trace.set_tracer_provider(TracerProvider())
trace.get_tracer_provider().add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
"""


def test_the_development_server_has_the_same_spans(tmp_path: Path) -> None:
    pytest.importorskip("langgraph_api", reason="the extra `server` is not installed")
    ingest([REPOSITORY / "tests" / "samples"], tmp_path / "corpus")
    (tmp_path / "sitecustomize.py").write_text(SITE)
    with collecting() as collector:
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}
        with dev_server(tmp_path, fresh=True, **variables) as (url, _):  # for its sitecustomize.py
            body = {"assistant_id": "answer", "input": {"question": QUESTION}}
            thread = httpx.post(f"{url}/threads", json={}, timeout=60).json()["thread_id"]
            values = httpx.post(f"{url}/threads/{thread}/runs/wait", json=body, timeout=120).json()
            until = time.monotonic() + 60
            while time.monotonic() < until and not any(each.name.startswith("invoke") for each in collector.spans):
                time.sleep(0.1)
        (run,) = [span for span in collector.spans if span.name == "invoke_workflow answer"]
        below = [span.name for span in collector.spans if span.parent_span_id == run.span_id]
        assert sorted(below) == sorted(step["node"] for step in values["trace"])
        (conversation,) = [each.value.string_value for each in run.attributes if each.key == "gen_ai.conversation.id"]
        assert conversation == thread
        assert all(CANARY.encode() not in body for _, body in collector.bodies)
