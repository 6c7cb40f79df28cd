"""Build the packages and try them in empty environments: each Python, the newest and the oldest allowed dependencies.

    python -m benchmarks.installation [--write] [VERSION ...]

Prints a table of sizes and times; with `--write` it becomes `benchmarks/installation.md`. Without versions all
supported ones are tried, and one that is not on this machine is named as left out. The exit status is 1 where one
fails, or where one that was asked for is not here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13")
NEWEST, OLDEST = "highest", "lowest-direct"
"""Names of uv. `lowest-direct` takes the lower bound of what pyproject.toml names and the newest of what those need."""
REPORT = ROOT / "benchmarks" / "installation.md"
QUESTION = "When is the boiler serviced?"
USE = f"""
import warnings; warnings.simplefilter("error")
from anabranch import answer
assert "October" in answer({QUESTION!r}, corpus="notes.corpus")["answer"]
"""
VERSION = "import venv, sys; print(sys.version)"
IMPORT = "import time; t = time.process_time(); import anabranch; print((time.process_time() - t) * 1000)"
HEAD = """\
# Installation

The wheel, or the source distribution, in an empty environment without extras: `make installation` builds both,
installs each, ingests a folder, answers a question from the command line and one from Python, and measures. Sizes
include Anabranch and all that it needs.

| Python | package | dependencies | size, MB | `import anabranch`, CPU-ms | ingest and first answer, CPU-s |
|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Figures:
    """What one environment costs.

    Attributes:
        size: MB of 10^6 bytes on the disk.
        import_time: CPU-milliseconds of `import anabranch`.
        first_answer: CPU-seconds of the commands `ingest` and `ask`, both with their start.
    """

    size: float
    import_time: float
    first_answer: float


def pyenv_folders() -> list[Path]:
    """Return where pyenv may keep its Pythons: by its variable, its usual place, and its folders on the search path."""
    folders = [Path(folder) for folder in os.get_exec_path()]
    roots = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))]
    roots += [folder.parent for folder in folders if folder.name == "shims"]
    roots += [folder.parents[2] for folder in folders if folder.match("versions/*/bin")]
    return [root / "versions" for root in dict.fromkeys(roots)]


def interpreter(version: str) -> str | None:
    """Return the path of a Python of that version, or none: of the search path, or of pyenv."""
    of_pyenv = [path for folder in pyenv_folders() for path in sorted(folder.glob(f"{version}.*/bin/python"))]
    known = [shutil.which(f"python{version}"), *map(str, of_pyenv)]
    for path in filter(None, known):
        # A shim of pyenv is there for each version, and fails for those that are not chosen.
        tried = subprocess.run([path, "-c", VERSION], check=False, capture_output=True, text=True)
        if tried.returncode == 0 and tried.stdout.startswith(f"{version}."):
            return path
    return None


def built(folder: Path) -> tuple[Path, Path]:
    """Build the project and return its wheel and its source distribution; the wheel is made from the latter."""
    command = [sys.executable, "-m", "build", "--outdir", folder, ROOT]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source


def write_notes(folder: Path) -> None:
    """Write the documents that are asked about."""
    folder.mkdir(parents=True)
    (folder / "boiler.md").write_text("# The boiler\n\nThe boiler is serviced every October by the plumber.\n")


def measured(python: str, package: Path, resolution: str, folder: Path) -> Figures:
    """Install the package into an empty environment, use it as a reader would, and measure.

    Raises:
        CalledProcessError: A step of it failed; its output has been shown.
    """
    environment = folder / "environment"
    write_notes(folder / "notes")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("ANABRANCH_", "PYTHON"))}

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, cwd=folder, env=clean, check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout

    run("uv", "venv", "--quiet", "--no-project", "--python", python, environment)
    where = environment / "bin" / "python"
    run("uv", "pip", "install", "--quiet", "--python", where, "--resolution", resolution, package)
    size = sum(path.lstat().st_size for path in environment.rglob("*") if path.is_file()) / 1e6
    before = os.times()
    run(environment / "bin" / "anabranch", "ingest", "notes", "--corpus", "notes.corpus")
    answer = run(environment / "bin" / "anabranch", "ask", QUESTION, "--corpus", "notes.corpus")
    after = os.times()
    if "October" not in answer:
        raise subprocess.CalledProcessError(1, "anabranch ask", answer)
    run(where, "-c", USE)
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return Figures(size, float(run(where, "-c", IMPORT)), spent)


def rows(versions: Sequence[str], *, required: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield a row of the table for each environment, and whether it works; one that is `required` has to be here."""
    with tempfile.TemporaryDirectory() as place:
        wheel, source = built(Path(place) / "dist")
        trials = [(version, wheel, resolution) for version in versions for resolution in (NEWEST, OLDEST)]
        for number, (version, package, resolution) in enumerate([*trials, (versions[0], source, NEWEST)]):
            kind = "wheel" if package == wheel else "source"
            row = f"| {version} | {kind} | {'newest' if resolution == NEWEST else 'oldest'}"
            python = interpreter(version)
            if python is None:
                yield f"{row} | not on this machine | | |", not required
                continue
            folder = Path(place) / str(number)
            try:
                found = measured(python, package, resolution, folder)
                yield f"{row} | {found.size:.0f} | {found.import_time:.0f} | {found.first_answer:.1f} |", True
            except subprocess.CalledProcessError as error:
                yield f"{row} | fails: `{Path(str(error.cmd[0])).name}` | | |", False
            finally:
                shutil.rmtree(folder, ignore_errors=True)


def main(arguments: list[str]) -> int:
    """Print the table, and write it where that is asked for."""
    sys.stdout.write(HEAD)
    table, works = "", True
    versions = [each for each in arguments if each != "--write"]
    for row, good in rows(versions or PYTHONS, required=bool(versions)):
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()
        table, works = f"{table}{row}\n", works and good
    if "--write" in arguments:
        REPORT.write_text(HEAD + table, encoding="utf-8")
    return 0 if works else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
