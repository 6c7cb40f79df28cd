"""`anabranch doctor`: check the installation and the configuration."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from anabranch.cli.output import results, write_json
from anabranch.cli.shared_options import BaseUrlOption, CorpusOption, JsonOption, ModelOption, SetOption
from anabranch.errors import AnabranchError
from anabranch.registry import Registry

if TYPE_CHECKING:
    from anabranch.cli.installation_checks import DoctorCheck

JudgeOption = Annotated[
    bool,
    typer.Option("--judge", help="Test how well the chat model judges claims (`verify: llm`): 40 calls."),
]
DOCTOR_CHECKS: Registry[Callable[..., Awaitable[DoctorCheck]]] = Registry("doctor check", {})
"""Checks from plugins, each behind an option of the command; called with `--set` pairs and other settings."""

SIGNS = {"ok": ("✓", "green"), "off": ("·", "dim"), "note": ("!", "yellow"), "problem": ("✗", "red")}


def doctor(
    *,
    corpus: CorpusOption = None,
    sets: SetOption = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    judge: JudgeOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check the installation, the settings, the corpus and the models.

    Keys are named, never shown; without --judge no hosted provider is contacted. Exit code 1 if something configured
    cannot work.

    [bold]Examples:[/]

    anabranch doctor

    anabranch doctor --model llama3.2 --base-url http://localhost:11434/v1

    anabranch doctor --judge --model openai:gpt-5-mini
    """
    checks = asyncio.run(_checks(sets, judge=judge, corpus=corpus, model=model, base_url=base_url))
    usable = all(check.status != "problem" for check in checks)
    if as_json:
        write_json({"usable": usable, "checks": [asdict(check) for check in checks]})
    else:
        _print(results(), checks)
    raise typer.Exit(0 if usable else 1)


async def _checks(sets: list[str] | None, *, judge: bool, **options: str | None) -> list[DoctorCheck]:
    from anabranch.cli.doctor_checks import every_check

    checks = await every_check(sets, **options)
    # Without libraries and valid settings, the judge cannot run.
    if not judge or any(check.name in ("libraries", "settings") and check.status == "problem" for check in checks):
        return checks
    try:
        judge_check = DOCTOR_CHECKS.get("judge")
    except AnabranchError as error:
        from anabranch.cli.installation_checks import DoctorCheck

        return [*checks, DoctorCheck("judge", "problem", error.message, error.hint)]
    return [*checks, await judge_check(sets, **options)]


def _print(console: Console, checks: list[DoctorCheck]) -> None:
    table = Table.grid(padding=(0, 2))
    for check in checks:
        sign, style = SIGNS[check.status]
        finding = Text(check.said)
        if check.hint:
            finding.append(f"\n{check.hint}", style="italic")
        table.add_row(Text(sign, style=style), Text(check.name, style="bold"), finding)
    console.print(table)
