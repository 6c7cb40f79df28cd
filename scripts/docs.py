"""Write the generated parts of README.md and docs/ from the code, or check that they are what the code says.

A generated part stands between `<!-- NAME -->` and `<!-- /NAME -->`. With `--check` nothing is written; a part that
differs, or a link to a file that is not there, makes the exit status 1.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # a checkout is enough: nothing has to be installed
LINK = re.compile(r"\[[^\]]*\]\((?!https?://|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)")


def picture() -> str:
    """Return the answer graph as a Mermaid drawing."""
    from anabranch.agent.graph.answer import graph

    drawing = graph.get_graph(xray=1).draw_mermaid()
    # The front matter and the inline HTML are for Mermaid's own site; GitHub draws the plain form.
    drawing = re.sub(r"^---.*?---\n", "", drawing, flags=re.DOTALL)
    return "```mermaid\n" + re.sub(r"</?p>", "", drawing).strip() + "\n```"


def imports() -> str:
    """Return which package imports which, as a Mermaid drawing."""
    from scripts.imports import picture as drawn

    return drawn()


def settings() -> str:
    """Return the table of Context fields."""
    from anabranch.agent.nodes.settings import Context

    rows = ["| setting | default | what it does |", "|---|---|---|"]
    schema = Context.model_json_schema()["properties"]
    for name, field in Context.model_fields.items():
        default = "the prompt in `prompts/`" if name.endswith("_prompt") else f"`{field.default!r}`"
        choices = [repr(choice) for choice in schema[name].get("enum", ())]
        said = " / ".join(choices)
        rows.append(f"| `{name}` | {default} | {field.description}{f' One of {said}.' if said else ''} |")
    return "\n".join(rows)


def efforts() -> str:
    """Return the table of efforts: what each stands for, and what was counted."""
    from anabranch.agent.nodes.efforts import EFFORTS
    from anabranch.agent.nodes.settings import Context

    def row(name: str, cells: Iterable[object]) -> str:
        return f"| {name} | {' | '.join(map(str, cells))} |"

    usual = Context().model_dump()
    names = dict.fromkeys(name for standing in EFFORTS.values() for name in standing)
    rows = [row("", (f"`{effort}`" for effort in EFFORTS)), "|---" * (len(EFFORTS) + 1) + "|"]
    rows += [row(f"`{name}`", (f"`{each.get(name, usual[name])!r}`" for each in EFFORTS.values())) for name in names]
    counted = json.loads((ROOT / "benchmarks" / "efforts.json").read_text(encoding="utf-8"))
    figures = [counted[effort] for effort in EFFORTS]
    rows.append(row("model calls, mean and most", (f"{each['calls']:g}, {each['most_calls']}" for each in figures)))
    rows.append(row("prompt tokens", (f"{each['prompt_tokens']:,}" for each in figures)))
    rows.append(row("prompt tokens before the answer's first word", (f"{each['first_tokens']:,}" for each in figures)))
    for pace in READING:
        seconds = (round(each["first_tokens"] / pace) for each in figures)
        rows.append(row(f"seconds to read these at {pace:,} tokens a second", seconds))
    return "\n".join(rows)


READING = (26, 1000)
"""Prompt tokens that a machine reads in a second: a few processor cores, and a graphics processor."""

PARTS: dict[str, Callable[[], str]] = {
    "graph": picture,
    "imports": imports,
    "settings": settings,
    "efforts": efforts,
}


def pages() -> list[Path]:
    """Return every page a person reads."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def regenerated(text: str) -> str:
    """Return the page with its generated parts as the code says."""
    for name, make in PARTS.items():
        if f"<!-- {name} -->" in text:
            pattern = rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)"
            text = re.sub(pattern, lambda found, make=make: found[1] + make() + found[2], text, flags=re.DOTALL)
    return text


def main(arguments: list[str]) -> int:
    """Write, or check."""
    problems: list[str] = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        fresh = regenerated(text)
        if fresh != text:
            if "--check" in arguments:
                problems.append(f"{page.relative_to(ROOT)}: a generated part is out of date; run `make docs`")
            else:
                page.write_text(fresh, encoding="utf-8")
        problems += [
            f"{page.relative_to(ROOT)}: there is no {link}"
            for link in LINK.findall(text)
            if not (page.parent / link).exists()
        ]
    sys.stderr.write("".join(f"{problem}\n" for problem in problems))
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
