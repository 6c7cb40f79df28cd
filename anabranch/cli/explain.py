"""`ask --explain`: how an answer was made, from the queries to the cost and the prompts of each step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from anabranch.cli.answer_view import place_of
from anabranch.cli.output import say, say_command
from anabranch.cli.prompt_log import SentPrompt
from anabranch.readers.document import Chunk
from anabranch.safety.link_removal import make_plain
from anabranch.text.normalization import clean

# What a screen holds; --json has all of them.
MAX_ROWS = 15
MAX_WHERE = 20
MAX_CELL = 1_000


def print_explanation(
    console: Console, state: Mapping[str, Any], chunks: Mapping[str, Chunk], prompts: Sequence[SentPrompt] = ()
) -> None:
    """Print the tables and the prompts."""
    console.print()
    for table in (
        _queries(state),
        _chain(state),
        _passages(state, chunks),
        _decisions(state, chunks),
        _claims(state),
        _steps(state),
    ):
        if table.row_count:
            console.print(table)
            console.print()
    for heading, prompt in _numbered(prompts):
        console.print(heading)
        console.print(Text("system", style="dim"), Text(clean(prompt["system"])), sep="\n")
        console.print(Text("user", style="dim"), Text(clean(prompt["user"])), "", sep="\n")


def print_prompts(console: Console, prompts: Sequence[SentPrompt]) -> None:
    """Print the prompts alone, each whole and with its own line breaks."""
    console.print()
    for heading, prompt in _numbered(prompts):
        console.print(heading)
        for role, text in (("system", prompt["system"]), ("user", prompt["user"])):
            say(console, role, style="dim")
            say_command(console, text)
        console.print()
    if not prompts:
        say(console, "No prompt was sent: no model was asked.")


def find_duplicates(state: Mapping[str, Any]) -> dict[str, str]:
    """Return the id of the better passage by that of each one that repeats it, of the search and of the windows."""
    found: dict[str, str] = {}
    for step in state.get("trace") or []:
        counts = step["counts"]
        found |= {each["id"]: each["of"] for each in counts.get("duplicates", [])}
        reasons = {each["id"]: each.get("why", "").partition("duplicate_of ") for each in counts.get("dropped", [])}
        found |= {one: other for one, (_, is_duplicate, other) in reasons.items() if is_duplicate}
    return found


def _numbered(prompts: Sequence[SentPrompt]) -> Iterator[tuple[Text, SentPrompt]]:
    for number, prompt in enumerate(prompts, start=1):
        yield Text(f"Prompt {number} of {len(prompts)}, {prompt['step']}", style="bold"), prompt


def _queries(state: Mapping[str, Any]) -> Table:
    table = _table_of("Queries", "weight", "kind", "text", right=["weight"], wide="text")
    for query in state.get("queries") or []:
        table.add_row(f"{query['weight']:.2f}", query["kind"], _plain(query["text"]))
    return table


def _chain(state: Mapping[str, Any]) -> Table:
    """Return the values that further searches were made of, and the reason why there were no more."""
    table = _table_of(
        "Chain: found first, and searched for next", "", "asked", "found", "next query", wide="next query"
    )
    table.columns[1].no_wrap = False
    chain = state.get("chain") or {}
    cited = {place["chunk_id"]: place["marker"] for place in reversed(state.get("citations") or [])}
    for link in chain.get("links") or []:
        marker = f" [{cited[link['chunk_id']]}]" if link["chunk_id"] in cited else ""
        table.add_row(str(link["hop"]), _plain(link["asked"]), _plain(link["value"] + marker), _plain(link["query"]))
    if chain.get("ended"):
        table.add_row("", "", "ended", _plain(chain["ended"]))
    return table


def _decisions(state: Mapping[str, Any], chunks: Mapping[str, Chunk]) -> Table:
    table = _table_of("Decisions", "what", "choice", "why", wide="why")
    table.show_header = False
    windows = state.get("windows") or []
    evidence, route = state.get("evidence") or {}, state.get("route") or {}
    rounds = f"round {state.get('round', 1)}"
    if narrowed := state.get("inferred_filter"):
        table.add_row("filter", "inferred", _plain(narrowed))
    if evidence.get("verdict"):
        why = "; ".join([*evidence["reasons"], *([f"missing: {evidence['missing']}"] if evidence["missing"] else [])])
        table.add_row("evidence", f"{evidence['verdict']} ({rounds})", _plain(why))
    coverage = state.get("coverage") or {}
    if coverage.get("reach") in ("document", "corpus"):
        most = "about" if coverage["rows"] else "at most"
        price = f"{most} {coverage['calls']:,} calls and {coverage['tokens']:,} tokens"
        table.add_row("coverage", coverage["reach"], f"read {coverage['read']:,} of {coverage['leaves']:,}; {price}")
    if windows:
        sizes = " + ".join(str(len(window)) for window in windows)
        table.add_row("windows", str(len(windows)), f"{sizes} passages")
    if duplicates := find_duplicates(state):
        known = [
            f"{_where(chunks[one])} repeats {_where(chunks[other])}"
            for one, other in duplicates.items()
            if one in chunks and other in chunks
        ]
        table.add_row("left out", str(len(duplicates)), _plain("; ".join(dict.fromkeys(known))))
    if route.get("name"):
        table.add_row("route", route["name"], _plain("; ".join(route["reasons"])))
    for item in state.get("degraded") or []:
        table.add_row("degraded", item["step"], _plain(item["reason"]), style="yellow")
    return table


def _claims(state: Mapping[str, Any]) -> Table:
    table = _table_of("Claims and the words that support them", "", "claim", "quote")
    for column in table.columns[1:]:
        column.ratio, column.no_wrap = 1, False
    for citation in state.get("citations") or []:
        claim, quote = make_plain(citation["claim"]), make_plain(citation["quote"])
        words = Text("(the same words)" if claim == quote else f"“{quote}”", style="italic")
        words.append(f" {place_of(citation)}{_grade_text(citation)}", style="dim")
        table.add_row(f"[{citation['marker']}]", _plain(claim), words)
    for claim in state.get("unconfirmed") or []:
        why = "; ".join(filter(None, ("not confirmed", claim["reason"], claim["nearest"])))
        table.add_row("", _plain(claim["text"]), Text(make_plain(why), style="yellow"))
    return table


def _grade_text(citation: Mapping[str, Any]) -> str:
    judged = f", {citation['judged']} by the judge" if citation["judged"] else ""
    return f" ({citation['grade']}{judged})"


def _steps(state: Mapping[str, Any]) -> Table:
    right = ["ms", "calls", "tokens in", "out"]
    table = _table_of("Steps", "step", *right, "what", right=right, wide="what")
    steps = state.get("trace") or []
    for step in steps:
        table.add_row(step["node"], *_cost(step), _plain(" ".join(_counts(step["counts"]))))
    if steps:
        total = {name: sum(step[name] for step in steps) for name in ("ms", "calls", "prompt_tokens", "output_tokens")}
        # The calls of one round run in parallel: rounds determine the waiting time, calls the cost.
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
            # Lists of numbers are the result lengths per query and shown in full; of other lists, only the length is.
            numbers = all(isinstance(item, int | float) for item in value)
            yield f"{name}={'+'.join(map(str, value)) if numbers and value else len(value)}"
        else:
            yield f"{name}={value}"


def _passages(state: Mapping[str, Any], chunks: Mapping[str, Chunk]) -> Table:
    """Return one row per candidate, best first."""
    candidates = state.get("candidates") or []
    retrievers = sorted({retriever for candidate in candidates for retriever in candidate["ranks"]})
    # Without a reranker and without further searches, the column would repeat that of fusion.
    fused = [candidate["fused"] for candidate in candidates]
    reranked = fused != sorted(fused) or len(set(fused)) < len(fused)
    last = "joined" if (state.get("chain") or {}).get("links") else "rerank"
    ranks = [*retrievers, "fused", *([last] if reranked else [])]
    title = "Passages: rank in each list, merging, and number in the windows"
    table = _table_of(
        title, *ranks, "score", "merged", "no.", "cited", "where", "text", right=[*ranks, "score"], wide="text"
    )
    table.columns[-2].max_width = MAX_WHERE
    places = _places(state)
    for rank, candidate in enumerate(candidates[:MAX_ROWS], start=1):
        chunk = chunks.get(candidate["id"])
        table.add_row(
            *(str(candidate["ranks"].get(retriever, "-")) for retriever in retrievers),
            str(candidate["fused"]),
            *([str(rank)] if reranked else []),
            f"{candidate['score']:.3f}",
            *places.get(candidate["id"], ("", "left out", "")),
            _plain(_where(chunk)) if chunk else "removed",
            _one_line(chunk.text) if chunk else "",
        )
    if len(candidates) > MAX_ROWS:
        table.add_row(*[""] * (len(ranks) + 5), f"... and {len(candidates) - MAX_ROWS} more")
    return table


def _places(state: Mapping[str, Any]) -> dict[str, tuple[str, str, str]]:
    """Return by leaf id: how it was merged, its passage's numbers in the windows, and its citation markers."""
    numbers: dict[str, list[str]] = {}
    for window in state.get("windows") or []:
        for excerpt in window:
            # A passage that spans two windows has a number in each.
            numbers.setdefault(excerpt["id"], []).append(str(excerpt["number"]))
    markers: dict[str, list[str]] = {}
    for citation in state.get("citations") or []:
        markers.setdefault(citation["chunk_id"], []).append(f"[{citation['marker']}]")
    places: dict[str, tuple[str, str, str]] = {}
    for passage in state.get("passages") or []:
        leaves, identity = passage["leaves"], passage["id"]
        merged = "" if leaves == [identity] else f"{len(leaves)} in 1"
        cited = " ".join(dict.fromkeys(markers.get(identity, [])))
        for leaf in leaves:
            places[leaf] = (merged, " ".join(numbers.get(identity, ["left out"])), cited)
    return places


def _where(chunk: Chunk) -> str:
    name = chunk.source.rsplit("/", 1)[-1]
    return name if chunk.page is None else f"{name} p. {chunk.page}"


def _one_line(text: str) -> Text:
    line = _plain(text)
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _table_of(title: str, *columns: str, right: Sequence[str] = (), wide: str | None = None) -> Table:
    """Return an empty table with a title; the `wide` column takes the remaining width."""
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        expand=True,
    )
    table.show_header = any(columns)
    for column in columns:
        table.add_column(
            column,
            justify="right" if column in right else "left",
            ratio=1 if column == wide else None,
            no_wrap=column != wide,
            overflow="ellipsis",
        )
    return table


def _plain(text: str) -> Text:
    """Return text as plain words on one line, without interpreting brackets as markup."""
    return Text(make_plain(text, MAX_CELL))
