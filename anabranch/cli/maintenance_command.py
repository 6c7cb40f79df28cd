"""Looking after a corpus, for the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anabranch.cli.output import notes, results, say, write_json
from anabranch.cli.stage_bars import stages
from anabranch.store.maintenance import Finding, compact, examine, rebuild, repair

MAX_SHOWN = 100
STAGES = {"passages": "passages embedded", "merge": "merging the index", "database": "giving room back"}


def show_verdict(folder: Path, *, as_json: bool) -> bool:
    """Print what is wrong, and return whether nothing is."""
    with stages(**STAGES) as told:
        found = examine(folder, told)
    problems = [finding for finding in found if not finding.is_remark]
    remarks = [finding for finding in found if finding.is_remark]
    if as_json:
        write_json({"sound": not problems, "problems": _texts(problems), "remarks": _texts(remarks)})
        return not problems
    _print(problems, "red")
    _print(remarks, "yellow")
    mend = "Mend it: anabranch corpus verify --repair."
    say(results(), f"{folder} is sound." if not problems else f"{folder} is not sound. {mend}")
    return not problems


def show_repair(folder: Path, *, wait: float, as_json: bool) -> bool:
    """Mend what can be mended, print what was done as it is, and return whether nothing is wrong any more."""
    with stages(**STAGES) as told:
        said = None if as_json else lambda done: say(results(), f"- {done}.")
        report = repair(folder, wait=wait, said=said, progress=told)
    if as_json:
        texts = {"found": _texts(report.found), "done": report.done, "problems": _texts(report.left)}
        write_json({"sound": not report.left, **texts})
        return not report.left
    _print(report.left, "red")
    say(results(), f"{folder} is {'not ' if report.left else ''}sound.")
    return not report.left


def _texts(found: Sequence[Finding]) -> list[str]:
    return [finding.said for finding in found]


def _print(found: Sequence[Finding], style: str) -> None:
    for finding in found[:MAX_SHOWN]:
        say(results(), f"- {finding.said}", style=style)
    if len(found) > MAX_SHOWN:
        say(results(), f"... and {len(found) - MAX_SHOWN} more; --json lists them all.")


def rebuild_shown(folder: Path, embedder: str | None, base_url: str | None, *, wait: float) -> None:
    """Make the indexes anew under a progress bar."""
    with stages(**STAGES) as told:
        manifest = rebuild(folder, embedder=embedder, base_url=base_url, wait=wait, progress=told)
    said = f"{manifest.documents} documents, {manifest.leaves} passages, generation {manifest.number}"
    say(notes(), f"{folder}: {said}, embedder {manifest.embedder}.")


def compact_shown(folder: Path, *, wait: float) -> None:
    """Make a corpus small under a progress bar, and say what it came to."""
    with stages(**STAGES) as told:
        done = compact(folder, wait=wait, progress=told)
    say(results(), f"{folder}: {done.before / 1e6:,.1f} MB before, {done.after / 1e6:,.1f} MB after.")
    if done.unfinished:
        say(notes(), f"Not all room was given back: {done.unfinished}.", style="yellow")
