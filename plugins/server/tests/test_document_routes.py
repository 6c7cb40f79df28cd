"""Documents over HTTP: each person sees theirs, pages are drawn while the file is as it was, and quotes are marked."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pymupdf
import pytest
import yaml

from anabranch.ingestion.pipeline import ingest
from anabranch.safety.operator import environment
from anabranch.store.protocol import Originals, Outlines, Scope
from anabranch.store.stores import open_corpus
from anabranch_server import page_reader
from anabranch_server.identity.api_keys import digest_of_secret, new_key
from anabranch_server.langgraph_page import app
from anabranch_server.page_process import REASONS, PageProcess
from plugins.server.tests.weir import (
    BROKEN,
    BUILT,
    FERRY,
    FLOOD,
    LADDER,
    MILL,
    RAISED,
    REST,
    SALARY,
    SEEN,
    lines_of,
    write_documents,
)

PNG = b"\x89PNG\r\n\x1a\n"


def made(home: Path) -> Path:
    """Make documents of which one is for the tag `hr`, and a corpus of them beside them."""
    folder = write_documents(home / "documents")
    (home / "salary.md").write_text(f"# Pay\n\n{SALARY}\n")
    ingest([folder], home / "corpus", archives=True)
    ingest([home / "salary.md"], home / "corpus", access=["hr"])
    return folder


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("kept"))


@pytest.fixture
def documents(kept: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The documents in the operator's corpus, for tests that change neither."""
    monkeypatch.setenv("ANABRANCH_CORPUS", str(kept.parent / "corpus"))
    return kept


@pytest.fixture
def changing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Documents in the operator's corpus for a test of its own."""
    monkeypatch.setenv("ANABRANCH_CORPUS", str(tmp_path / "corpus"))
    return made(tmp_path)


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        # In one task: a fixture's two halves run in two, which the task groups of MCP's sessions do not allow.
        async with app.router.lifespan_context(app):
            begun.set()
            await ended.wait()

    life = asyncio.create_task(live())
    await begun.wait()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as one:
        yield one
    ended.set()
    await life


async def found(folder: Path, text: str, access: tuple[str, ...] = ("hr",), source: str = "") -> dict[str, Any]:
    """Return the passage that has a text, and where in its document the text stands."""
    reader = await open_corpus(str(folder.parent / "corpus"))
    (ranked,) = await reader.search("bm25", [text], 50, Scope(access=access))
    for chunk in (await reader.chunks(ranked["ids"], Scope(access=access))).values():
        words = re.search(r"\s+".join(map(re.escape, text.split())), chunk.text)
        if words is not None and source in chunk.source:
            start, end = (chunk.start + at for at in words.span())
            return {"doc": chunk.doc_id, "chunk_id": chunk.chunk_id, "start": start, "end": end}
    raise LookupError(text)


def asked(spot: dict[str, Any]) -> dict[str, Any]:
    return {name: spot[name] for name in ("chunk_id", "start", "end")}


async def test_documents_are_listed_page_by_page(documents: Path, http: httpx.AsyncClient) -> None:
    every = (await http.get("/documents")).json()
    assert {each["source"]: each["pages"] for each in every} == {"ferry.md": 0, "old.zip!/packed.pdf": 3, "weir.pdf": 3}
    assert (await http.get("/documents", params={"limit": 1, "offset": 2})).json() == every[2:]
    assert (await http.get("/documents", params={"limit": 0})).status_code == 422


async def test_a_page_is_drawn_and_the_quote_marked_where_pymupdf_finds_it(
    documents: Path, http: httpx.AsyncClient
) -> None:
    spot = await found(documents, FLOOD, source="weir.pdf")
    picture = await http.get(f"/documents/{spot['doc']}/pages/1.png")
    assert (picture.status_code, picture.content[:8]) == (200, PNG)
    assert picture.headers["cache-control"].startswith("private")
    marks = (await http.get(f"/documents/{spot['doc']}/pages/1/marks", params=asked(spot))).json()
    truth = lines_of(documents / "weir.pdf", 1, FLOOD)
    assert len(truth) == len(marks["boxes"]) == 2
    for box, real in zip(marks["boxes"], truth, strict=True):
        assert box == pytest.approx(real, abs=1.0)
    assert (marks["width"], marks["height"], marks["pages"], marks["on"]) == (595.0, 842.0, 3, [1])


