"""A server's callers may name files below its root, and nothing else."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

import pytest
from langgraph.runtime import Runtime

from anabranch.agent.graph.bindings import NONE_BOUND
from anabranch.agent.graph.ingest import graph
from anabranch.agent.graph.running_turn import RunningTurn
from anabranch.agent.graph.settings_precedence import resolve_settings
from anabranch.agent.nodes import add_documents as module
from anabranch.agent.nodes.add_documents import add_documents
from anabranch.agent.nodes.settings import Context, IngestContext
from anabranch.errors import NotAllowedError, SettingsError, UserError
from anabranch.identity import AUTH_USER, User, as_operator
from anabranch.identity.user import upload_folder
from anabranch.ingestion import intake
from anabranch.ingestion.ingest_report import Status
from anabranch.safety.operator import environment
from anabranch.store.stores import open_writer
from tests.ingestion.archives.packing import zipped


async def take_in(state: dict[str, Any], context: Context) -> dict[str, Any]:
    settings = resolve_settings(context, role="ingest")
    return await add_documents(state, RunningTurn("add_documents", state, settings, NONE_BOUND, Runtime()))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (root := tmp_path / "root").mkdir()
    (root / "mill.md").write_text("# Mill\n\nThe mill grinds corn.\n")
    monkeypatch.setenv("ANABRANCH_INGEST_ROOT", str(root))
    return root


async def take(corpus: Path, *paths: str) -> list[tuple[str, str]]:
    result = await take_in({"paths": list(paths)}, Context(corpus=str(corpus)))
    return [(row["source"], row["status"]) for row in result["files"]]


@pytest.mark.parametrize(
    "path",
    ["http://example.org/", "https://127.0.0.1/", "HTTP://localhost/", "file:///etc/passwd", "ftp://example.org/x"],
)
async def test_addresses_are_refused(root: Path, tmp_path: Path, path: str) -> None:
    with pytest.raises(UserError, match="nothing at"):
        await take(tmp_path / "corpus", ".", path)


async def test_archives_and_links_out_of_the_root_stay_closed(root: Path, tmp_path: Path) -> None:
    zipped(root / "x.zip", ("a.md", b"A secret."))
    (tmp_path / "secret.md").write_text("A secret.")
    (root / "secret.md").symlink_to(tmp_path / "secret.md")
    assert await take(tmp_path / "corpus", ".") == [("mill.md", "added"), ("x.zip", "skipped")]


async def test_of_many_files_those_that_changed_or_failed_are_told_and_all_are_counted(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anabranch.agent.nodes.add_documents.MOST_FILES", 5)
    for number in range(6):
        (root / f"a{number}.md").write_text(f"# Note {number}\n\nThe otter was seen {number} times.\n")
    context = Context(corpus=str(tmp_path / "corpus"))
    first = await take_in({"paths": ["."]}, context)
    assert len(first["files"]) == 5
    assert {name: first["totals"][name] for name in ("added", "failed", "left_out")} == {
        "added": 7, "failed": 0, "left_out": 2,
    }  # fmt: skip
    (root / "a5.md").write_text("# Note 5\n\nThe otter was seen by nobody.\n")
    (root / "z.md").write_bytes(b"")
    second = await take_in({"paths": ["."]}, context)
    rows = [(row["source"], row["status"]) for row in second["files"]]
    assert rows[:2] == [("z.md", second["files"][0]["status"]), ("a5.md", "updated")]
    assert rows[0][1] in ("failed", "skipped")
    assert [status for _, status in rows[2:]] == ["unchanged"] * 3
    assert second["totals"]["unchanged"] == 6
    assert second["totals"]["left_out"] == 3
    assert sum(second["totals"][status] for status in get_args(Status)) == 8


async def test_what_concerns_the_run_as_a_whole_is_told(root: Path, tmp_path: Path) -> None:
    context = Context(corpus=str(tmp_path / "corpus"))
    assert (await take_in({"paths": ["mill.md"]}, context))["warnings"] == []
    said = "Das Wehr wurde im Jahr der Flut gebaut, und es hält das Wasser des Flusses für einen Tag zurück."
    (root / "wehr.md").write_text(said, encoding="utf-8")
    (warning,) = (await take_in({"paths": ["wehr.md"]}, context))["warnings"]
    assert "--embedder multilingual" in warning


async def test_few_files_are_all_told_in_their_order(root: Path, tmp_path: Path) -> None:
    (root / "a.md").write_bytes(b"")
    result = await take_in({"paths": ["."]}, Context(corpus=str(tmp_path / "corpus")))
    assert [row["source"] for row in result["files"]] == ["a.md", "mill.md"]
    assert result["totals"]["left_out"] == 0


async def test_a_path_swapped_for_a_link_that_leads_out_is_refused(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (root / "inbox", tmp_path / "secret"):
        place.mkdir()
        (place / "a.md").write_text(f"A note of {place.name}.")
    ingest_files = module.ingest_files

    def swapping(*given: Any, **named: Any) -> Any:
        (root / "inbox").rename(root / "former")
        (root / "inbox").symlink_to(tmp_path / "secret")
        return ingest_files(*given, **named)

    monkeypatch.setattr(module, "ingest_files", swapping)
    with pytest.raises(UserError, match="outside the ingest root"):
        await take(tmp_path / "corpus", "inbox")


@pytest.mark.parametrize("path", ["nowhere", "deep/nowhere.md", "n" * 300, "a\0b"])
async def test_an_error_names_only_what_the_caller_gave(root: Path, tmp_path: Path, path: str) -> None:
    with pytest.raises(UserError) as caught:
        await take(tmp_path / "corpus", path)
    assert str(tmp_path) not in str(caught.value)
    assert repr(path) in caught.value.message


@pytest.mark.parametrize("path", ["../outside.md", "../nowhere.md", "out/there.md", "out/nowhere.md", "/etc/nowhere"])
async def test_what_is_outside_is_refused_alike_whether_it_exists_or_not(root: Path, tmp_path: Path, path: str) -> None:
    (tmp_path / "outside.md").write_text("x")
    (tmp_path / "beyond").mkdir()
    (tmp_path / "beyond" / "there.md").write_text("x")
    (root / "out").symlink_to(tmp_path / "beyond")
    with pytest.raises(UserError, match="outside the ingest root") as caught:
        await take(tmp_path / "corpus", path)
    assert str(tmp_path) not in str(caught.value)


async def test_paths_count_from_the_root(root: Path, tmp_path: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "weir.md").write_text("The weir.")
    assert await take(tmp_path / "corpus", "mill.md", "sub") == [("mill.md", "added"), ("weir.md", "added")]
    assert await take(tmp_path / "corpus", str(root / "sub")) == [("weir.md", "unchanged")]


def person(*access: str, role: Any = "ingest", tenant: str | None = None) -> User:
    return User(identity="rita", access=access, roles=frozenset({role}), tenant=tenant)


@pytest.fixture
def corpus(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One that everybody ingests into, where people have to say who they are."""
    monkeypatch.setenv("ANABRANCH_AUTH", "auth.yaml")
    monkeypatch.setenv("ANABRANCH_CORPUS", str(tmp_path / "corpus"))
    return tmp_path / "corpus"


