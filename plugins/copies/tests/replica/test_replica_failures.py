"""What is damaged, out of reach, out of date or refused."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import sys
import time
from pathlib import Path

import pytest
from filelock import FileLock

from anabranch.errors import (
    CorpusDamagedError,
    CorpusEmptyError,
    CorpusNotFoundError,
    CorpusUnreachableError,
    MissingExtraError,
    OperationError,
    SettingsError,
    UserError,
)
from anabranch.ingestion.pipeline import ingest
from anabranch.readers.corpus_marker import POINTER
from anabranch.store.corpus_handles import open_folder
from anabranch.store.maintenance import remove
from anabranch.store.stores import open_corpus, open_writer
from anabranch_copies.replica.object_address import objects_at
from anabranch_copies.replica.replica_publisher import publish_replica
from anabranch_copies.replica.replica_reader import ReplicaReader
from plugins.copies.tests.replica.conftest import SECRET, cache_at, now, says, write

PIKE = "The pike hunts below."


def flip(file: Path) -> None:
    """Change one bit in the middle, and nothing else that a look at the file would tell."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))


@pytest.mark.parametrize("damage", [flip, Path.unlink])
def test_whatever_file_is_damaged_the_generation_before_is_read(
    origin: Path, target: str, cache: Path, tmp_path: Path, damage: object, caplog: pytest.LogCaptureFixture
) -> None:
    publish_replica(origin, target)
    before = says(now(target))
    files = tmp_path / "published" / "files"
    old = set(files.iterdir())
    write(origin, pike=PIKE)
    publish_replica(origin, target)
    fresh = sorted(set(files.iterdir()) - old)
    assert len(fresh) > 10
    shutil.copytree(cache, tmp_path / "kept")
    for file in fresh:
        whole = file.read_bytes()
        damage(file)  # type: ignore[operator]
        caplog.clear()
        assert says(now(target)) == before
        assert file.name in caplog.text
        shutil.rmtree(cache)
        with pytest.raises(CorpusDamagedError, match=file.name):
            now(target)
        file.write_bytes(whole)
        shutil.rmtree(cache)
        shutil.copytree(tmp_path / "kept", cache)
    assert says(now(target)) == before | {PIKE}


def test_a_damaged_target_is_published_anew(origin: Path, target: str, cache: Path, tmp_path: Path) -> None:
    publish_replica(origin, target)
    for file in (tmp_path / "published" / "files").iterdir():
        flip(file)
    with pytest.raises(CorpusDamagedError, match="not what was published") as raised:
        now(target)
    assert "--anew" in raised.value.hint
    assert publish_replica(origin, target).files == 0
    assert publish_replica(origin, target, anew=True).files > 10
    assert len(says(now(target))) == 3


def test_a_damaged_pointer_is_told(origin: Path, target: str, cache: Path, tmp_path: Path) -> None:
    publish_replica(origin, target)
    pointer = tmp_path / "published" / POINTER
    whole = pointer.read_text()
    for text in ("", "{}", "[]", whole[:-9], whole.replace('"until": null', '"until": 1.0')):
        pointer.write_text(text)
        with pytest.raises(CorpusDamagedError, match="pointer"):
            now(target)
    pointer.write_text(whole.replace('"format": 1', '"format": 99'))
    with pytest.raises(CorpusDamagedError, match="another format"):
        now(target)


def test_a_file_damaged_on_this_machine_is_brought_again(origin: Path, target: str, cache: Path) -> None:
    publish_replica(origin, target)
    whole = says(now(target))
    for file in sorted(cache.rglob("*.npy")):
        flip(file)
        assert says(now(target)) == whole
    (database,) = cache.rglob("corpus.db")
    reader = now(target)
    database.write_bytes(b"no database" * 10_000)
    with pytest.raises(CorpusDamagedError):
        says(reader)
    assert says(asyncio.run(open_corpus(target))) == whole


