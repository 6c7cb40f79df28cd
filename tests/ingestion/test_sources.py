"""What is taken in and what is not, and what of it is gone the next time; through a whole ingest where that matters."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from anabranch.errors import UserError
from anabranch.ingestion import safe_open as handles
from anabranch.ingestion.directory_walk import FoundFile, survey
from anabranch.ingestion.intake import Intake
from anabranch.ingestion.isolation import process_pool as pool
from anabranch.ingestion.pipeline import IngestReport, ingest
from anabranch.ingestion.sources import gather
from anabranch.models.wordpiece_tokenizer import MINILM_TOKENIZER
from anabranch.readers.document import Failure
from anabranch.store.local_store import LocalWriter
from anabranch.store.maintenance import verify
from plugins.sources.tests.web.site import Site, page, serving
from tests.ingestion.archives.packing import encrypted, tarred, zipped
from tests.ingestion.ingest_runs import SIZES, Flat, silent
from tests.ingestion.test_pipeline import found, rows, statuses

HERONS = b"# Herons\n\nHerons wait in the shallows.\n"
SWIFTS = b"# Swifts\n\nSwifts sleep in the air.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (home := tmp_path / "documents").mkdir()
    (home / "mill.md").write_text("# Mill\n\nThe mill grinds corn.\n")
    return home


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return tmp_path / "corpus"


@pytest.fixture(autouse=True)
def _nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    yield
    assert list(temporary.iterdir()) == []


def sources(corpus: Path) -> list[str]:
    return [source for (source,) in rows(corpus, "SELECT source FROM documents ORDER BY source")]


def test_the_length_grows_with_what_archives_hold(folder: Path) -> None:
    zipped(folder / "a.zip", ("a.md", HERONS), ("b.md", SWIFTS))
    with gather([folder], archives=True) as items:
        assert len(items) == 2
        lengths = []
        for item in items:
            lengths.append(len(items))
            assert isinstance(item, FoundFile)
            item.discard()
    assert lengths == [2, 3, 3]


def test_an_empty_archive_is_nothing(folder: Path) -> None:
    zipped(folder / "a.zip")
    with gather([folder], archives=True) as items:
        assert [item.source for item in items] == ["mill.md"]
        assert len(items) == 1


def test_archives_are_opened_only_when_asked_for(folder: Path, corpus: Path) -> None:
    zipped(folder / "a.zip", ("a.md", HERONS))
    report = ingest([folder], corpus)
    assert statuses(report) == {"a.zip": "skipped", "mill.md": "added"}
    assert "--archives" in report.rows[0].reason
    assert sources(corpus) == ["mill.md"]


def test_members_are_documents_of_their_own(folder: Path, corpus: Path) -> None:
    zipped(folder / "birds.zip", ("a/herons.md", HERONS), ("swifts.txt", SWIFTS))
    report = ingest([folder], corpus, archives=True)
    assert statuses(report) == {"birds.zip!/a/herons.md": "added", "birds.zip!/swifts.txt": "added", "mill.md": "added"}
    assert found(corpus, "shallows") == ["birds.zip!/a/herons.md"]
    assert rows(corpus, "SELECT title FROM documents WHERE source LIKE '%swifts.txt'") == [("swifts",)]
    again = ingest([folder], corpus, archives=True)
    assert set(statuses(again).values()) == {"unchanged"}
    assert again.embedded == 0
    assert verify(corpus) == []


def test_a_bad_member_costs_itself(folder: Path, corpus: Path) -> None:
    encrypted(zipped(folder / "a.zip", ("a.md", HERONS)))
    zipped(folder / "b.zip", ("../up.md", HERONS), ("film.mp4", b"film"), ("empty.md", b""), ("b.md", SWIFTS))
    (folder / "c.zip").write_bytes(b"PK\x03\x04 nothing more")
    report = ingest([folder], corpus, archives=True)
    assert statuses(report) == {
        "a.zip!/a.md": "failed",
        "b.zip!/../up.md": "failed",
        "b.zip!/film.mp4": "skipped",
        "b.zip!/empty.md": "failed",
        "b.zip!/b.md": "added",
        "c.zip": "failed",
        "mill.md": "added",
    }
    reasons = [row.reason.split(":")[0] for row in report.rows if row.reason]
    assert reasons == ["encrypted", "refused", "unsupported", "empty", "broken"]


def test_exactly_what_changed_in_an_archive_is_updated(folder: Path, corpus: Path) -> None:
    zipped(folder / "x.zip", ("a.md", HERONS), ("b.md", SWIFTS), ("c.md", b"Bees dance."))
    ingest([folder], corpus, archives=True)
    zipped(folder / "x.zip", ("a.md", HERONS), ("b.md", SWIFTS + b"Always."), ("d.md", b"Bees dance."))
    report = ingest([folder], corpus, archives=True)
    assert statuses(report) == {
        "x.zip!/a.md": "unchanged",
        "x.zip!/b.md": "updated",
        "x.zip!/c.md": "removed",
        "x.zip!/d.md": "added",
        "mill.md": "unchanged",
    }


def test_members_go_with_their_archive(folder: Path, corpus: Path) -> None:
    tarred(folder / "x.tgz", ("a.md", HERONS), mode="w:gz")
    ingest([folder], corpus, archives=True)
    (folder / "x.tgz").unlink()
    assert statuses(ingest([folder], corpus)) == {"mill.md": "unchanged", "x.tgz!/a.md": "removed"}
    assert sources(corpus) == ["mill.md"]


@pytest.mark.parametrize("archives", [True, False])
def test_members_stay_while_nobody_has_looked(folder: Path, corpus: Path, *, archives: bool) -> None:
    archive = tarred(folder / "x.tar.gz", ("a.md", HERONS), ("b.md", os.urandom(3000).hex().encode()), mode="w:gz")
    ingest([folder], corpus, archives=True)
    archive.write_bytes(archive.read_bytes()[:1500])
    ingest([folder], corpus, archives=archives)
    assert sources(corpus) == ["mill.md", "x.tar.gz!/a.md", "x.tar.gz!/b.md"]


def test_a_member_that_turns_bad_keeps_its_old_version(folder: Path, corpus: Path) -> None:
    archive = zipped(folder / "x.zip", ("a.md", HERONS))
    ingest([folder], corpus, archives=True)
    encrypted(archive)
    assert statuses(ingest([folder], corpus, archives=True))["x.zip!/a.md"] == "failed"
    assert found(corpus, "shallows") == ["x.zip!/a.md"]


def test_an_archive_that_is_given_itself_is_pruned_like_a_folder(tmp_path: Path, corpus: Path) -> None:
    archive = zipped(tmp_path / "x.zip", ("a.md", HERONS), ("b.md", SWIFTS))
    ingest([archive], corpus, archives=True)
    zipped(archive, ("a.md", HERONS))
    assert statuses(ingest([archive], corpus, archives=True, prune=False)) == {"x.zip!/a.md": "unchanged"}
    report = ingest([archive], corpus, archives=True)
    assert statuses(report) == {"x.zip!/a.md": "unchanged", "x.zip!/b.md": "removed"}


def test_two_archives_of_one_name_stay_apart(tmp_path: Path, corpus: Path) -> None:
    for name, text in (("one", HERONS), ("two", SWIFTS)):
        (tmp_path / name).mkdir()
        ingest([zipped(tmp_path / name / "x.zip", ("a.md", text))], corpus, archives=True)
    assert len(sources(corpus)) == 2
    assert statuses(ingest([tmp_path / "one"], corpus, archives=True)) == {"x.zip!/a.md": "unchanged"}


def test_what_links_led_to_is_kept_and_goes_with_its_file(folder: Path, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/herons.md").write_bytes(HERONS)
    (folder / "out").symlink_to(tmp_path / "elsewhere")
    assert statuses(ingest([folder], corpus)) == {"mill.md": "added"}
    assert statuses(ingest([folder], corpus, follow_links=True))["out/herons.md"] == "added"
    assert statuses(ingest([folder], corpus)) == {"mill.md": "unchanged"}
    (tmp_path / "elsewhere/herons.md").unlink()
    assert statuses(ingest([folder], corpus, follow_links=True))["out/herons.md"] == "removed"


@pytest.mark.parametrize(
    "bad", ["ftp://example.org/", "file:///etc/passwd", "http://u:p@example.org/", "http://127.1/"]
)
def test_an_address_that_is_none_of_the_web_makes_nothing(folder: Path, corpus: Path, bad: str) -> None:
    with pytest.raises(UserError):
        ingest([folder, bad], corpus)
    assert not corpus.exists()


def test_a_path_object_is_never_an_address(folder: Path, corpus: Path) -> None:
    with pytest.raises(UserError, match="nothing at"):
        ingest([folder, Path("https://example.org/")], corpus)


@pytest.mark.loopback
class TestPages:
    @pytest.fixture
    def site(self) -> Iterator[Site]:
        answers = {
            "/herons.md": page(HERONS, "text/plain"),
            "/swifts": page("<title>On swifts</title><p>Swifts sleep in the air."),
            "/gone": page("", status="404 Not FoundFile"),
            "/x.zip": page(b"PK", "application/zip"),
        }
        with serving(answers) as site:
            yield site

    def take(self, site: Site, corpus: Path, *paths: str) -> IngestReport:
        return ingest([f"http://127.0.0.1:{site.port}{path}" for path in paths], corpus, private_urls=True)

    def test_a_page_is_known_by_its_address(self, site: Site, corpus: Path) -> None:
        url = f"http://127.0.0.1:{site.port}/"
        report = self.take(site, corpus, "/herons.md", "/swifts", "/swifts#part", "/gone", "/x.zip")
        assert statuses(report) == {
            f"{url}herons.md": "added",
            f"{url}swifts": "added",
            f"{url}gone": "failed",
            f"{url}x.zip": "skipped",
        }
        assert report.rows[2].reason == "unreachable: The server answered 404."
        assert found(corpus, "shallows") == [f"{url}herons.md"]
        facts = rows(corpus, "SELECT title, json_extract(metadata, '$.url') FROM documents ORDER BY title")
        assert facts == [("Herons", f"{url}herons.md"), ("On swifts", f"{url}swifts")]

    def test_the_second_time_only_what_changed_is_new(self, site: Site, corpus: Path) -> None:
        self.take(site, corpus, "/herons.md", "/swifts")
        site.answers["/swifts"] = page("<title>On swifts</title><p>Swifts do not land for months.")
        report = self.take(site, corpus, "/herons.md", "/swifts")
        assert [row.status for row in report.rows] == ["unchanged", "updated"]
        assert verify(corpus) == []

    def test_a_page_that_is_gone_keeps_its_last_version(self, site: Site, corpus: Path, folder: Path) -> None:
        self.take(site, corpus, "/swifts")
        site.answers["/swifts"] = page("", status="404 Not FoundFile")
        assert [row.status for row in self.take(site, corpus, "/swifts").rows] == ["failed"]
        assert statuses(ingest([folder, folder.parent], corpus))["mill.md"] == "added"
        assert len(found(corpus, "swifts sleep")) == 1

    def test_ones_own_network_is_refused_unless_asked_for(self, site: Site, corpus: Path, folder: Path) -> None:
        report = ingest([str(folder), f"http://127.0.0.1:{site.port}/swifts"], corpus)
        assert [row.status for row in report.rows] == ["added", "failed"]
        assert report.rows[1].reason.startswith("refused: ")
        assert "--allow-private-urls" in report.rows[1].reason
        assert site.requests == []

    def test_failures_are_items_like_others(self, site: Site) -> None:
        with gather([f"http://127.0.0.1:{site.port}/gone"], private_urls=True) as items:
            (item,) = items
            assert len(items) == 1
        assert isinstance(item, Failure)


SECRET = "The combination of the safe is 3141."


def swapped(file: Path, secret: Path, how: str) -> None:
    """Put a link in the place of a file, or of its folder, that leads out."""
    if how == "file":
        file.unlink()
        file.symlink_to(secret)
    else:
        file.parent.rename(file.parent.with_name("former"))
        file.parent.symlink_to(secret.parent)


@pytest.mark.parametrize("how", ["file", "folder"])
@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.zip"])
@pytest.mark.parametrize("follow_links", [False, True])
def test_a_link_put_in_the_place_of_what_was_found_is_not_followed(
    folder: Path, corpus: Path, tmp_path: Path, how: str, name: str, *, follow_links: bool
) -> None:
    secret, file = tmp_path / "secret" / name, folder / "inbox" / name
    for place in (secret, file):
        place.parent.mkdir()
        place.write_text("Nothing.")
    if name == "a.zip":
        zipped(secret, ("s.md", SECRET.encode()))
        zipped(file, ("s.md", b"Nothing."))
    else:
        secret.write_text(SECRET)
    corpus.mkdir()
    report = IngestReport()
    asked = gather([folder], archives=True, follow_links=follow_links)
    with closing(LocalWriter(corpus)) as writer, asked as found:
        intake = Intake(writer, Flat(MINILM_TOKENIZER), SIZES, (), report, silent)
        swapped(file, secret, how)
        intake.take(found)
        intake.fill_report(found)
        assert writer.all("SELECT text FROM chunks WHERE text LIKE '%3141%'") == []
    (row,) = [row for row in report.rows if row.source.startswith("inbox/")]
    assert (row.status, row.source) == ("failed", f"inbox/{name}")
    assert "a link was put in its place" in row.reason


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.zip"])
def test_a_link_put_there_after_the_last_look_makes_no_difference(
    folder: Path, corpus: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, file = tmp_path / "secret" / name, folder / "inbox" / name
    for place, said in ((secret, SECRET), (file, "Herons.")):
        place.parent.mkdir()
        zipped(place, ("s.md", said.encode())) if name == "a.zip" else place.write_text(said)
    opened = handles.open_real

    def swapping(real: Path) -> int:
        descriptor = opened(real)
        if real == file and not file.is_symlink():
            swaps.append(real)
            if len(swaps) == looks:
                swapped(file, secret, "file")
        return descriptor

    # The first look is for the hash, but an archive is not hashed; the last one is the reading.
    looks, swaps = 1 if name == "a.zip" else 2, list[Path]()
    monkeypatch.setattr(handles, "open_real", swapping)
    monkeypatch.setattr(pool, "_HERE", frozenset({".txt", ".csv"}))  # read in this process, where the swap is made
    corpus.mkdir()
    with closing(LocalWriter(corpus)) as writer, gather([folder], archives=True) as found:
        intake = Intake(writer, Flat(MINILM_TOKENIZER), SIZES, (), IngestReport(), silent)
        intake.take(found)
        assert file.is_symlink()
        texts = " ".join(text for (text,) in writer.all("SELECT text FROM chunks WHERE level = 2"))
    assert "Herons" in texts
    assert "3141" not in texts


def test_a_folder_swapped_while_it_is_looked_through_shows_nothing_outside(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (folder / "inbox", tmp_path / "secret"):
        place.mkdir()
        (place / "a.txt").write_text("x")
    scandir = os.scandir

    def swapping(path: Path) -> Any:
        if Path(path) == folder / "inbox" and not path.is_symlink():
            swapped(folder / "inbox" / "a.txt", tmp_path / "secret" / "a.txt", "folder")
        return scandir(path)

    monkeypatch.setattr("os.scandir", swapping)
    assert "inbox/a.txt" not in [found.source for found in survey([folder]).files]
