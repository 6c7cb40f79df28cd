"""The command: take documents in, ask each question on each route, and print what came of it.

    python -m evals.real_model QUESTIONS.jsonl DOCUMENT... --weights MODEL.gguf --write

`--base-url URL --model NAME` asks a server that runs already. With `--kept FILE` each result is kept as it comes, and a
later run goes on from there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from anabranch.errors import SettingsError, UserError
from anabranch.ingestion.pipeline import ingest
from benchmarks.report import for_terminal, regenerated
from evals.real_model.asking import ROUTES, Result, ask
from evals.real_model.questions import Question, read_questions, sample
from evals.real_model.report import tables
from evals.real_model.serving import Clock, served

PAGE = Path(__file__).parent.with_name("real-model.md")
CONTEXT, SLOTS = 3072, 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, print, and write if asked to; exit code 2 with the reason where something is wrong with what was given."""
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 170, highlight=False)
    try:
        results = _results(options, console)
    except UserError as error:
        console.print(f"{error.message} {error.hint}", style="red")
        return 2
    found = tables(results)
    for table in found:
        console.print(for_terminal(table))
    if options.write:
        options.write.write_text(regenerated(options.write.read_text("utf-8"), found), "utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.real_model", description="Measure whole answers.")
    add = parser.add_argument
    add("questions", type=Path, help="JSONL: id, doc, text, answer, evidence_regex, unanswerable")
    add("documents", type=Path, nargs="+", help="files to answer from")
    server = parser.add_mutually_exclusive_group()
    server.add_argument("--weights", type=Path, metavar="GGUF", help="serve this model by xllamacpp, on one thread")
    server.add_argument("--base-url", metavar="URL", help="a server that runs already")
    add("--routes", type=lambda names: names.split(","), default=list(ROUTES), help=f"default: {','.join(ROUTES)}")
    add("--answerable", type=int, default=1000, metavar="N", help="most questions with an answer")
    add("--others", type=int, default=1000, metavar="N", help="most questions without")
    add("--corpus", type=Path, help="keep the corpus here")
    add("--kept", type=Path, metavar="FILE", help="keep results here as they come, and do not ask again what is there")
    add("--show", action="store_true", help="ask nothing: show what was kept")
    add("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help=f"default: evals/{PAGE.name}")
    return parser


def _checked(options: argparse.Namespace) -> None:
    unknown = [route for route in options.routes if route not in ROUTES]
    if unknown:
        msg = f"There is no route {unknown[0]!r}."
        raise SettingsError(msg, hint=f"Routes are {', '.join(ROUTES)}.")
    if not options.show and options.routes != ["compose"] and not (options.weights or options.base_url):
        msg = "Only the route 'compose' needs no model."
        raise SettingsError(msg, hint="Give --weights or --base-url, or --routes compose.")


def _results(options: argparse.Namespace, console: Console) -> list[Result]:
    _checked(options)
    if options.show:
        return _kept(options.kept)
    questions = sample(read_questions(options.questions, options.documents), options.answerable, options.others)
    results = _kept(options.kept)
    done = {(result.question, result.route) for result in results}
    due = [(q, route) for q in questions for route in options.routes if (q.id, route) not in done]
    asked = {question.id for question in questions}
    held = TemporaryDirectory(prefix="anabranch-real-model-") if options.corpus is None else nullcontext(options.corpus)
    with held as folder:
        if due:
            ingest(options.documents, Path(folder))
            results += _asked(options, due, Path(folder), console)
    return [result for result in results if result.question in asked]


def _asked(
    options: argparse.Namespace, due: Sequence[tuple[Question, str]], corpus: Path, console: Console
) -> list[Result]:
    if options.weights:
        with served(options.weights, context=CONTEXT, slots=SLOTS) as (base_url, clock):
            return asyncio.run(_each(options, due, corpus, base_url, clock, console))
    # What a server elsewhere takes cannot be seen; without one, only the route that needs none can be gone.
    return asyncio.run(_each(options, due, corpus, options.base_url, lambda: 0.0, console))


async def _each(
    options: argparse.Namespace, due: Sequence[tuple[Question, str]], corpus: Path, base_url: str, clock: Clock,
    console: Console,
) -> list[Result]:  # fmt: skip
    results = []
    for question, route in due:
        result = await ask(question, route, corpus, base_url, clock)
        results.append(result)
        console.print(f"{question.id} {question.kind} {route}: {result.cpu:.0f} CPU-s, {result.answer[:80]!r}")
        if options.kept:
            with options.kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(result)) + "\n")
    return results


def _kept(file: Path | None) -> list[Result]:
    if file is None or not file.is_file():
        return []
    return [Result(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    # Settings in the environment would change what is measured.
    for setting in [name for name in os.environ if name.startswith("ANABRANCH_")]:
        del os.environ[setting]
    # A busy core may read a prompt for longer than langchain-openai waits for the first piece of a stream.
    os.environ["LANGCHAIN_OPENAI_STREAM_CHUNK_TIMEOUT_S"] = "0"
    raise SystemExit(main())