async def test_a_quote_over_the_end_of_a_page_is_marked_on_both(documents: Path, http: httpx.AsyncClient) -> None:
    chunk = await found(documents, BROKEN, source="weir.pdf")
    passage = (await http.get(f"/passages/{chunk['chunk_id']}")).json()
    text = passage["before"] + passage["quote"] + passage["after"]
    start = text.index(BROKEN)
    end = text.index("county.") + len("county.")
    zero = chunk["start"] - text.index(BROKEN)
    spot = {"chunk_id": chunk["chunk_id"], "start": zero + start, "end": zero + end}
    second, third = [
        (await http.get(f"/documents/{chunk['doc']}/pages/{number}/marks", params=spot)).json() for number in (2, 3)
    ]
    assert second["on"] == third["on"] == [2, 3]
    for marks, number, quote in ((second, 2, BROKEN), (third, 3, REST)):
        truth = lines_of(documents / "weir.pdf", number, quote)
        assert [pytest.approx(box, abs=1.0) for box in marks["boxes"]] == truth
    first = (await http.get(f"/documents/{chunk['doc']}/pages/1/marks", params=spot)).json()
    assert (first["boxes"], first["pages"]) == ([], 3)


async def test_a_quote_over_three_pages_is_marked_on_each(documents: Path, http: httpx.AsyncClient) -> None:
    spot = await found(documents, BUILT, source="weir.pdf")
    last = await found(documents, MILL, source="weir.pdf")
    reader = await open_corpus(str(documents.parent / "corpus"))
    leaf = (await reader.chunks([spot["chunk_id"]], Scope()))[spot["chunk_id"]]
    whole = {"chunk_id": leaf.parent_id, "start": spot["start"], "end": last["end"]}
    for number, lines in ((1, (BUILT, RAISED, FLOOD)), (2, (LADDER, SEEN, BROKEN)), (3, (REST, MILL))):
        marks = (await http.get(f"/documents/{spot['doc']}/pages/{number}/marks", params=whole)).json()
        truth = lines_of(documents / "weir.pdf", number, *lines)
        assert (marks["on"], len(marks["boxes"])) == ([1, 2, 3], len(truth))
        assert [pytest.approx(box, abs=1.0) for box in marks["boxes"]] == truth


async def test_a_passage_is_shown_in_its_surroundings(documents: Path, http: httpx.AsyncClient) -> None:
    spot = await found(documents, FERRY)
    shown = (await http.get(f"/passages/{spot['chunk_id']}", params=asked(spot))).json()
    assert (shown["quote"], shown["page"], shown["heading"]) == (FERRY, None, "The ferry")
    assert "twelve cars" in shown["after"]
    beyond = {"start": 0, "end": 10_000_000}
    whole = (await http.get(f"/passages/{spot['chunk_id']}", params=beyond)).json()
    assert FERRY in whole["quote"]
    marks = (await http.get(f"/documents/{spot['doc']}/pages/1/marks")).json()
    assert marks == {"reason": "no_pages", "told": REASONS["no_pages"]}
    assert (await http.get(f"/documents/{spot['doc']}/pages/1.png")).status_code == 404


async def test_an_archive_a_changed_file_and_one_that_is_gone_are_said(changing: Path, http: httpx.AsyncClient) -> None:
    packed = await found(changing, BUILT, source="old.zip")
    weir = await found(changing, BUILT, source="weir.pdf")

    async def reason(spot: dict[str, Any], number: int = 1) -> str:
        place = f"/documents/{spot['doc']}/pages/{number}"
        marks = (await http.get(f"{place}/marks", params=asked(spot))).json()
        picture = await http.get(f"{place}.png")
        assert (picture.status_code, picture.json()["reason"]) == (404, marks["reason"])
        assert marks["told"]
        assert (await http.get(f"/passages/{spot['chunk_id']}", params=asked(spot))).json()["quote"] == BUILT
        return str(marks["reason"])

    assert await reason(packed) == "archive"
    assert await reason(weir, 9) == await reason(weir, 0) == "no_page"
    file = changing / "weir.pdf"
    kept = file.read_bytes()
    file.write_bytes(kept + b"\n% saved again")
    assert await reason(weir) == "changed"
    file.unlink()
    assert await reason(weir) == "gone"
    (changing / "elsewhere.pdf").write_bytes(kept)
    file.symlink_to(changing / "elsewhere.pdf")
    assert await reason(weir) == "closed"


