"""What people do beside asking is in the audit log, too: files sent, pages opened, threads removed, opinions given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from anabranch.errors import OperationError
from anabranch.ingestion.pipeline import ingest
from anabranch.safety.operator import environment
from anabranch_server.application import create_app
from plugins.server.tests.weir import write_documents

QUESTION = {"assistant_id": "answer", "input": {"question": "Who built the weir at Halden?"}}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    ingest([write_documents(tmp_path / "documents")], tmp_path / "corpus")
    monkeypatch.setenv("ANABRANCH_CORPUS", str(tmp_path / "corpus"))
    monkeypatch.setenv("ANABRANCH_INGEST_ROOT", str(tmp_path / "root"))
    monkeypatch.setenv("ANABRANCH_AUDIT", str(tmp_path / "audit.jsonl"))
    environment.cache_clear()
    return tmp_path


async def test_each_of_them_is_noted(home: Path) -> None:
    app = create_app(str(home / "data"))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http,
    ):
        await http.post("/uploads", files=[("files", ("a.md", b"one")), ("files", ("b.md", b"three"))])
        thread = (await http.post("/threads", json={})).json()["thread_id"]
        waited = await http.post(f"/threads/{thread}/runs/wait", json=QUESTION)
        run, (first, *_) = waited.headers["content-location"].rpartition("/")[2], waited.json()["citations"]
        passage = (await http.get(f"/passages/{first['chunk_id']}")).json()
        await http.get(f"/documents/{passage['doc_id']}/pages/1.png")
        opinion = {"thread_id": thread, "run_id": run, "verdict": "right", "comment": "so it is"}
        assert (await http.post("/feedback", json=opinion)).status_code == 204
        await http.delete(f"/threads/{thread}")
        assert (await http.get("/feedback.jsonl")).status_code == 200
        assert (await http.get("/passages/none")).status_code == 404
    text = (home / "audit.jsonl").read_text()
    lines: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    assert [each["event"] for each in lines] == [
        "upload", "question", "found", "answer", "document", "document", "feedback", "delete", "export",
    ]  # fmt: skip
    upload, asked, _, _, read, opened, said, removed, sent = lines
    assert (upload["files"], upload["bytes"]) == (["a.md", "b.md"], 8)
    assert (asked["thread_id"], asked["run_id"]) == (thread, run)
    document = {"id": passage["doc_id"], "source": first["source"]}
    assert (read["documents"], read["passage"]) == ([document], first["chunk_id"])
    assert (opened["documents"], opened["page"]) == ([document], 1)
    assert (said["verdict"], said["run_id"], removed["thread_id"]) == ("right", run, thread)
    assert sent["opinions"] == 1
    assert "so it is" not in text


async def test_a_server_whose_log_cannot_be_written_does_not_start(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_AUDIT", str(home / "missing" / "audit.jsonl"))
    environment.cache_clear()
    app = create_app(str(home / "data"))
    with pytest.raises(OperationError, match="ANABRANCH_AUDIT"):
        async with app.router.lifespan_context(app):
            pass
