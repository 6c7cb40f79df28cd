"""The output of `anabranch threads`."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from anabranch.cli.answer_view import print_sources, say_marked
from anabranch.cli.output import json_text, notes, open_output, print_table, results, say, write_json
from anabranch.cli.row_file import check_row_file, save_rows
from anabranch.cli.thread_reader import Conversation, ThreadTurn, conversation_of, find_threads, open_threads, state_of
from anabranch.errors import UserError
from anabranch.text.normalization import squeeze
from anabranch.text.plural import counted

MAX_QUESTION = 60


async def list_threads(corpus: str, *, as_json: bool) -> None:
    """Print a row per thread."""
    found = await _conversations(corpus, [])
    if as_json:
        write_json([_row(each) for each in found])
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("thread", "questions", "last asked", "first question"):
        table.add_column(name, justify="right" if name == "questions" else "left", overflow="fold")
    for each in found:
        when = datetime.fromisoformat(each.changed).astimezone()
        first = squeeze(each.turns[0].question) if each.turns else ""
        short = first if len(first) <= MAX_QUESTION else f"{first[:MAX_QUESTION]}..."
        table.add_row(*map(Text, (each.thread, str(len(each.turns)), f"{when:%Y-%m-%d %H:%M}", short)))
    if found:
        print_table(table)
    else:
        say(results(), "No threads. `anabranch chat` starts one.")


def _row(each: Conversation) -> dict[str, Any]:
    first = each.turns[0].question if each.turns else ""
    return {"thread": each.thread, "changed": each.changed, "questions": len(each.turns), "first": first}


async def show_thread(corpus: str, thread: str, *, as_json: bool) -> None:
    """Print the turns of one thread."""
    found = await _conversations(corpus, [thread])
    if len(found) > 1:
        raise UserError(f"{thread!r} names {len(found)} threads.", hint="`anabranch threads export` writes several.")
    if as_json:
        write_json(asdict(found[0]))
        return
    for turn in found[0].turns:
        _print_turn(turn)


def _print_turn(turn: ThreadTurn) -> None:
    console = results()
    say(console, f"> {turn.question}", style="bold")
    if turn.answer:
        say_marked(console, turn.answer)
    else:
        say(console, "(no answer: the run was stopped, or waits for a reply)", style="dim")
    if turn.sources:
        console.print()
        print_sources(console, turn.sources)
    console.print()


async def delete_threads(corpus: str, names: list[str]) -> None:
    """Delete threads, and say which."""
    async with open_threads(corpus) as saver:
        found = await find_threads(saver, names)
        if saver is not None:
            for thread in found:
                await saver.adelete_thread(thread)
            # SQLite only marks deleted pages as free; VACUUM removes the text itself.
            await saver.conn.execute("VACUUM")
    say(results(), f"Deleted {counted(len(found), 'thread')}: {', '.join(found)}")


async def export_threads(corpus: str, names: list[str], output: str) -> None:
    """Write a line of JSON per thread; a file appears whole or not at all."""
    found = await _conversations(corpus, names)
    with open_output(output) as file:
        for each in found:
            file.write(f"{json_text(asdict(each))}\n".encode("utf-8", "backslashreplace"))
    if output != "-":
        say(notes(), f"Exported {counted(len(found), 'thread')} to {output}.")


async def export_rows(corpus: str, names: list[str], path: Path) -> bool:
    """Write the rows of a thread's last answer; False if it has none."""
    check_row_file(path)
    async with open_threads(corpus) as saver:
        found = await find_threads(saver, names)
        if saver is None or len(found) != 1:
            raise UserError(f"--rows is of one thread, not of {len(found)}.", hint="Give its id, as list shows it.")
        return save_rows(await state_of(saver, *found), path)


async def _conversations(corpus: str, names: list[str]) -> list[Conversation]:
    async with open_threads(corpus) as saver:
        found = await find_threads(saver, names)
        return [] if saver is None else [await conversation_of(saver, name, found[name]) for name in found]