def test_a_copy_answers_within_the_bound_and_not_beyond(
    origin: Path, target: str, cache: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    publish_replica(origin, target)
    reader = now(target)
    whole = says(reader)
    (tmp_path / "published" / POINTER).rename(tmp_path / "away")
    # A process that has a copy, and one that starts with it.
    address = f"file:{tmp_path}/published"
    (tmp_path / "published" / POINTER).mkdir()
    assert says(asyncio.run(open_corpus(target))) == whole
    assert says(now(target)) == whole
    assert "The earlier copy is used" in caplog.text
    # Too old: it refuses, whoever holds it.
    assert isinstance(reader, ReplicaReader)
    reader = now(target)
    assert isinstance(reader, ReplicaReader)
    reader.freshness.confirm(time.time() - 901)
    noted = next(cache.rglob("confirmed.json"))
    noted.write_text(json.dumps({**json.loads(noted.read_text()), "at": time.time() - 901}))
    with pytest.raises(CorpusUnreachableError, match="901 seconds ago, but only 900 are allowed"):
        says(reader)
    with pytest.raises(CorpusUnreachableError, match="out of date") as raised:
        asyncio.run(open_corpus(target))
    assert "cannot be used" in raised.value.message
    with pytest.raises(CorpusUnreachableError, match="cannot be used"):
        now(target)
    # It is back.
    (tmp_path / "published" / POINTER).rmdir()
    (tmp_path / "away").rename(tmp_path / "published" / POINTER)
    assert says(asyncio.run(open_corpus(address))) == whole


def test_a_note_of_a_time_to_come_is_not_believed(origin: Path, target: str, cache: Path, tmp_path: Path) -> None:
    publish_replica(origin, target)
    now(target)
    noted = next(cache.rglob("confirmed.json"))
    noted.write_text(json.dumps({**json.loads(noted.read_text()), "at": time.time() + 3600}))
    (tmp_path / "published" / POINTER).write_text("")
    with pytest.raises(CorpusDamagedError):
        now(target)


def test_a_process_that_hangs_holds_up_the_others_for_the_bound(origin: Path, target: str, tmp_path: Path) -> None:
    with cache_at(tmp_path / "cache", age=0.2):
        publish_replica(origin, target)
        now(target)
        with FileLock(next((tmp_path / "cache").iterdir()) / "lock"), pytest.raises(OperationError, match="lock"):
            now(target)


def test_what_was_removed_altogether_does_not_come_back(origin: Path, target: str, cache: Path, tmp_path: Path) -> None:
    publish_replica(origin, target)
    now(target)
    write(origin, weir="", mill="", bees="")
    publish_replica(origin, target)
    with pytest.raises(CorpusEmptyError):
        now(target)
    (tmp_path / "published" / POINTER).write_text("")
    with pytest.raises(CorpusDamagedError):
        now(target)
    assert not list(cache.rglob("corpus.db"))
    write(origin, pike=PIKE)
    (tmp_path / "published" / POINTER).unlink()
    publish_replica(origin, target)
    assert says(now(target)) == {PIKE}


def test_what_is_published_is_not_written_to(origin: Path, target: str, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Herons.")
    publish_replica(origin, target)
    for corpus in (target, str(tmp_path / "published"), "s3://bucket/notes"):
        for work in (
            lambda corpus=corpus: open_writer(corpus).__enter__(),
            lambda corpus=corpus: ingest(tmp_path / "notes", corpus),
            lambda corpus=corpus: remove(corpus, "weir"),
            lambda corpus=corpus: publish_replica(corpus, tmp_path / "other"),
        ):
            with pytest.raises(SettingsError, match="can only be read") as raised:
                work()
            assert "anabranch corpus publish" in raised.value.hint


def test_another_corpus_or_an_old_copy_takes_no_place(origin: Path, target: str, cache: Path, tmp_path: Path) -> None:
    publish_replica(origin, target)
    shutil.copytree(origin, tmp_path / "copy")
    write(origin, pike=PIKE)
    publish_replica(origin, target)
    with pytest.raises(SettingsError, match="holds a later state than the corpus at"):
        publish_replica(tmp_path / "copy", target)
    # As many changes, but others.
    write(tmp_path / "copy", eel="The eel hides.")
    with pytest.raises(SettingsError, match="holds a later state than the corpus at"):
        publish_replica(tmp_path / "copy", target)
    write(tmp_path / "another", eel="The eel hides.")
    with pytest.raises(SettingsError, match="Another corpus"):
        publish_replica(tmp_path / "another", target)
    assert PIKE in says(now(target))


def test_a_corpus_is_not_published_among_other_files(origin: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Herons.")
    for place in (origin, tmp_path / "notes"):
        with pytest.raises(UserError, match="other files"):
            publish_replica(origin, place)
    assert len(says(open_folder(origin))) == 3


def test_nothing_is_published_there(tmp_path: Path, cache: Path, origin: Path) -> None:
    with pytest.raises(CorpusNotFoundError):
        now((tmp_path / "published").as_uri())
    with pytest.raises(SettingsError, match="cannot be published"):
        publish_replica(origin, "gs://bucket/notes")


def test_the_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, origin: Path, cache: Path) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.delitem(sys.modules, "anabranch_copies.replica.s3_objects", raising=False)
    for work in (lambda: publish_replica(origin, "s3://bucket/notes"), lambda: now("s3://bucket/notes")):
        with pytest.raises(MissingExtraError) as raised:
            work()
        assert "anabranch[s3]" in raised.value.hint


@pytest.mark.parametrize("address", ["s3://me:SeCrEt@bucket/notes", "s3://bucket/notes?secret=SeCrEt", "s3://bucket"])
def test_addresses_that_are_none(origin: Path, address: str) -> None:
    with pytest.raises(SettingsError) as raised:
        publish_replica(origin, address)
    assert "SeCrEt" not in str(raised.value)


@pytest.mark.loopback
class TestS3:
    def test_a_server_that_does_not_answer(
        self, bucket: str, origin: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        target = f"{bucket}/notes"
        publish_replica(origin, target)
        whole = says(now(target))
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        assert says(now(target)) == whole
        assert "does not answer" in caplog.text
        shutil.rmtree(cache)
        with pytest.raises(CorpusUnreachableError, match="does not answer"):
            now(target)
        with pytest.raises(CorpusUnreachableError, match="does not answer"):
            publish_replica(origin, target)

    def test_wrong_credentials_are_not_shown(
        self, bucket: str, s3: str, origin: Path, cache: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        import httpx

        target = f"{bucket}/secret"
        publish_replica(origin, target)
        caplog.set_level(logging.INFO)
        httpx.post(f"{s3}/moto-api/reset-auth", content=b"0")
        try:
            for work in (lambda: publish_replica(origin, target, anew=True), lambda: now(target)):
                with pytest.raises(SettingsError, match="refused the credentials") as raised:
                    work()
                said = f"{raised.value} {raised.value.__cause__} {caplog.text}"
                assert SECRET not in said
                assert "tester" not in str(raised.value)
        finally:
            httpx.post(f"{s3}/moto-api/reset-auth", content=b"inf")

    def test_no_credentials(self, bucket: str, origin: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.delenv(name)
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
        with pytest.raises(SettingsError, match="none were found"):
            publish_replica(origin, f"{bucket}/notes")

    def test_a_bucket_that_is_not_there(self, bucket: str, origin: Path, cache: Path) -> None:
        with pytest.raises(CorpusNotFoundError):
            now("s3://no-such-bucket/notes")
        with pytest.raises(SettingsError, match="no-such-bucket"):
            publish_replica(origin, "s3://no-such-bucket/notes")

    def test_a_damaged_file(self, bucket: str, origin: Path, cache: Path, tmp_path: Path) -> None:
        target = f"{bucket}/damaged"
        publish_replica(origin, target)
        objects = objects_at(target)
        wrong = tmp_path / "wrong"
        wrong.write_bytes(b"wrong")
        objects.put(wrong, min(objects.written()))
        with pytest.raises(CorpusDamagedError, match="not what was published"):
            now(target)