@pytest.mark.parametrize("doc_id", ["nobody", "%2e%2e", "%2e%2e%2fweir.pdf", "..%2f..%2fetc%2fpasswd", "weir.pdf"])
async def test_no_path_of_a_request_is_opened(documents: Path, http: httpx.AsyncClient, doc_id: str) -> None:
    for address in (f"/documents/{doc_id}/pages/1.png", f"/documents/{doc_id}/pages/1/marks", f"/passages/{doc_id}"):
        assert (await http.get(address)).status_code == 404
    reply = await http.get("/page/..%2f..%2fapp.py")
    assert "create_app" not in reply.text


async def test_a_passage_marks_only_its_own_document(documents: Path, http: httpx.AsyncClient) -> None:
    weir, ferry = await found(documents, BUILT, source="weir.pdf"), await found(documents, FERRY)
    reply = await http.get(f"/documents/{weir['doc']}/pages/1/marks", params=asked(ferry))
    assert reply.status_code == 404


async def test_what_is_somebody_elses_is_not_there(
    documents: Path, http: httpx.AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {name: new_key() for name in ("ada", "bo")}
    entries = [{"identity": name, "sha256": digest_of_secret(secret)} for name, secret in keys.items()]
    entries[0]["access"] = ["hr"]  # type: ignore[assignment]
    (tmp_path / "auth.yaml").write_text(yaml.safe_dump({"keys": entries}))
    monkeypatch.setenv("ANABRANCH_AUTH", str(tmp_path / "auth.yaml"))
    environment.cache_clear()
    spot = await found(documents, SALARY)
    addresses = [
        f"/passages/{spot['chunk_id']}",
        f"/documents/{spot['doc']}/pages/1.png",
        f"/documents/{spot['doc']}/pages/1/marks",
    ]

    async def status(address: str, **headers: str) -> int:
        return (await http.get(address, headers=headers)).status_code

    ada, bo = ({"Authorization": f"Bearer {keys[name]}"} for name in ("ada", "bo"))
    assert [await status(each, **ada) for each in addresses] == [200, 404, 200]
    assert [await status(each, **bo) for each in addresses] == [404, 404, 404]
    assert [await status(each) for each in [*addresses, "/documents", "/page/options", "/feedback.jsonl"]] == [401] * 6
    listed = [{each["source"] for each in (await http.get("/documents", headers=who)).json()} for who in (ada, bo)]
    assert listed[0] - listed[1] == {"salary.md"}
    assert (await http.get("/page/options", headers=ada)).json()["name"] == "ada"
    assert await status("/") == await status("/page/app.js") == 200
    assert await status("/documents", Origin="http://elsewhere.example", **ada) == 403


async def test_nobody_removes_what_they_do_not_hold_and_a_file_that_was_sent_is_deleted(
    changing: Path, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    people: dict[str, dict[str, Any]] = {
        "ada": {"access": ["hr"], "roles": ["ask", "ingest"]},
        "bo": {"roles": ["ask", "ingest"]},
        "cy": {"access": ["hr", "board"], "roles": ["ask"]},
        "root": {"access": ["hr"], "roles": ["admin"]},
    }
    keys = {name: new_key() for name in people}
    entries = [{"identity": name, "sha256": digest_of_secret(keys[name]), **more} for name, more in people.items()]
    (changing.parent / "auth.yaml").write_text(yaml.safe_dump({"keys": entries}))
    monkeypatch.setenv("ANABRANCH_AUTH", str(changing.parent / "auth.yaml"))
    monkeypatch.setenv("ANABRANCH_INGEST_ROOT", str(changing.parent))
    environment.cache_clear()
    as_ = {name: {"Authorization": f"Bearer {secret}"} for name, secret in keys.items()}
    corpus = changing.parent / "corpus"
    (changing.parent / "merger.md").write_text("# Merger\n\nThe merger with Halden is planned for March.\n")
    ingest([changing.parent / "merger.md"], corpus, access=["hr", "board"])
    lines = [{"_id": "open", "text": "The canteen opens at eleven."}]
    lines.append({"_id": "closed", "text": "The board meets on Monday.", "access": ["board"]})
    (changing.parent / "notes.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    ingest([changing.parent / "notes.jsonl"], corpus)
    sent = {"files": ("mine.md", b"# Mine\n\nThe lamp is green.\n")}
    assert (await http.post("/uploads", files=sent, headers=as_["cy"])).status_code == 403
    (path,) = (await http.post("/uploads", files=sent, headers=as_["ada"])).json()["paths"]
    ingest([changing.parent / path], corpus, access=["hr"])

    async def listed(who: str) -> dict[str, dict[str, Any]]:
        every = (await http.get("/documents", headers=as_[who])).json()
        return {each["source"].split("/")[-1]: each for each in every}

    async def removed(who: str, name: str, doc_id: str = "") -> httpx.Response:
        return await http.delete(f"/documents/{doc_id or (await listed(who))[name]['doc_id']}", headers=as_[who])

    seen = await listed("ada")
    assert {name: (each["access"], each["has_other_access"], each["removable"]) for name, each in seen.items()} == {
        "ferry.md": ([], False, True),
        "packed.pdf": ([], False, True),
        "weir.pdf": ([], False, True),
        "salary.md": (["hr"], False, True),
        "merger.md": (["hr"], True, False),
        "mine.md": (["hr"], False, True),
        "notes.jsonl#open": ([], False, True),
    }
    # Only some of the tags; a hidden one; a line with a tag in a file without; no role; nobody.
    assert (await removed("ada", "merger.md")).status_code == 403
    assert (await removed("bo", "", seen["salary.md"]["doc_id"])).status_code == 404
    assert (await removed("bo", "notes.jsonl#open")).status_code == 403
    assert (await removed("cy", "merger.md")).status_code == 403
    assert (await http.delete(f"/documents/{seen['ferry.md']['doc_id']}")).status_code == 401
    assert await listed("ada") == seen

    assert (await removed("bo", "ferry.md")).json() == {"file": "ferry.md", "documents": 1, "deleted": False}
    assert (changing / "ferry.md").exists()
    assert (await removed("ada", "mine.md")).json()["deleted"] is True
    assert not (changing.parent / path).exists()
    assert (await removed("root", "merger.md")).json()["documents"] == 1
    assert (await removed("ada", "merger.md", seen["merger.md"]["doc_id"])).status_code == 404
    assert set(await listed("ada")) == set(seen) - {"ferry.md", "mine.md", "merger.md"}


async def test_the_page_comes_with_a_policy_that_lets_nothing_else_in(http: httpx.AsyncClient) -> None:
    for name in ("", "page/index.html", "page/app.js", "page/style.css", "page/favicon.svg"):
        reply = await http.get(f"/{name}")
        assert reply.status_code == 200
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"


def write_pdf(file: Path, *, width: float = 595, height: float = 842, password: str = "") -> str:
    pdf: Any = pymupdf.open()
    pdf.new_page(width=width, height=height).insert_text((20, 40), "A page.")
    protection = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "user_pw": password} if password else {}
    pdf.save(file, **protection)
    pdf.close()
    return page_reader.hashlib.sha256(file.read_bytes()).hexdigest()


def ordered(file: Path, sha256: str) -> tuple[dict[str, Any], bytes]:
    return page_reader.obey({"path": str(file.resolve()), "sha256": sha256, "page": 1})


def test_a_huge_page_is_drawn_within_bounds(tmp_path: Path) -> None:
    digest = write_pdf(tmp_path / "poster.pdf", width=14_000, height=9_000)
    reply, png = ordered(tmp_path / "poster.pdf", digest)
    drawn: Any = pymupdf.Pixmap(png)
    assert reply["width"] == 14_000
    assert 0 < drawn.width * drawn.height <= page_reader.MAX_PIXELS


def test_what_cannot_be_shown_has_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ordered(tmp_path / "locked.pdf", write_pdf(tmp_path / "locked.pdf", password="x"))[0] == {
        "reason": "protected"
    }
    rubbish = tmp_path / "rubbish.pdf"
    rubbish.write_bytes(b"%PDF-1.7\nnothing of the kind")
    reply, _ = ordered(rubbish, page_reader.hashlib.sha256(rubbish.read_bytes()).hexdigest())
    assert reply["reason"] in ("unreadable", "no_page")
    digest = write_pdf(tmp_path / "fine.pdf")
    monkeypatch.setattr(page_reader, "MAX_BYTES", 100)
    assert ordered(tmp_path / "fine.pdf", digest)[0] == {"reason": "too_large"}
    assert ordered(tmp_path, digest)[0]["reason"] in REASONS


async def test_a_process_that_hangs_or_dies_is_replaced(tmp_path: Path) -> None:
    digest = write_pdf(tmp_path / "fine.pdf")
    order = {"path": str((tmp_path / "fine.pdf").resolve()), "sha256": digest, "page": 1}
    hanging = PageProcess((sys.executable, "-c", "import time; time.sleep(600)"), seconds=0.5)
    dying = PageProcess((sys.executable, "-c", "raise SystemExit"))
    for process in (hanging, dying):
        assert (await process.order(order))[0] == {"reason": "unreadable"}
        process.close()
    process = PageProcess()
    try:
        several = await asyncio.gather(*(process.order(order) for _ in range(3)))
        assert {(json.dumps(reply), png[:8]) for reply, png in several} == {(json.dumps(several[0][0]), PNG)}
    finally:
        process.close()


async def test_the_store_says_what_a_page_was_read_from(documents: Path) -> None:
    reader = await open_corpus(str(documents.parent / "corpus"))
    assert isinstance(reader, Originals)
    spot = await found(documents, BUILT, source="weir.pdf")
    (original,) = (await reader.originals([spot["doc"]], Scope())).values()
    assert original.path == str((documents / "weir.pdf").resolve())
    assert len(original.sha256) == 64


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Documents with headings of all kinds, of which one is for the tag `hr`; the folder of their corpus."""
    monkeypatch.setenv("ANABRANCH_CORPUS", str(tmp_path / "corpus"))
    monkeypatch.setenv("ANABRANCH_MODEL", "openai:stub")
    parts = "".join(f"\n## Part {number}\n\nThe lock has {number} gates.\n" for number in range(1, 6))
    (tmp_path / "locks.md").write_text(f"# The locks\n\n## Menu\n\nGates.\n{parts}")
    ovens = f"## {'The long name of an oven ' * 9}\n\nIt is lit at four.\n\n## 1.\n\nAt five.\n"
    (tmp_path / "bread.md").write_text(f"# Bread\n\n{ovens}")
    (tmp_path / "pay.md").write_text(f"# Pay\n\n## Salaries\n\n{SALARY}\n")
    ingest([tmp_path / "locks.md", tmp_path / "bread.md"], tmp_path / "corpus")
    ingest([tmp_path / "pay.md"], tmp_path / "corpus", access=["hr"])
    return tmp_path / "corpus"


async def test_what_may_be_asked_about_is_counted_and_named_within_the_scope_of_the_caller(
    locks: Path, http: httpx.AsyncClient
) -> None:
    found = (await http.get("/overview")).json()
    reader = await open_corpus(str(locks))
    assert isinstance(reader, Outlines)
    passages = sum(each.leaves for each in await reader.outlines(Scope(), 10))
    assert {name: found[name] for name in ("model", "documents", "passages", "more")} == {
        "model": "openai:stub", "documents": 2, "passages": passages, "more": False,
    }  # fmt: skip
    # No title, nothing too long or without a letter, and nothing of what others may read.
    (name,) = found["headings"]
    assert name in {"Menu", *(f"Part {number}" for number in range(1, 6))}
    (ranked,) = await reader.search("bm25", ["lock gates"], 50, Scope())
    for leaf in (await reader.chunks(ranked["ids"], Scope())).values():
        near = (await http.get(f"/passages/{leaf.chunk_id}/headings")).json()
        assert leaf.heading.rpartition(" > ")[2] not in near
        assert {"The locks", "Salaries"}.isdisjoint(near)
        assert (await http.get(f"/passages/{leaf.parent_id}/headings")).status_code == 200
    (hidden,) = await reader.search("bm25", ["salary of the director"], 1, Scope(access=("hr",)))
    assert (await http.get(f"/passages/{hidden['ids'][0]}/headings")).status_code == 404


@pytest.fixture
def readings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A spreadsheet of several leaves in a corpus; the folder of the corpus."""
    openpyxl = pytest.importorskip("openpyxl", reason="the extra `formats` is not installed")
    monkeypatch.setenv("ANABRANCH_CORPUS", str(tmp_path / "corpus"))
    book = openpyxl.Workbook()
    book.active.title = "Meter"
    for day in range(200):
        book.active.append([f"Day {day}", day * 7, "read by Kari Lund"])
    book.save(tmp_path / "readings.xlsx")
    ingest([tmp_path / "readings.xlsx"], tmp_path / "corpus")
    return tmp_path / "corpus"


async def test_the_name_of_a_sheet_is_suggested_only_where_nothing_else_has_a_heading(
    readings: Path, http: httpx.AsyncClient
) -> None:
    assert (await http.get("/overview")).json()["headings"] == ["Meter"]
    boilers = readings.parent / "boilers.md"
    boilers.write_text("# Boilers\n\n## What they burn\n\nOil.\n")
    ingest([boilers], readings)
    assert (await http.get("/overview")).json()["headings"] == ["What they burn"]
