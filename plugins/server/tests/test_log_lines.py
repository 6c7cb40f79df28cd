"""Lines of the server's log, and replies to what it did not expect."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import httpx
import pytest
from fastapi import Depends, FastAPI

from anabranch.errors import SettingsError
from anabranch_server import metrics_routes
from anabranch_server.application import create_app
from anabranch_server.log_lines import JsonLines, TextLines, set_log_format

CANARY = "zxqcanary"


def _record(**extra: object) -> logging.LogRecord:
    try:
        {}[CANARY]
    except KeyError:
        record = logging.LogRecord("anabranch.server", logging.ERROR, __file__, 1, "A run failed", (), sys.exc_info())
    vars(record).update(extra)
    return record


def test_an_error_is_told_by_its_kind_and_place() -> None:
    line = json.loads(JsonLines().format(_record(step="create", question=CANARY)))
    assert (line["message"], line["error"], line["step"], line["level"]) == (
        "A run failed",
        "KeyError",
        "create",
        "error",
    )
    assert line["stack"][-1].endswith("_record")
    assert CANARY not in json.dumps(line)


def test_text_says_the_same() -> None:
    text = TextLines().format(_record(step="create", question=CANARY))
    assert text.startswith("ERROR: A run failed step=create error=KeyError\n  ")
    assert CANARY not in text


def test_another_form_is_refused() -> None:
    with pytest.raises(SettingsError, match="'xml'"):
        set_log_format("xml")


async def test_what_nobody_expected_has_an_id_and_no_words(tmp_path: Path) -> None:
    app = create_app(str(tmp_path))

    @app.get("/broken")
    async def broken() -> None:
        raise RuntimeError(CANARY)

    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        reply = await client.get("/broken", headers={"X-Request-ID": "t-1"})
    assert (reply.status_code, reply.headers["X-Request-ID"]) == (500, "t-1")
    assert "t-1" in reply.json()["detail"]
    assert CANARY not in reply.text


@pytest.mark.parametrize(("host", "status"), [("127.0.0.1", 200), ("evil.example", 403)])
async def test_metrics_of_ones_own_machine(host: str, status: int) -> None:
    from anabranch.errors import AnabranchError
    from anabranch_server.application import refusal
    from anabranch_server.requester import refuse_other_names

    app = FastAPI(dependencies=[Depends(refuse_other_names)])
    app.include_router(metrics_routes.router)

    app.add_exception_handler(AnabranchError, refusal)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=f"http://{host}") as client:
        reply = await client.get("/metrics")
    assert reply.status_code == status
    assert ("process_resident_memory_bytes" in reply.text) == (status == 200)
