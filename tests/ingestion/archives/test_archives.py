from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch.ingestion.archives import is_archive, members, unpack_limits
from anabranch.ingestion.archives.unpack_limits import FLOOR
from anabranch.ingestion.directory_walk import FoundFile
from anabranch.readers.document import Failure
from tests.ingestion.archives.packing import opened, special, tarred, zipped

NOTE = b"# Herons\n\nHerons wait in the shallows.\n"
EMPTY_XZ = lzma.compress(b"", preset=0)
MODES = {".zip": "", ".tar": "w", ".tar.gz": "w:gz", ".tgz": "w:gz", ".tar.bz2": "w:bz2", ".tar.xz": "w:xz"}


def packed(path: Path, *files: tuple[str, bytes]) -> Path:
    mode = next(mode for ending, mode in reversed(MODES.items()) if path.name.endswith(ending))
    return tarred(path, *files, mode=mode) if mode else zipped(path, *files)


@pytest.mark.parametrize("ending", MODES)
def test_files_come_out_as_they_went_in(tmp_path: Path, ending: str) -> None:
    files = [("a.md", NOTE), ("deep/er/b.txt", b"b" * 3_000_000), ("deep/c.md", b"c")]
    archive = packed(tmp_path / f"notes{ending}", *files)
    assert is_archive(archive.name.upper())
    assert opened(archive) == {f"notes{ending}!/{name}": data for name, data in files}


@pytest.mark.parametrize("name", ["a.zip.md", "a.docx", "zip", "a.gz", "a.7z", "a.epub"])
def test_other_files_are_no_archives(name: str) -> None:
    assert not is_archive(name)


@pytest.mark.parametrize("ending", MODES)
def test_one_copy_is_on_the_disk_at_a_time(tmp_path: Path, ending: str) -> None:
    archive = packed(tmp_path / f"notes{ending}", *((f"{n}.md", NOTE) for n in range(5)))
    copies = tmp_path / "copies"
    copies.mkdir()
    for number, item in enumerate(members(FoundFile(archive, "notes"), copies)):
        assert isinstance(item, FoundFile)
        assert item.source == f"notes!/{number}.md"
        assert item.identity == f"{archive.resolve()}!/{number}.md"
        assert item.path.name == f"{number}.md"
        assert [file for file in copies.rglob("*") if file.is_file()] == [item.path]
        item.discard()
    assert number == 4
    assert list(copies.iterdir()) == []


UNSAFE = [
    "../up.md",
    "a/../../up.md",
    "..",
    "/etc/cron.d/evil.md",
    "//server/share.md",
    "C:\\windows\\evil.md",
    "c:evil.md",
    "..\\up.md",
    "a\\..\\..\\up.md",
    "\\\\server\\share.md",
    "a\nb.md",
    "a\x1b[31m.md",
    "long/" * 250 + "a.md",
]


