"""`ask --explain`: the whole way of a question on one screen, from the queries to the cost of each step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from anabranch.cli.answer_view import place_of
from anabranch.cli.passage_table import ways
from anabranch.cli.rich_tables import plain, table_of
from anabranch.readers.document import Chunk
from anabranch.text.normalization import squeeze


def print_explanation(console: Console, state: Mapping[str, Any], chunks: Mapping[str, Chunk]) -> None:
    """Print the screen.

    Args:
        console: Where to.
        state: The values of a finished turn.
        chunks: The text of the candidates, by id.
    """
    console.print()
    for table in (_queries(state), ways(state, chunks), _decisions(state), _claims(state), _steps(state)):
        if table.row_count:
            console.print(table)
            console.print()


def _queries(state: Mapping[str, Any]) -> Table:
    table = table_of("Queries", "weight", "kind", "text", right=["weight"], wide="text")
    for query in state.get("queries") or []:
        table.add_row(f"{query['weight']:.2f}", query["kind"], plain(query["text"]))
    return table


def _decisions(state: Mapping[str, Any]) -> Table:
    table = table_of("Decisions", "what", "choice", "why", wide="why")
    table.show_header = False
    windows = state.get("windows") or []
    evidence, route = state.get("evidence") or {}, state.get("route") or {}
    rounds = f"round {state.get('round', 1)}"
    if evidence.get("verdict"):
        why = "; ".join([*evidence["reasons"], *([f"missing: {evidence['missing']}"] if evidence["missing"] else [])])
        table.add_row("evidence", f"{evidence['verdict']} ({rounds})", plain(why))
    if windows:
        sizes = " + ".join(str(len(window)) for window in windows)
        table.add_row("windows", str(len(windows)), f"{sizes} passages")
    if route.get("name"):
        table.add_row("route", route["name"], plain("; ".join(route["reasons"])))
    for item in state.get("degraded") or []:
        table.add_row("degraded", item["step"], plain(item["reason"]), style="yellow")
    return table


def _claims(state: Mapping[str, Any]) -> Table:
    table = table_of("Claims and the words that support them", "", "claim", "quote")
    for column in table.columns[1:]:
        column.ratio, column.no_wrap = 1, False
    for citation in state.get("citations") or []:
        claim, quote = squeeze(citation["claim"]), squeeze(citation["quote"])
        words = Text("(the same words)" if claim == quote else f"“{quote}”", style="italic")
        words.append(f" {place_of(citation)}{_standing(citation)}", style="dim")
        table.add_row(f"[{citation['marker']}]", plain(claim), words)
    for claim in state.get("unsupported") or []:
        table.add_row("", plain(squeeze(claim)), Text("no passage supports this", style="yellow"))
    return table


def _standing(citation: Mapping[str, Any]) -> str:
    if not citation["verified"]:
        return " (not found in the passage)"
    return " (quote found by the program)" if citation["repaired"] else ""


def _steps(state: Mapping[str, Any]) -> Table:
    right = ["ms", "calls", "tokens in", "out"]
    table = table_of("Steps", "step", *right, "what", right=right, wide="what")
    steps = state.get("trace") or []
    for step in steps:
        table.add_row(step["node"], *_cost(step), " ".join(_counts(step["counts"])))
    if steps:
        total = {name: sum(step[name] for step in steps) for name in ("ms", "calls", "prompt_tokens", "output_tokens")}
        rounds = len({step["round"] for step in steps if step["calls"]})
        table.add_section()
        table.add_row(
            "all", *_cost(total), f"{rounds} round trips" if total["calls"] else "no model was called", style="bold"
        )
    return table


def _cost(step: Mapping[str, Any]) -> list[str]:
    return [f"{step['ms']:.0f}", *(str(step[name] or "") for name in ("calls", "prompt_tokens", "output_tokens"))]


def _counts(counts: Mapping[str, Any]) -> Iterator[str]:
    for name, value in counts.items():
        if isinstance(value, list):
            numbers = all(isinstance(item, int | float) for item in value)
            yield f"{name}={'+'.join(map(str, value)) if numbers and value else len(value)}"
        else:
            yield f"{name}={value}"
