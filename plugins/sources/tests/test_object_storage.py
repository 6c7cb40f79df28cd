"""Objects in buckets are taken in, into a folder and by workers, and only those that changed are copied."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import OperationError, SettingsError
from anabranch.ingestion.pipeline import ingest
from anabranch_postgres.queue.consumer import work
from anabranch_postgres.queue.producer import enqueue
from anabranch_sources.object_storage import ObjectFolder
from plugins.postgres.tests.conftest import corpus
from tests.faults.models import make_model

__all__ = ["corpus"]

pytestmark = pytest.mark.loopback


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = pytest.importorskip("moto.server", reason="moto is not installed").ThreadedMotoServer(
        "127.0.0.1", 0, verbose=False
    )
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name, value in {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    import boto3

    made = boto3.resource("s3").Bucket("papers")
    made.create()
    for day in range(3):
        put(made, f"days/day{day}.txt", f"On day {day} the gauge stood still.")
    put(made, "days/old/day9.md", "On day 9 the gauge stood still.")
    put(made, "days/film.mp4", "film")
    put(made, "days/.hidden/secret.txt", "secret")
    put(made, "elsewhere/day8.txt", "On day 8 the gauge stood still.")
    yield made
    made.objects.delete()
    made.delete()


def put(bucket: Any, key: str, text: str) -> None:
    bucket.put_object(Key=key, Body=text.encode())


@pytest.fixture
def model(tmp_path: Path) -> str:
    return str(make_model(tmp_path / "model"))


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The objects that were copied."""
    seen: list[str] = []
    fetch = ObjectFolder._fetch

    def noted(self: ObjectFolder, path: str, copy: Path) -> str:
        seen.append(path)
        return fetch(self, path, copy)

    monkeypatch.setattr(ObjectFolder, "_fetch", noted)
    return seen


def test_objects_in_a_folder(bucket: Any, tmp_path: Path, model: str, copied: list[str]) -> None:
    def taken(**more: Any) -> dict[str, str]:
        return {row.source: row.status for row in ingest(["s3://papers/days"], tmp_path / "c", **more).rows}

    rows = taken(embedder=model)
    assert rows == {
        "s3://papers/days/day0.txt": "added",
        "s3://papers/days/day1.txt": "added",
        "s3://papers/days/day2.txt": "added",
        "s3://papers/days/film.mp4": "skipped",
        "s3://papers/days/old/day9.md": "added",
    }
    copied.clear()
    put(bucket, "days/day1.txt", "On day 1 the gauge stood in hour 7.")
    bucket.Object("days/day2.txt").delete()
    rows = taken()
    assert copied == ["papers/days/day1.txt"]
    assert rows["s3://papers/days/day0.txt"] == "unchanged"
    assert rows["s3://papers/days/day1.txt"] == "updated"
    assert rows["s3://papers/days/day2.txt"] == "removed"
    one = ingest(["s3://papers/elsewhere/day8.txt"], tmp_path / "c")
    assert [(row.source, row.status) for row in one.rows] == [("s3://papers/elsewhere/day8.txt", "added")]


def test_an_object_that_changes_while_it_is_copied_is_read_again(
    bucket: Any, tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import s3fs

    get = s3fs.S3FileSystem.get_file

    def changing(self: Any, path: str, copy: str) -> None:
        get(self, path, copy)
        put(bucket, "days/day0.txt", "On day 0 the gauge stood in hour 7.")

    with monkeypatch.context() as patched:
        patched.setattr(s3fs.S3FileSystem, "get_file", changing)
        ingest(["s3://papers/days/day0.txt"], tmp_path / "c", embedder=model)
    assert ingest(["s3://papers/days/day0.txt"], tmp_path / "c").count("updated") == 1
    assert ingest(["s3://papers/days/day0.txt"], tmp_path / "c").count("unchanged") == 1


def test_objects_by_workers(bucket: Any, corpus: str, model: str, copied: list[str]) -> None:
    assert enqueue("s3://papers/days", corpus, embedder=model).count("queued") == 4
    assert copied == []
    assert work(corpus).counts == {"added": 4}
    assert len(copied) == 4
    bucket.Object("days/day2.txt").delete()
    again = enqueue("s3://papers/days", corpus)
    assert (again.count("unchanged"), again.count("removed"), again.count("queued")) == (3, 1, 0)
    put(bucket, "days/day1.txt", "On day 1 the gauge stood in hour 7.")
    assert enqueue("s3://papers/days", corpus).count("queued") == 1
    assert work(corpus).counts == {"updated": 1}


@pytest.mark.parametrize("address", ["s3://", "s3://nowhere/x", "s3://papers/nothing"])
def test_addresses_of_nothing(bucket: Any, tmp_path: Path, model: str, address: str) -> None:
    with pytest.raises(SettingsError, match=r"nothing at|no bucket"):
        ingest([address], tmp_path / "c", embedder=model)


def test_keys_in_an_address_are_refused_and_not_repeated(tmp_path: Path, model: str) -> None:
    with pytest.raises(SettingsError, match="only its name") as raised:
        ingest(["s3://key:secret@papers/days"], tmp_path / "c", embedder=model)
    assert "secret" not in str(raised.value)


def test_a_service_that_does_not_answer(tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(OperationError, match="cannot be listed"):
        ingest(["s3://papers/days"], tmp_path / "c", embedder=model)