@pytest.mark.parametrize("ending", [".zip", ".tar.gz"])
@pytest.mark.parametrize("name", UNSAFE)
def test_names_that_lead_out_are_refused_and_cost_only_themselves(tmp_path: Path, ending: str, name: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    found = opened(packed(inside / f"x{ending}", ("before.md", NOTE), (name, b"evil"), ("after.md", NOTE)))
    assert found.pop(f"x{ending}!/before.md") == found.pop(f"x{ending}!/after.md") == NOTE
    assert list(found.values()) == ["refused"]
    assert [file.name for file in tmp_path.iterdir()] == ["inside"]


@pytest.mark.parametrize("ending", MODES)
def test_hidden_members_and_folders_are_left_out_as_on_the_disk(tmp_path: Path, ending: str) -> None:
    names = [".env", ".git/config", "a/.hidden.md", "__MACOSX/a/._b.md", "a/b.md", "./c.md"]
    archive = packed(tmp_path / f"x{ending}", *((name, NOTE) for name in names))
    assert opened(archive) == {f"x{ending}!/{name}": NOTE for name in ("a/b.md", "c.md")}


@pytest.mark.parametrize("ending", [".zip", ".tar"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_two_members_of_one_name_the_first_counts(tmp_path: Path, ending: str) -> None:
    archive = packed(tmp_path / f"x{ending}", ("a.md", b"first"), ("./a.md", b"second"), ("b.md", NOTE))
    copies = tmp_path / "copies"
    copies.mkdir()
    found = [
        item.reason if isinstance(item, Failure) else item.path.read_bytes()
        for item in members(FoundFile(archive, "x"), copies)
    ]
    assert found == [b"first", "duplicate", NOTE]


@pytest.mark.parametrize("ending", [".zip", ".tar.xz"])
def test_archives_in_archives_and_other_kinds_are_not_unpacked(tmp_path: Path, ending: str) -> None:
    inner = zipped(tmp_path / "inner.zip", ("a.md", NOTE)).read_bytes()
    archive = packed(
        tmp_path / f"x{ending}",
        ("in.zip", inner),
        ("in.tar.gz", inner),
        ("a.1.gz", inner),
        ("film.mp4", NOTE),
        ("b.md", NOTE),
    )
    assert opened(archive) == {
        f"x{ending}!/in.zip": "unsupported",
        f"x{ending}!/in.tar.gz": "unsupported",
        f"x{ending}!/a.1.gz": "unsupported",
        f"x{ending}!/film.mp4": "unsupported",
        f"x{ending}!/b.md": NOTE,
    }


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, most in (("MOST_MEMBERS", 3), ("MOST_OF_ONE", 1000), ("RATIO", 10)):
        monkeypatch.setattr(unpack_limits, name, most)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("ending", MODES)
def test_a_member_that_is_too_large_costs_itself(tmp_path: Path, ending: str) -> None:
    archive = packed(tmp_path / f"x{ending}", ("a.md", NOTE), ("big.md", bytes(1001)), ("b.md", bytes(1000)))
    name = f"x{ending}!/"
    assert opened(archive) == {f"{name}a.md": NOTE, f"{name}big.md": "too_large", f"{name}b.md": bytes(1000)}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("ending", MODES)
def test_too_many_members_end_it(tmp_path: Path, ending: str) -> None:
    archive = packed(tmp_path / f"x{ending}", *((f"{n}.md", NOTE) for n in range(4)))
    found = opened(archive)
    assert found.pop(f"x{ending}") == "too_large"
    assert len(found) == 3


@pytest.mark.usefixtures("small")
def test_folders_count_as_members(tmp_path: Path) -> None:
    """Their headers are kept, and a small file unpacks to millions of them."""
    folders = [special(f"{n}", tarfile.DIRTYPE) for n in range(4)]
    archive = tarred(tmp_path / "x.tar.gz", *((folder, b"") for folder in folders), mode="w:gz")
    assert opened(archive) == {"x.tar.gz": "too_large"}


@pytest.mark.parametrize("ending", MODES)
def test_empty_members_are_told_and_no_copy_is_made_of_them(tmp_path: Path, ending: str) -> None:
    archive = packed(tmp_path / f"x{ending}", *((f"{n}.md", b"") for n in range(50)), ("a.md", NOTE))
    name = f"x{ending}!/"
    assert opened(archive) == {**{f"{name}{n}.md": "empty" for n in range(50)}, f"{name}a.md": NOTE}


@pytest.mark.parametrize(
    ("ending", "empty"),
    [(".tar.gz", gzip.compress(b"", mtime=0)), (".tar.bz2", bz2.compress(b"")), (".tar.xz", EMPTY_XZ)],
)
def test_an_archive_of_which_nothing_comes_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, empty: bytes
) -> None:
    monkeypatch.setattr(unpack_limits, "SILENCE", 0.01)
    (archive := tmp_path / f"x{ending}").write_bytes(empty * 100_000)
    (failure,) = members(FoundFile(archive, "x"), tmp_path)
    assert isinstance(failure, Failure)
    assert (failure.source, failure.reason) == ("x", "too_large")
    assert "nothing came out of it in 0.01 seconds" in failure.message


def test_the_time_that_others_take_between_two_members_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(unpack_limits.time, "thread_time", lambda: clock[0])
    archive = packed(tmp_path / "x.tar.gz", *((f"{n}.md", os.urandom(300_000)) for n in range(3)))
    copies = tmp_path / "copies"
    copies.mkdir()
    for item in members(FoundFile(archive, "x"), copies):
        assert isinstance(item, FoundFile)
        clock[0] += unpack_limits.SILENCE + 1


@pytest.mark.parametrize(
    ("ending", "floor"), [(".zip", FLOOR), (".tar.gz", 1 << 20), (".tar.bz2", 1 << 20), (".tar.xz", 1 << 20)]
)
@pytest.mark.parametrize("names", [["bomb.md"], ["bomb.bin"], ["a.md", "b.md"]])
def test_a_bomb_stops_at_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, floor: int, names: list[str]
) -> None:
    """To pack as much as the real bound takes seconds for all but .zip."""
    monkeypatch.setattr(unpack_limits, "FLOOR", floor)
    archive = packed(tmp_path / f"x{ending}", *((name, bytes(floor * 4 // 3)) for name in names))
    found = opened(archive).values()
    assert "too_large" in found or (ending, names) == (".zip", ["bomb.bin"])
    assert sum(len(data) for data in found if isinstance(data, bytes)) <= floor + 200 * archive.stat().st_size


@pytest.mark.parametrize("ending", MODES)
@pytest.mark.parametrize("kept", [0.2, 0.5, 0.8])
def test_what_breaks_off_is_said_and_what_came_before_is_kept(tmp_path: Path, ending: str, kept: float) -> None:
    files = [(f"{n}.md", os.urandom(4000)) for n in range(20)]
    archive = packed(tmp_path / f"x{ending}", *files)
    archive.write_bytes(archive.read_bytes()[: int(archive.stat().st_size * kept)])
    found = opened(archive)
    assert found.pop(f"x{ending}") == "broken"
    whole = {name.split("!/")[1]: data for name, data in found.items() if isinstance(data, bytes)}
    assert whole.items() <= dict(files).items()
    if ending in (".tar", ".tar.gz"):
        assert len(whole) >= int(20 * kept) - 2


@pytest.mark.parametrize("ending", MODES)
@pytest.mark.parametrize(
    "data", [b"", b"PK", b"hello, world" * 1000, bytes(5000)], ids=["empty", "PK", "text", "zeros"]
)
def test_what_is_no_archive_is_broken(tmp_path: Path, ending: str, data: bytes) -> None:
    archive = tmp_path / f"x{ending}"
    archive.write_bytes(data)
    found = opened(archive)
    assert found == ({} if ending == ".tar" and data == bytes(5000) else {f"x{ending}": "broken"})


def test_an_archive_that_may_not_be_read_is_unreadable(tmp_path: Path) -> None:
    (item,) = members(FoundFile(tmp_path / "gone.zip", "gone.zip"), tmp_path)
    assert isinstance(item, Failure)
    assert (item.source, item.reason) == ("gone.zip", "unreadable")


def test_a_copy_that_cannot_be_written_is_no_fault_of_the_archive(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "x.zip", ("a.md", NOTE))
    with pytest.raises(OSError, match="nowhere"):
        list(members(FoundFile(archive, "x.zip"), tmp_path / "nowhere"))


@pytest.mark.parametrize("ending", [".zip", ".tar", ".tar.gz", ".tar.xz"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_never_raises(tmp_path: Path, ending: str, data: st.DataObject) -> None:
    archive = packed(tmp_path / f"x{ending}", ("a.md", NOTE), ("b/c.md", b"x" * 700), ("d.txt", NOTE))
    content = bytearray(archive.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    archive.write_bytes(content)
    for name, found in opened(archive).items():
        assert name.startswith(f"x{ending}")
        assert isinstance(found, bytes | str)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20), max_size=5)
)
def test_whatever_the_names_are_files_stay_inside(tmp_path: Path, names: list[str]) -> None:
    (home := tmp_path / "home").mkdir(exist_ok=True)
    opened(zipped(home / "x.zip", *((f"{name}.md", NOTE) for name in names)))
    opened(tarred(home / "x.tar", *((f"{name}.md", NOTE) for name in names)))
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["copies", "home", "x.tar", "x.zip"]


KINDS = {
    "symbolic": tarfile.SYMTYPE,
    "hard": tarfile.LNKTYPE,
    "character": tarfile.CHRTYPE,
    "block": tarfile.BLKTYPE,
    "pipe": tarfile.FIFOTYPE,
}


@pytest.mark.parametrize("kind", KINDS)
def test_links_and_devices_are_refused(tmp_path: Path, kind: str) -> None:
    evil = special("evil.md", KINDS[kind], "/etc/passwd")
    archive = tarred(tmp_path / "x.tar", ("a.md", NOTE), (evil, b""), ("evil.md/b.md", NOTE))
    assert opened(archive) == {"x.tar!/a.md": NOTE, "x.tar!/evil.md": "refused", "x.tar!/evil.md/b.md": NOTE}


def test_zip_members_keep_no_attributes(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("a.md")
    info.external_attr = 0o104777 << 16
    archive = zipped(tmp_path / "x.zip", (info, NOTE))
    (copies := tmp_path / "copies").mkdir()
    (item,) = members(FoundFile(archive, "x.zip"), copies)
    assert isinstance(item, FoundFile)
    assert item.path.stat().st_mode & 0o7111 == 0