async def take_as(user: User, *paths: str, **given: Any) -> dict[str, tuple[str, str]]:
    result = await graph.ainvoke({"paths": list(paths), **given}, {"configurable": {AUTH_USER: user}})
    return {row["source"]: (row["status"], row["reason"]) for row in result["files"]}


def tags_in(corpus: Path) -> dict[str, list[str]]:
    with closing(sqlite3.connect(corpus / "corpus.db")) as connection:
        return {source: json.loads(tags) for source, tags in connection.execute("SELECT source, access FROM documents")}


@pytest.mark.usefixtures("root")
async def test_what_a_person_takes_in_is_theirs_alone_unless_they_say_otherwise(corpus: Path) -> None:
    await take_as(person("hr", "staff"), "mill.md")
    assert tags_in(corpus) == {"mill.md": ["hr", "staff"]}
    await take_as(person("hr", "staff"), "mill.md", access=["staff"])
    assert tags_in(corpus) == {"mill.md": ["staff"]}
    assert (await take_as(person("staff"), "mill.md"))["mill.md"] == ("unchanged", "")  # a known file keeps its tags
    with pytest.raises(SettingsError, match="who may read"):
        await take_as(person(), "mill.md")
    with pytest.raises(SettingsError, match="who may read"):
        await take_as(person(role="admin"), "mill.md")


@pytest.mark.parametrize("access", ["board", [1], {"hr": True}, [""], 7])
@pytest.mark.usefixtures("corpus")
async def test_tags_that_are_no_list_are_refused(access: Any) -> None:
    with pytest.raises(SettingsError, match="list of tags"):
        await take_as(person("hr"), "mill.md", access=access)


