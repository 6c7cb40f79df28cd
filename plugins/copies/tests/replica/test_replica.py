"""What is sent, what is brought, and what is kept."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from anabranch.agent.graph.retrieval import build_search
from anabranch.agent.nodes.settings import Context
from anabranch.cli.app import app
from anabranch.ingestion.pipeline import ingest
from anabranch.store.corpus_handles import open_folder
from anabranch.store.protocol import Scope
from anabranch.store.stores import open_corpus, open_writer
from anabranch.store.writer_protocol import FileRecord
from anabranch_copies.replica import replica_publisher, replica_store
from anabranch_copies.replica.folder_objects import FolderObjects
from anabranch_copies.replica.object_address import objects_at
from anabranch_copies.replica.pointer import decode_pointer
from anabranch_copies.replica.replica_publisher import KEPT, publish_replica
from plugins.copies.tests.replica.conftest import cache_at, now, says, write

PIKE = "The pike hunts below."
EEL = "The eel hides."


def homes(cache: Path) -> list[str]:
    return sorted(home.name[:6] for home in cache.glob("*/generations/*"))


def test_only_what_changed_is_sent_and_brought(
    origin: Path, target: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = publish_replica(origin, target)
    assert publish_replica(origin, target).files == 0
    now(target)
    brought: list[str] = []
    get = FolderObjects.get
    monkeypatch.setattr(FolderObjects, "get", lambda self, name, to: (brought.append(name), get(self, name, to))[1])
    write(origin, pike=PIKE)
    second = publish_replica(origin, target)
    assert second.generation > first.generation
    assert second.files > 0
    brought.clear()  # the publisher has looked at the catalog of before
    says(now(target))
    assert len(brought) == second.files
    now(target)
    assert len(brought) == second.files


@pytest.mark.loopback
@pytest.mark.parametrize("kind", ["folder", "bucket"])
def test_of_two_who_swap_a_pointer_one_is_refused(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    place = tmp_path.as_uri() if kind == "folder" else f"{request.getfixturevalue('bucket')}/swap"
    objects = objects_at(place)
    assert objects.pointer() is None
    assert objects.swap(b"one", None)
    assert not objects.swap(b"two", None)
    found = objects.pointer()
    assert found
    assert found[0] == b"one"
    assert objects.swap(b"two", found[1])
    assert not objects.swap(b"three", found[1])
    assert (objects.pointer() or (b"",))[0] == b"two"


@pytest.mark.loopback
@pytest.mark.parametrize("kind", ["folder", "bucket"])
def test_a_publisher_that_comes_second_begins_again(
    kind: str, origin: Path, target: str, cache: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = target if kind == "folder" else f"{request.getfixturevalue('bucket')}/second"
    publish_replica(origin, place)
    write(origin, pike=PIKE)
    kind_of = type(objects_at(place))
    swap, others = kind_of.swap, []

    def late(self: object, pointer: bytes, before: str | None) -> bool:
        if not others:
            others.append("once")
            write(origin, eel=EEL)
            publish_replica(origin, place)
        return bool(swap(self, pointer, before))  # type: ignore[arg-type]

    monkeypatch.setattr(kind_of, "swap", late)
    publish_replica(origin, place)
    assert {PIKE, EEL} <= says(now(place))
    found = objects_at(place).pointer()
    assert found
    assert len(decode_pointer(found[0], place).releases) == 2


@pytest.mark.loopback
@pytest.mark.parametrize("kind", ["folder", "bucket"])
def test_generations_of_before_are_kept_for_a_while(
    kind: str,
    origin: Path,
    target: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = target if kind == "folder" else f"{request.getfixturevalue('bucket')}/kept"
    objects, clock = objects_at(place), time.time
    sent: list[set[str]] = []
    (tmp_path / "x").write_text("left by a killed run")
    objects.put(tmp_path / "x", "files/left")
    for hours, name in enumerate(("pike", "eel", "otter", "heron")):
        monkeypatch.setattr(replica_publisher.time, "time", lambda hours=hours: clock() + hours * (KEPT + 60))
        write(origin, **{name: f"The {name}."})
        before = set(objects.written())
        publish_replica(origin, place)
        sent.append(set(objects.written()) - before)
    left = set(objects.written())
    # The newest and the one before, which is kept from the moment that it was replaced, and not from its making.
    assert sent[3] <= left
    assert sent[2] <= left
    assert "files/left" not in left
    assert not sent[0] <= left
    with cache_at(tmp_path / "cold"):
        assert len(says(now(place))) == 7


def test_a_generation_that_is_read_stays(origin: Path, target: str, cache: Path) -> None:
    publish_replica(origin, target)
    first = now(target)
    before = says(first)
    for name in ("pike", "eel"):
        write(origin, **{name: f"The {name}."})
        publish_replica(origin, target)
        now(target)
    assert len(homes(cache)) == 2
    assert says(first) == before
    del first
    gc.collect()
    now(target)
    assert len(homes(cache)) == 1


def test_a_download_holds_up_no_question(
    origin: Path, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with cache_at(tmp_path / "cache", poll=0):
        publish_replica(origin, target)
        before = now(target)
        write(origin, pike=PIKE)
        publish_replica(origin, target)
        get, begun, go = FolderObjects.get, threading.Event(), threading.Event()

        def slow(self: FolderObjects, name: str, to: Path) -> None:
            begun.set()
            assert go.wait(60)
            get(self, name, to)

        monkeypatch.setattr(FolderObjects, "get", slow)
        assert asyncio.run(open_corpus(target)) is before
        assert begun.wait(60)
        assert asyncio.run(open_corpus(target)) is before
        assert PIKE not in says(before)
        go.set()
        end = time.monotonic() + 60
        while asyncio.run(open_corpus(target)) is before:
            assert time.monotonic() < end
            time.sleep(0.01)
        assert PIKE in says(asyncio.run(open_corpus(target)))
        assert PIKE not in says(before)
        replica_store._followers.get(target)._following.acquire()  # type: ignore[union-attr]  # the last look has ended


def test_between_two_looks_nothing_is_asked(
    origin: Path, target: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_replica(origin, target)
    now(target)
    monkeypatch.setattr(FolderObjects, "pointer", lambda self: pytest.fail("it was looked at"))
    for _ in range(5):
        asyncio.run(open_corpus(target))


def test_files_of_documents_may_change_alone(origin: Path, target: str, cache: Path) -> None:
    """What is known of a file is no part of a document: it changes with the file's other lines."""
    publish_replica(origin, target)
    now(target)
    with open_writer(origin) as writer:
        writer.write([], [FileRecord("/weir", "weir", "another digest", (), complete=False)])
        writer.publish()
    write(origin, pike=PIKE)
    publish_replica(origin, target)
    reader = now(target)

    async def digests() -> set[str]:
        found = await reader.outlines(Scope(), 10)
        return {each.sha256 for each in (await reader.originals([o.doc_id for o in found], Scope())).values()}

    assert "another digest" in asyncio.run(digests())


