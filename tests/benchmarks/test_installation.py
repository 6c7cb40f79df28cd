"""Pythons are found by running them, and a package that does not work is a row of the table and an exit status."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import installation


def shim(folder: Path, version: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"python{version}"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_a_python_that_does_not_start_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim(tmp_path / "bin", "3.12", "exit 127")
    shim(tmp_path / "bin", "3.13", f"exec {sys.executable} -c \"print('3.13.9 of a test')\"")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert installation.interpreter("3.12") is None
    assert installation.interpreter("3.13") == str(tmp_path / "bin" / "python3.13")


def test_pyenv_has_what_the_search_path_has_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "versions" / "3.12.4" / "bin"
    shim(place, "", 'echo "3.12.4 of a test"')
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert installation.interpreter("3.12") == str(place / "python")


def test_one_that_fails_is_named_and_the_exit_status_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measured(python: str, package: Path, resolution: str, folder: Path) -> installation.Figures:
        if python == "3.13":
            raise subprocess.CalledProcessError(1, ["uv", "pip"])
        return installation.Figures(441.4, 12.3, 9.2)

    monkeypatch.setattr(installation, "built", lambda folder: (folder / "a.whl", folder / "a.tar.gz"))
    monkeypatch.setattr(installation, "interpreter", lambda version: None if version == "3.12" else version)
    monkeypatch.setattr(installation, "measured", measured)
    assert installation.main([]) == 1
    shown = capsys.readouterr().out
    assert "| 3.11 | wheel | newest | 441 | 12 | 9.2 |" in shown
    assert "| 3.12 | wheel | oldest | not on this machine |" in shown
    assert "| 3.13 | wheel | newest | fails: `uv` |" in shown
    assert "| 3.11 | source | newest | 441 | 12 | 9.2 |" in shown


def test_one_that_is_asked_for_has_to_be_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(installation, "built", lambda folder: (folder / "a.whl", folder / "a.tar.gz"))
    monkeypatch.setattr(installation, "interpreter", lambda version: None)
    assert installation.main([]) == 0
    assert installation.main(["3.12"]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown[-3:] == [
        f"| 3.12 | {kind} | not on this machine | | |"
        for kind in ("wheel | newest", "wheel | oldest", "source | newest")
    ]


def test_a_pyenv_elsewhere_is_found_by_its_folders_on_the_search_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    shim(first / "versions/3.12.4/bin", "", 'echo "3.12.4 of a test"')
    shim(second / "versions/3.13.1/bin", "", 'echo "3.13.1 of a test"')
    monkeypatch.setenv("PATH", f"{first / 'shims'}:{second / 'versions/3.11.7/bin'}")
    monkeypatch.setenv("PYENV_ROOT", "/nowhere")
    assert installation.interpreter("3.12") == str(first / "versions/3.12.4/bin/python")
    assert installation.interpreter("3.13") == str(second / "versions/3.13.1/bin/python")
