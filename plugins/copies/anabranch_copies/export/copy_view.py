"""The output of `anabranch corpus copy`."""

from __future__ import annotations

from dataclasses import asdict

from anabranch.cli.corpus_view import JSON_HAS_ALL, say_first
from anabranch.cli.failures import INTERRUPTED
from anabranch.cli.output import notes, results, say, write_json
from anabranch.cli.progress import stages
from anabranch.store.corpus_address import shown_address
from anabranch.text.normalization import squeeze
from anabranch.text.plural import counted
from anabranch_copies.export import copy_corpus


def run_copy(source: str, target: str, *, wait: float, as_json: bool) -> int:
    """Copy a corpus under a progress bar, print the differences, and return the exit code: 1 if there are any."""
    with stages(documents="documents", compared="documents compared") as progress:
        report = copy_corpus(source, target, wait=wait, progress=progress)
    if as_json:
        write_json(asdict(report))
    else:
        say_first(results(), [squeeze(problem) for problem in report.problems], JSON_HAS_ALL, "red")
        copied = f"{counted(report.documents, 'document')} copied, {report.unchanged} already there"
        compared = f"{counted(report.passages, 'passage')} compared, {counted(len(report.problems), 'difference')}"
        say(results(), f"{shown_address(target)}: {copied}; {compared}.")
    if report.interrupted:
        say(notes(), "Interrupted. Run the same command to continue.")
        return INTERRUPTED
    return 1 if report.problems else 0
