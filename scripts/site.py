"""Build the guide as a web site from the same files that are read in the repository: `make site`.

The pages, and what they link to, are copied to build/pages under the paths that they have here, so that each link works
in both places. README.md is the start page. The site is written to build/site; a dead link or anchor is an error.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.docs import LINK, ROOT

PLACES = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/**/*.md",
    "evals/*.md",
    "benchmarks/*.md",
)
# Zensical takes a fence with a second word for text, and all that follows for code.
SECOND_WORD = re.compile(r"^(```\w+) .*$", re.MULTILINE)


def pages() -> list[Path]:
    """Return the pages of the site, relative to the repository."""
    return sorted(page.relative_to(ROOT) for place in PLACES for page in ROOT.glob(place))


def linked(page: Path) -> Iterator[Path]:
    """Yield the files that a page links to and that are no pages, relative to the repository.

    Raises:
        FileNotFoundError: A link leads to no file of the repository.
    """
    for target in LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        place = (ROOT / page.parent / target).resolve()
        if not (place.is_file() and place.is_relative_to(ROOT)):
            message = f"{page} links to {target}, which is no file of this repository"
            raise FileNotFoundError(message)
        yield place.relative_to(ROOT)


def copy(folder: Path) -> None:
    """Copy the pages, and the files that they link to, into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    written = pages()
    for page in written:
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / page).read_text(encoding="utf-8")
        (folder / page).write_text(SECOND_WORD.sub(r"\1", text), encoding="utf-8")
    for file in {file for page in written for file in linked(page)} - set(written):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, folder / file)


def main() -> int:
    """Copy the pages and run Zensical; return its exit status."""
    copy(ROOT / "build" / "pages")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode  # noqa: S603  # zensical


if __name__ == "__main__":
    sys.exit(main())
