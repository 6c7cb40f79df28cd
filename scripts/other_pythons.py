"""Try the wheel with each other supported Python that is on this machine: import it, and ask a corpus made by this one.

    python -m scripts.other_pythons

The versions are those of constraints.txt. `make installation` tries more: the newest and the oldest allowed
dependencies, and the source distribution. The exit status is 1 where the program does not work with a Python; one that
is not here, and one for which nothing can be installed here, such as without a network, is named.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.installation import PYTHONS, QUESTION, interpreter, write_notes

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 300
"""Seconds of one command."""

FAILED = (subprocess.CalledProcessError, subprocess.TimeoutExpired)
MAKE_CORPUS = "from anabranch import ingest; ingest('notes', 'notes.corpus')"


def run(*command: str | Path, folder: Path) -> str:
    """Run a command without the settings of this shell, and return what it prints; what fails has been shown.

    Raises:
        CalledProcessError: It failed.
        TimeoutExpired: It took too long.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("ANABRANCH_", "PYTHON"))}
    done = subprocess.run(  # noqa: S603  # our own commands
        command, cwd=folder, env=clean, check=True, stdout=subprocess.PIPE, text=True, timeout=LONGEST
    )
    return done.stdout


def wheel_and_corpus(folder: Path) -> Path:
    """Build the wheel, make a corpus of one note beside it, and return the wheel."""
    run(sys.executable, "-m", "uv", "build", "--quiet", "--wheel", "--out-dir", folder / "dist", ROOT, folder=folder)
    write_notes(folder / "notes")
    run(sys.executable, "-c", MAKE_CORPUS, folder=folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def installed(python: str, wheel: Path, folder: Path) -> Path | None:
    """Return the programs of an environment with the wheel in it, None where it cannot be made."""
    environment = folder / "environment"
    uv = (sys.executable, "-m", "uv")
    versions = ("--constraints", ROOT / "constraints.txt")
    try:
        run(*uv, "venv", "--quiet", "--clear", "--no-project", "--python", python, environment, folder=folder)
        where = environment / "bin" / "python"
        run(*uv, "pip", "install", "--quiet", "--python", where, *versions, wheel, folder=folder)
    except FAILED:
        return None
    return environment / "bin"


def answers(programs: Path, folder: Path) -> bool:
    """Tell whether the package is imported and answers from the corpus in the folder."""
    try:
        run(programs / "python", "-c", "import anabranch", folder=folder)
        return "October" in run(programs / "anabranch", "ask", QUESTION, "--corpus", "notes.corpus", folder=folder)
    except FAILED:
        return False


def main() -> int:
    """Try each, and say how it went."""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    others = {version: interpreter(version) for version in PYTHONS if version != own}
    works = True
    with tempfile.TemporaryDirectory() as place:
        try:
            wheel = wheel_and_corpus(Path(place)) if any(others.values()) else Path()
        except FAILED:
            sys.stdout.write("The wheel cannot be built here.\n")
            return 0
        for version, python in others.items():
            if python is None:
                sys.stdout.write(f"Python {version}: not on this machine\n")
                continue
            programs = installed(python, wheel, Path(place))
            if programs is None:
                sys.stdout.write(f"Python {version}: nothing can be installed for it here\n")
                continue
            good = answers(programs, Path(place))
            sys.stdout.write(f"Python {version}: {'works' if good else 'fails'}\n")
            works = works and good
    return 0 if works else 1


if __name__ == "__main__":
    raise SystemExit(main())
