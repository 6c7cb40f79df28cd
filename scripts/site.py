"""Build the guide as a web site from the same files that are read in the repository: `make site`.

The pages, and what they link to, are copied to build/pages under the paths that they have here, so that each link works
in both places. README.md is the start page. The site is written to build/site; a dead link or anchor is an error.

For programs that read, each page lies there as Markdown as well: docs/answering.md beside docs/answering/. `llms.txt`
lists them, in the form of https://llmstxt.org.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def page_list(project: dict[str, Any]) -> str:
    """Return `llms.txt`: the name, what it is, and the pages under the sections of the navigation.

    Args:
        project: The table `project` of zensical.toml.
    """
    lines = [f"# {project['site_name']}", "", f"> {project['site_description']}", "", *_listed(project["nav"], 2)]
    return "\n".join(lines) + "\n"


def _listed(nav: list[Any], level: int) -> Iterator[str]:
    for entry in nav:
        for title, value in entry.items() if isinstance(entry, dict) else [("", entry)]:
            if isinstance(value, list):
                yield from ("", f"{'#' * level} {title}", "")
                yield from _listed(value, level + 1)
            else:
                yield f"- [{title or _title(Path(value))}]({value})"


def _title(page: Path) -> str:
    return (ROOT / page).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def add_markdown(site: Path) -> None:
    """Add each page as Markdown to the built site, and the list of them."""
    written = pages()
    # A Markdown file that is linked, such as a plugin's, is no page of the navigation, but becomes one of the site.
    texts = {file for page in written for file in linked(page) if file.suffix == ".md"}
    for page in {*written, *texts}:
        (site / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / page, site / page)
    project = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    (site / "llms.txt").write_text(page_list(project), encoding="utf-8")


def main() -> int:
    """Copy the pages, run Zensical and return its exit status; add the Markdown to the site that it built."""
    copy(ROOT / "build" / "pages")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    environment = {**os.environ, "NO_COLOR": "1"}
    status = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode  # noqa: S603  # zensical
    if status == 0:
        add_markdown(ROOT / "build" / "site")
    return status


if __name__ == "__main__":
    sys.exit(main())
