"""Reads a Dockerfile as a builder does, and runs what installs with installers that only write down their words."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from docker.utils import exclude_paths

_INSTALLS = re.compile(r"\b(?:pip|uv)\b[^|;&]*\binstall\b")
# In the place of each installer: a line with the folder and the words, and a tab between them.
_RECORDER = """#!/bin/sh
{ printf '%s' "$PWD"; for word in "${0##*/}" "$@"; do printf '\\t%s' "$word"; done; echo; } >> CALLS
"""


class Instruction(NamedTuple):
    """A word such as `RUN`, and the rest of its line."""

    word: str
    rest: str


class Call(NamedTuple):
    """What an installer was called with, and in which folder."""

    folder: str
    words: list[str]


def read_instructions(text: str) -> list[Instruction]:
    """Read the instructions; lines that end with a backslash go on, and lines of comment end none."""
    without_comments = re.sub(r"^\s*#.*\n?", "", text, flags=re.MULTILINE)
    lines = re.sub(r"\\[ \t]*\n", " ", without_comments).splitlines()
    pairs = [line.strip().partition(" ") for line in lines if line.strip()]
    return [Instruction(word.upper(), rest.strip()) for word, _, rest in pairs]


def read_environment(rest: str) -> dict[str, str]:
    """Read what an `ENV` sets: names and values, quoted as in a shell, with blanks between them.

    Raises:
        ValueError: A quotation has no end, or a word no `=`, at which a builder stops as well.
    """
    words = shlex.split(rest)
    if odd := [word for word in words if "=" not in word]:
        msg = f"no name=value: {odd[0]!r}"
        raise ValueError(msg)
    return dict(word.split("=", 1) for word in words)


def sent_files(context: Path) -> set[str]:
    """Return the paths of a folder that `.dockerignore` lets through to the builder."""
    ignored = context / ".dockerignore"
    lines = ignored.read_text(encoding="utf-8").splitlines() if ignored.is_file() else []
    return set(exclude_paths(str(context), [line for line in lines if line and not line.startswith("#")]))


def copied_sources(instructions: list[Instruction]) -> list[str]:
    """Return what is copied from the folder that is built, and not from another stage or context."""
    copies = [rest.split() for word, rest in instructions if word in ("ADD", "COPY")]
    return [source.removeprefix("./") for words in copies if not words[0].startswith("--from") for source in words[:-1]]


def installs(instruction: Instruction) -> bool:
    """Tell whether it is a command that installs packages."""
    return instruction.word == "RUN" and bool(_INSTALLS.search(instruction.rest))


def check_syntax(command: str) -> None:
    """Have the shell read a command without running it.

    Raises:
        subprocess.CalledProcessError: It is none.
    """
    subprocess.run([_shell(), "-n", "-c", command], check=True, timeout=60)


def run_install(command: str, root: Path, folder: Path, environment: Mapping[str, str] | None = None) -> list[Call]:
    """Run a command in a shell that finds nothing but recorders, and a Python for scripts; return their calls.

    Args:
        command: What stands behind `RUN`. Its absolute paths of folders that are in `root` become those in `root`.
        root: In the place of the root of an image.
        folder: In which it runs, below `root`.
        environment: Further variables.

    Raises:
        subprocess.CalledProcessError: The shell says that it failed.
    """
    programs, calls = root / "programs", root / "calls.txt"
    programs.mkdir(exist_ok=True)
    for name in ("pip", "pip3", "uv"):
        _write_program(programs / name, _RECORDER.replace("CALLS", shlex.quote(str(calls))))
    # A module may be an installer as well, so only scripts are run.
    script = f'#!/bin/sh\ncase "$1" in -*) exec pip "$0" "$@";; esac\nexec {shlex.quote(sys.executable)} "$@"\n'
    _write_program(programs / "python", script)
    calls.write_text("", encoding="utf-8")
    folders = "|".join(re.escape(path.name) for path in root.iterdir() if path.is_dir())
    command = re.sub(rf"(?<![\w.])/({folders})/", lambda found: f"{root}{found[0]}", command)
    given = {"PATH": str(programs), **(environment or {})}
    subprocess.run([_shell(), "-e", "-c", command], check=True, cwd=folder, env=given, timeout=60)
    lines = [line.split("\t") for line in calls.read_text(encoding="utf-8").replace(str(root), "").splitlines()]
    return [Call(folder, words) for folder, *words in lines]


def _write_program(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def _shell() -> str:
    found = shutil.which("sh")
    assert found
    return found
