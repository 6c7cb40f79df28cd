"""What is closed in the folder that a server's callers may have read, by whatever name or link they come."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anabranch.errors import UserError
from anabranch.ingestion.directory_walk import survey
from anabranch.ingestion.ingest_root import IngestRoot

OWN = ".anabranch/uploads/0f"
NAMES = (
    "mill.md", "notes/a.md", ".env", ".ssh/id_rsa", "notes/.netrc", "auth.yaml", "log/audit.jsonl", "data/server.db",
    f"{OWN}/mine.md", f"{OWN}/.draft", ".anabranch/uploads/f0/theirs.md", ".anabranch/replicas/x/a.md",
)  # fmt: skip
OPERATORS = ("auth.yaml", "log/audit.jsonl", "data", "postgresql://anabranch@db/anabranch", "nowhere", "a\0b")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def root(home: Path, *, is_open: bool = True) -> IngestRoot:
    return IngestRoot(home, OWN, is_open=is_open, closed=OPERATORS)


@pytest.mark.parametrize("is_open", [True, False])
def test_what_is_read_is_one_s_own_and_what_the_operator_opened(home: Path, *, is_open: bool) -> None:
    admitted = {name for name in NAMES if root(home, is_open=is_open).admits((home / name).resolve())}
    assert admitted == {f"{OWN}/mine.md"} | ({"mill.md", "notes/a.md"} if is_open else set())


def test_a_walk_passes_by_what_is_closed(home: Path) -> None:
    found = survey([Path()], root=root(home)).files
    assert [each.source for each in found] == ["mill.md", "notes/a.md"]
    with pytest.raises(UserError, match="is outside the ingest root"):
        survey([Path()], root=root(home, is_open=False))
    assert [each.source for each in survey([Path(OWN)], root=root(home, is_open=False)).files] == ["mine.md"]


@pytest.mark.parametrize("name", [each for each in NAMES if "md" not in each] + [".anabranch/uploads/f0/theirs.md"])
def test_no_link_and_no_spelling_opens_what_is_closed(name: str, home: Path) -> None:
    (home / "notes" / "link.md").symlink_to(home / name)
    (home / "notes" / "folder").symlink_to((home / name).parent)
    os.link(home / name, home / "notes" / "hard.md")
    given = [
        name,
        f"notes/../{name}",
        f"./{name}",
        str(home / name),
        "notes/link.md",
        f"notes/folder/{Path(name).name}",
    ]
    for path in given:
        with pytest.raises(UserError, match="outside the ingest root"):
            survey([Path(path)], root=root(home))
    walked = {each.source for each in survey([Path("notes")], root=root(home)).files}
    # A second name of a hidden file is a file like others; of the operator's own it is that file.
    assert walked - {"a.md", "hard.md", "folder/mill.md"} == set()
    assert ("hard.md" in walked) == (name not in ("auth.yaml", "log/audit.jsonl"))
