"""The step of CI that tries the wheel with other Pythons: what it names, and when it fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.installation import PYTHONS
from scripts import other_pythons

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
OTHERS = [version for version in PYTHONS if version != OWN]


def test_without_other_pythons_nothing_is_built(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(other_pythons, "interpreter", lambda version: None)
    monkeypatch.setattr(other_pythons, "wheel_and_corpus", lambda folder: pytest.fail("built"))
    assert other_pythons.main() == 0
    assert capsys.readouterr().out.splitlines() == [f"Python {version}: not on this machine" for version in OTHERS]


def test_one_that_does_not_answer_fails_and_the_others_are_tried(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(other_pythons, "interpreter", lambda version: version)
    monkeypatch.setattr(other_pythons, "wheel_and_corpus", lambda folder: folder / "a.whl")
    monkeypatch.setattr(other_pythons, "installed", lambda python, wheel, folder: Path(python))
    monkeypatch.setattr(other_pythons, "answers", lambda programs, folder: str(programs) != OTHERS[0])
    assert other_pythons.main() == 1
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == f"Python {OTHERS[0]}: fails"
    assert rest == [f"Python {version}: works" for version in OTHERS[1:]]


@pytest.mark.parametrize(
    ("part", "said"), [("build", ["The wheel cannot be built here."]), ("pip", [f"Python {OTHERS[0]}: nothing can"])]
)
def test_without_a_registry_it_says_so_and_fails_nobody(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], part: str, said: list[str]
) -> None:
    def run(*command: str | Path, folder: Path) -> str:
        if part in command:
            raise subprocess.CalledProcessError(1, [*map(str, command)])
        if part == "pip" and "build" in command:
            (folder / "dist").mkdir()
            (folder / "dist" / "a.whl").touch()
        return ""

    monkeypatch.setattr(other_pythons, "interpreter", lambda version: version)
    monkeypatch.setattr(other_pythons, "run", run)
    assert other_pythons.main() == 0
    printed = capsys.readouterr().out.splitlines()
    assert all(line.startswith(start) for line, start in zip(printed, said, strict=False))
    assert not any("works" in line or "fails" in line for line in printed)
