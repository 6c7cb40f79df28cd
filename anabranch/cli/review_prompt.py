"""Review by a person: show what the graph asks, and read the reply from the terminal or an option."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.prompt import Prompt

from anabranch.cli.output import say
from anabranch.errors import SettingsError
from anabranch.safety.link_removal import make_plain, name_source


def can_ask() -> bool:
    """Tell whether there is a terminal to read from and to write to."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def reply_of(text: str, waiting: Mapping[str, Any]) -> Any:  # noqa: ANN401  # true, or a list of texts
    """Return a reply given as JSON: true, or a list of queries or of the ids of passages that were offered.

    A thread stores whatever it was resumed with, so an unusable reply must not reach it.
    """
    try:
        reply = json.loads(text)
    except ValueError as error:
        msg = f"--reply is not JSON: {error}."
        raise SettingsError(msg, hint="""Give true, or a list: --reply '["a query", "another"]'.""") from error
    # Only `true` itself: 1 is more likely the number of a passage.
    if reply is True:
        return reply
    if not isinstance(reply, list) or not reply or not all(isinstance(item, str) and item.strip() for item in reply):
        msg = f"--reply {text[:80]} is neither true nor a list of texts."
        raise SettingsError(msg, hint="The run still waits for a reply.")
    # Refused here, because the run would silently leave out an unknown id.
    offered = [passage["id"] for passage in waiting.get("passages", [])]
    unknown = [item for item in reply if offered and item not in offered]
    if unknown:
        msg = f"--reply names passages that were not offered: {', '.join(unknown[:3])}."
        raise SettingsError(msg, hint=f"Choose from: {', '.join(offered)}.")
    return reply


def ask_person(console: Console, waiting: Mapping[str, Any]) -> Any:  # noqa: ANN401  # what the review node takes
    """Show queries or passages, and return the reply: true, or a list of queries or passage ids."""
    show(console, waiting)
    if waiting.get("review") == "queries":
        return _ask_queries(console)
    return _ask_sources(console, [passage["id"] for passage in waiting.get("passages", [])])


def show(console: Console, waiting: Mapping[str, Any]) -> None:
    """Print the numbered queries or passages to review."""
    say(
        console,
        f"Review the {waiting.get('review', 'run')} for “{waiting.get('question', '')}”",
        style="bold",
    )
    for number, line in enumerate(_lines(waiting), start=1):
        say(console, f"  {number}. {line}")
    if narrowed := waiting.get("inferred_filter"):
        say(console, f"Only documents of: {make_plain(narrowed)} (--no-inferred-filter searches all).")
    if waiting.get("problem"):
        say(console, str(waiting["problem"]), style="yellow")


def resume_command(thread: str, corpus: str | None, rows: Path | None = None) -> str:
    """Return the command that resumes a thread; `corpus` is None for the default corpus, `rows` without --rows."""
    return f"anabranch ask --thread {shlex.quote(thread)} --resume{rows_option(rows)}{corpus_option(corpus)}"


def chat_command(thread: str, corpus: str | None) -> str:
    """Return the command that continues a chat."""
    return f"anabranch chat --thread {shlex.quote(thread)}{corpus_option(corpus)}"


def corpus_option(corpus: str | None) -> str:
    """Return the option that names a corpus; empty for the default corpus."""
    return f" --corpus {shlex.quote(corpus)}" if corpus else ""


def rows_option(rows: Path | None) -> str:
    """Return the option that names the file of rows; empty without one."""
    return f" --rows {shlex.quote(str(rows))}" if rows else ""


def resume_commands(waiting: Mapping[str, Any], thread: str, corpus: str | None, rows: Path | None = None) -> list[str]:
    """Return the commands that accept or change what is reviewed."""
    begin = resume_command(thread, corpus, rows)
    # Two items as an example; all would fill the screen.
    chosen = list(waiting.get("queries", []))[:2] or [p["id"] for p in waiting.get("passages", [])][:2]
    return [f"{begin} --reply true", f"{begin} --reply {shlex.quote(json.dumps(chosen, ensure_ascii=False))}"]


def _lines(waiting: Mapping[str, Any]) -> list[str]:
    passages: Sequence[Mapping[str, Any]] = waiting.get("passages", [])
    if not passages:
        return list(waiting.get("queries", []))
    pages = ["" if passage["page"] is None else f", p. {passage['page']}" for passage in passages]
    rows = zip(passages, pages, strict=True)
    return [f"{name_source(each['source'])}{page}: {make_plain(each['preview'])} ..." for each, page in rows]


def _ask_queries(console: Console) -> Any:  # noqa: ANN401
    first = Prompt.ask("Press Enter to search for these, or type your own queries, then an empty line", console=console)
    typed = [first]
    while typed[-1].strip():
        typed.append(Prompt.ask("and", console=console))
    return typed[:-1] or True


def _ask_sources(console: Console, ids: Sequence[str]) -> Any:  # noqa: ANN401
    while True:
        typed = Prompt.ask("Press Enter to use all, or type the numbers to keep, in order", console=console)
        numbers = typed.replace(",", " ").split()
        if not numbers:
            return True
        if all(number.isdigit() and 1 <= int(number) <= len(ids) for number in numbers):
            return [ids[int(number) - 1] for number in numbers]
        # Asked again, because a wrong number would silently leave out a passage.
        say(console, f"Give numbers from 1 to {len(ids)}.", style="yellow")
