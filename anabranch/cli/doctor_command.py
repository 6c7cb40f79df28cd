"""`anabranch doctor`: what is configured, what is missing, what shadows what."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from anabranch.cli.output import results, write_json
from anabranch.cli.shared_options import BaseUrlOption, CorpusOption, JsonOption, ModelOption, SetOption

if TYPE_CHECKING:
    from anabranch.cli.installation_checks import DoctorCheck

SIGNS = {"ok": ("✓", "green"), "off": ("·", "dim"), "note": ("!", "yellow"), "problem": ("✗", "red")}


def doctor(
    *,
    corpus: CorpusOption = None,
    sets: SetOption = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check the installation, the settings, the corpus and the models.

    Keys are named, never shown; no hosted provider is contacted. Exit code 1 if something configured cannot work.

    [bold]Examples:[/]

    anabranch doctor

    anabranch doctor --model llama3.2 --base-url http://localhost:11434/v1
    """
    from anabranch.cli.doctor_checks import every_check

    checks = asyncio.run(every_check(sets, corpus=corpus, model=model, base_url=base_url))
    usable = all(check.status != "problem" for check in checks)
    if as_json:
        write_json({"usable": usable, "checks": [asdict(check) for check in checks]})
    else:
        _print(results(), checks)
    raise typer.Exit(0 if usable else 1)


def _print(console: Console, checks: list[DoctorCheck]) -> None:
    table = Table.grid(padding=(0, 2))
    for check in checks:
        sign, style = SIGNS[check.status]
        said = Text(check.said)
        if check.hint:
            said.append(f"\n{check.hint}", style="italic")
        table.add_row(Text(sign, style=style), Text(check.name, style="bold"), said)
    console.print(table)