async def test_nobody_gives_or_takes_away_tags_that_they_do_not_hold(root: Path, corpus: Path) -> None:
    with pytest.raises(NotAllowedError, match="do not hold"):
        await take_as(person("hr"), "mill.md", access=["hr", "board"])
    (root / "merger.md").write_text("# Merger\n\nThe merger is planned with Halden.\n")
    await take_as(person("hr", role="admin"), "merger.md", access=["board"])
    for given in ({}, {"access": ["hr"]}, {"access": []}):
        (root / "merger.md").write_text(f"# Merger\n\nThere is none, says {len(given)}.\n")
        assert (await take_as(person("hr"), ".", **given))["merger.md"][0] == "failed"
        assert tags_in(corpus)["merger.md"] == ["board"]
    # Its content under another name, when it is gone; and lines that name tags themselves.
    (root / "merger.md").unlink()
    (root / "other.md").write_text("# Merger\n\nThe merger is planned with Halden.\n")
    lines = [{"id": "a", "text": "For the board.", "access": ["board"]}, {"id": "b", "text": "For us."}]
    (root / "notes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert (await take_as(person("hr"), "."))["other.md"][0] == "failed"
    found = tags_in(corpus)
    assert found.pop("merger.md") == ["board"]  # nor is it removed
    assert "board" not in str(found)
    assert ["hr"] in found.values()


@pytest.mark.parametrize("role", ["ask", None])
@pytest.mark.usefixtures("corpus")
async def test_it_takes_a_role(role: Any) -> None:
    user = User(identity="eve", access=("hr",), roles=frozenset({role} if role else ()))
    with pytest.raises(NotAllowedError, match="role 'ingest'"):
        await take_as(user, "mill.md")


async def test_a_tenant_has_a_root_and_a_corpus_of_its_own(
    root: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANABRANCH_CORPUS", str(corpus.parent / "{tenant}.corpus"))
    with pytest.raises(SettingsError, match="ANABRANCH_INGEST_ROOT"):
        await take_as(person("hr", tenant="acme"), "mill.md")
    monkeypatch.setenv("ANABRANCH_INGEST_ROOT", str(root / "{tenant}"))
    environment.cache_clear()
    (root / "acme").mkdir()
    (root / "acme" / "a.md").write_text("Of acme.")
    assert (await take_as(person("hr", tenant="acme"), "."))["a.md"] == ("added", "")
    assert (corpus.parent / "acme.corpus").is_dir()
    with pytest.raises(UserError, match="outside the ingest root"):
        await take_as(person("hr", tenant="acme"), "../mill.md")


async def test_what_somebody_sent_is_theirs_to_take_in(root: Path, corpus: Path) -> None:
    mine, theirs = (User(identity=name, access=("hr",), roles=frozenset({"ingest"})) for name in ("rita", "eve"))
    for user in (mine, theirs):
        (root / upload_folder(user.owner)).mkdir(parents=True)
        (root / upload_folder(user.owner) / f"{user.identity}.md").write_text(f"A note of {user.identity}.")

    async def taken(user: User, path: str) -> list[str]:
        result = await graph.ainvoke({"paths": [path]}, {"configurable": {AUTH_USER: user}})
        return [row["source"] for row in result["files"]]

    assert await taken(mine, f"{upload_folder(mine.owner)}/rita.md") == ["rita.md"]
    assert await taken(mine, upload_folder(mine.owner)) == ["rita.md"]
    assert await taken(mine, ".") == ["mill.md"]
    own = upload_folder(mine.owner)
    other = upload_folder(theirs.owner).rpartition("/")[2]
    for path in (
        f"{upload_folder(theirs.owner)}/eve.md", f"{own}/../{other}/eve.md", upload_folder(theirs.owner),
        ".anabranch/uploads", ".anabranch", f"{own}/..", f".anabranch/uploads/{other}/none.md", f"{own}/../none/x.md",
    ):  # fmt: skip
        with pytest.raises(UserError, match="outside the ingest root"):
            await taken(mine, path)


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where somebody starts a server as the guide says: its keys and its people lie there."""
    for name in (".env", ".ssh/id_rsa", "auth.yaml", "audit.jsonl", "notes/a.md", "corpus.server/server.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("OPENAI_API_KEY=sk-fake\n")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes" / "keys.md").symlink_to(tmp_path / ".env")
    (tmp_path / "notes" / "people.yaml").symlink_to(tmp_path / "auth.yaml")
    places = {"CORPUS": "corpus", "AUTH": "auth.yaml", "AUDIT": "audit.jsonl", "DATA": "corpus.server"}
    for name, value in places.items():
        monkeypatch.setenv(f"ANABRANCH_{name}", value)
    return tmp_path


CLOSED = [
    ".env", ".ssh/id_rsa", ".ssh", "auth.yaml", "audit.jsonl", "corpus.server/server.txt", "corpus.server",
    "notes/keys.md", "notes/people.yaml", "notes/../auth.yaml",
]  # fmt: skip


@pytest.mark.parametrize("role", ["ingest", "admin"])
@pytest.mark.parametrize("path", CLOSED)
@pytest.mark.usefixtures("started")
async def test_keys_and_what_is_the_operators_own_are_closed_though_the_folder_is_open(
    path: str, role: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANABRANCH_INGEST_ROOT", ".")
    with pytest.raises(UserError, match="outside the ingest root"):
        await take_as(person("hr", role=role), path)
    with as_operator(), pytest.raises(UserError, match="outside the ingest root"):
        await graph.ainvoke({"paths": [path]})


@pytest.mark.usefixtures("started")
async def test_a_walk_of_an_open_folder_passes_them_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_INGEST_ROOT", ".")
    assert set(await take_as(person("hr"), ".")) == {"notes/a.md"}


async def test_without_a_named_folder_only_what_somebody_sent_is_read(started: Path) -> None:
    rita = person("hr")
    own = started / upload_folder(rita.owner)
    own.mkdir(parents=True)
    (own / "sent.md").write_text("The mill grinds corn.")
    (own / "link.md").symlink_to(started / "notes" / "a.md")
    assert set(await take_as(rita, f"{upload_folder(rita.owner)}/sent.md")) == {"sent.md"}
    assert set(await take_as(rita, upload_folder(rita.owner))) == {"sent.md"}
    for path in (*CLOSED, ".", "notes", "notes/a.md", f"{upload_folder(rita.owner)}/link.md"):
        with pytest.raises(UserError, match="outside the ingest root"):
            await take_as(rita, path)


def test_the_form_of_the_ingest_graph_has_what_it_reads() -> None:
    schema = graph.get_context_jsonschema()
    assert schema is not None
    assert set(schema["properties"]) == {"corpus", "access"}


async def test_the_first_run_of_a_corpus_says_its_language_and_sizes(root: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    first = {"paths": ["."], "language": "german", "chunk_sizes": [400, 100, 50]}
    await graph.ainvoke(first, context=IngestContext(corpus=str(corpus)))
    with open_writer(corpus) as writer:
        assert (writer.meta("language"), json.loads(writer.meta("sizes"))) == ("german", [400, 100, 50])
    with pytest.raises(SettingsError, match="was cut into chunks of"):
        await graph.ainvoke({**first, "chunk_sizes": [512, 128, 64]}, context=IngestContext(corpus=str(corpus)))


@pytest.mark.parametrize("sizes", [[2048, 512], "2048,512,128", [2048, 512, True], {"root": 1}, 7])
async def test_sizes_that_are_none_are_refused(root: Path, tmp_path: Path, sizes: Any) -> None:
    with pytest.raises(SettingsError, match="three whole numbers"):
        await graph.ainvoke({"paths": ["."], "chunk_sizes": sizes}, context=IngestContext(corpus=str(tmp_path / "c")))
    assert not (tmp_path / "c").exists()


async def test_the_first_run_of_a_corpus_says_its_embedder(root: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    await graph.ainvoke({"paths": ["."], "embedder": "minilm"}, context=IngestContext(corpus=str(corpus)))
    with open_writer(corpus) as writer:
        assert writer.meta("spec") == "minilm"


@pytest.mark.parametrize("embedder", ["openai", "openai:text-embedding-3-small", "/models/own", ["minilm"], 7])
async def test_a_caller_chooses_no_folder_and_no_hosted_embedder(root: Path, tmp_path: Path, embedder: Any) -> None:
    with pytest.raises(SettingsError, match="none of minilm, multilingual"):
        await graph.ainvoke({"paths": ["."], "embedder": embedder}, context=IngestContext(corpus=str(tmp_path / "c")))
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("given", [{}, {"paths": []}, {"paths": None}])  # a misspelt channel is dropped by LangGraph
async def test_nothing_to_ingest_is_an_error_with_a_name(root: Path, tmp_path: Path, given: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="nothing to ingest"):
        await graph.ainvoke(given, context=IngestContext(corpus=str(tmp_path / "corpus")))
    assert not (tmp_path / "corpus").exists()


@pytest.mark.parametrize("paths", [3, "notes", [3], {"a": 1}])
async def test_paths_that_are_no_list_of_texts_are_refused(root: Path, tmp_path: Path, paths: Any) -> None:
    with pytest.raises(SettingsError, match="not a list of texts"):
        await graph.ainvoke({"paths": paths}, context=IngestContext(corpus=str(tmp_path / "corpus")))
    assert not (tmp_path / "corpus").exists()


async def test_a_file_that_brings_out_a_fault_costs_itself(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_text("# Filing\n\nExhibit 23.1\n\n| Name | Sum |\n|---|---|\n| Weir | 12 |\n")
    (root / "odd.md").write_text("# Odd\n\nSwifts sleep.\n")
    digest = intake.content_digest
    monkeypatch.setattr(intake, "content_digest", lambda each: digest(each) if each.title != "Odd" else {}["x"])
    assert await take(tmp_path / "corpus", ".") == [("a.md", "added"), ("mill.md", "added"), ("odd.md", "failed")]
