"""Try the wheel with each other supported Python that is on this machine: import it, and ask a corpus made by this one.

    python -m scripts.other_pythons

The versions are those of constraints.txt. `make installation` tries more: the newest and the oldest allowed
dependencies, and the source distribution. The exit status is 1 where a Python fails; one that is not here is named.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.installation import PYTHONS, QUESTION, interpreter, write_notes

ROOT = Path(__file__).resolve().parent.parent
MAKE_CORPUS = "from anabranch import ingest; ingest('notes', 'notes.corpus')"


def run(*command: str | Path, folder: Path) -> str:
    """Run a command without the settings of this shell, and return what it prints; what fails has been shown.

    Raises:
        CalledProcessError: It failed.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("ANABRANCH_", "PYTHON"))}
    return subprocess.run(command, cwd=folder, env=clean, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603  # our own commands


def wheel_and_corpus(folder: Path) -> Path:
    """Build the wheel, make a corpus of one note beside it, and return the wheel."""
    run(sys.executable, "-m", "uv", "build", "--quiet", "--wheel", "--out-dir", folder / "dist", ROOT, folder=folder)
    write_notes(folder / "notes")
    run(sys.executable, "-c", MAKE_CORPUS, folder=folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def answers(python: str, wheel: Path, folder: Path) -> bool:
    """Tell whether the wheel, installed for a Python, is imported and answers from the corpus in the folder.

    Raises:
        CalledProcessError: A command failed.
    """
    environment = folder / "environment"
    uv = (sys.executable, "-m", "uv")
    run(*uv, "venv", "--quiet", "--clear", "--no-project", "--python", python, environment, folder=folder)
    where = environment / "bin" / "python"
    versions = ("--constraints", ROOT / "constraints.txt")
    run(*uv, "pip", "install", "--quiet", "--python", where, *versions, wheel, folder=folder)
    run(where, "-c", "import anabranch", folder=folder)
    said = run(environment / "bin" / "anabranch", "ask", QUESTION, "--corpus", "notes.corpus", folder=folder)
    return "October" in said


def main() -> int:
    """Try each, and say how it went."""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    others = {version: interpreter(version) for version in PYTHONS if version != own}
    works = True
    with tempfile.TemporaryDirectory() as place:
        wheel = wheel_and_corpus(Path(place)) if any(others.values()) else Path()
        for version, python in others.items():
            if python is None:
                sys.stdout.write(f"Python {version}: not on this machine\n")
                continue
            try:
                good = answers(python, wheel, Path(place))
            except subprocess.CalledProcessError:
                good = False
            sys.stdout.write(f"Python {version}: {'works' if good else 'fails'}\n")
            works = works and good
    return 0 if works else 1


if __name__ == "__main__":
    raise SystemExit(main())