async def test_a_graph_answers_from_a_copy(origin: Path, target: str, cache: Path) -> None:
    await asyncio.to_thread(publish_replica, origin, target)
    found = (
        await build_search().compile().ainvoke({"question": "When was the weir built?"}, context=Context(corpus=target))
    )
    assert "weir" in str(found)
    assert (await (await open_corpus(target)).info()).address == str(target).removeprefix("file://")


def test_the_command(origin: Path, target: str, cache: Path) -> None:
    run = CliRunner().invoke(app, ["corpus", "publish", target, "--corpus", str(origin)])
    assert run.exit_code == 0, run.output
    assert "generation 1" in run.output
    assert "sent" in run.output
    again = CliRunner().invoke(app, ["corpus", "publish", target, "--corpus", str(origin)])
    assert "nothing to send" in again.output
    found = CliRunner().invoke(app, ["search", "weir", "--corpus", target])
    assert "The weir was built." in found.output
    refused = CliRunner().invoke(app, ["corpus", "remove", "weir", "--corpus", target])
    assert refused.exit_code == 2


@pytest.mark.loopback
@pytest.mark.parametrize("kind", ["folder", "bucket"])
def test_stats_says_what_a_copy_holds(
    kind: str, origin: Path, target: str, cache: Path, request: pytest.FixtureRequest
) -> None:
    place = target if kind == "folder" else f"{request.getfixturevalue('bucket')}/stats"
    write(origin, pike=PIKE)
    publish_replica(origin, place)
    own, copied = (
        json.loads(CliRunner().invoke(app, ["corpus", "stats", "--json", "--corpus", each]).stdout)
        for each in (str(origin), place)
    )
    assert copied["documents"] == len(copied["sources"]) == 4
    assert copied["bytes"] > 0
    differ = {"path", "bytes"}
    assert {name: copied[name] for name in copied.keys() - differ} == {name: own[name] for name in own.keys() - differ}
    shown = CliRunner().invoke(app, ["corpus", "stats", "--corpus", place]).output
    assert "4 documents" in shown
    assert "on disk" in shown
    # What needs more than a copy has is refused.
    for command in ("verify", "export"):
        refused = CliRunner().invoke(app, ["corpus", command, "--corpus", place])
        assert refused.exit_code == 2, refused.output
        assert "only be read" in refused.output


def test_a_published_corpus_among_documents_is_no_document(origin: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Herons.")
    publish_replica(origin, tmp_path / "notes" / "published")
    assert ingest(tmp_path / "notes", tmp_path / "c").count("added") == 1
    assert says(open_folder(tmp_path / "c")) == {"Herons."}
