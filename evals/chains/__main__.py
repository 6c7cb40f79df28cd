"""The command: ask questions that need a value found first, in one search and in a chain, and print what came of it.

    python -m evals.chains --write
    python -m evals.chains --data DIR --write
    python -m evals.chains --data DIR --base-url http://127.0.0.1:8080 --limit 40 --kept results.jsonl --write

Without `--base-url` the models are scripts: no key, no server. With it, each part is asked of that model, one question
at a time; `--kept` keeps each result and `--kept-replies` each reply, so that a stopped run goes on from there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from anabranch import search
from anabranch.errors import UserError
from anabranch.ingestion.pipeline import ingest
from anabranch.store.memory import forget
from anabranch.types import Chunk
from benchmarks.report import Table, shown
from evals.chains.gold_passages import COLLECTIONS, GoldCollection, GoldQuestion, evenly, read_gold_passages
from evals.chains.measuring import PATIENCE, Asking, Measured, measure
from evals.chains.one_sentence import check_sentences, make_sentences, read_written
from evals.chains.oracle import Oracle
from evals.chains.peers import ENGINES, PEERS, ask_engine
from evals.chains.report import CHAIN, ONE, tables
from evals.chains.scripted_model import WorldReader, play
from evals.chains.worlds import KINDS, MadeQuestion, World, make_world
from evals.synthesis.reply_cache import ReplyCache
from evals.synthesis.scoring import contains, is_english_refusal
from evals.synthesis.systems import ANSWER_TOKENS, MODEL

PAGE = Path(__file__).parent.with_name("chains.md")
PARTS = ("made", "recall", "answers", "sentences")
LOOK_ALIKES = (60, 300)
HOPS = {ONE: 0, CHAIN: 2}
"""Further searches of each way; 2 is the default of the setting."""
SYSTEMS = (ONE, CHAIN, *ENGINES)
PASSAGES = 8
"""What each system is given of a search, where answers are compared."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, print, and write if asked to; exit code 2 with the reason where something is wrong with what was given."""
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 170, highlight=False, markup=False)
    try:
        results = asyncio.run(_results(options, console))
        # The check of claims needs no model, so there is nothing to ask one.
        sentences = [_check_sentences(options.data)] if "sentences" in options.parts and not options.base_url else []
    except UserError as error:
        console.print(f"{error.message} {error.hint}", style="red")
        return 2
    shown([*tables(results), *sentences], console, options.write)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.chains", description="Measure chains of searches.")
    add = parser.add_argument
    add("--data", type=Path, metavar="DIR", help=f"folder of the collections {', '.join(COLLECTIONS)}, in BEIR's form")
    add("--home", type=Path, default=Path(".anabranch/chains"), help="where their corpora are kept")
    add("--parts", nargs="+", choices=PARTS, default=PARTS, help="default: all; `answers` needs --base-url")
    add("--kinds", nargs="+", choices=KINDS, default=KINDS, help="of made questions; default: all")
    add("--look-alikes", type=int, nargs="+", default=LOOK_ALIKES, metavar="N", help="default: 60 300")
    add("--base-url", metavar="URL", help="an OpenAI-compatible server; without one, the models are scripts")
    add("--limit", type=int, metavar="N", help="most questions of each world or collection, spread evenly")
    add("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS, help="of the part `answers`; default: all")
    add("--kept-replies", type=Path, metavar="FILE", help="keep the model's replies, and do not ask the same again")
    add("--kept", type=Path, metavar="FILE", help="keep results, and do not ask again what is there")
    add("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help=f"default: evals/{PAGE.name}")
    return parser


async def _results(options: argparse.Namespace, console: Console) -> list[Measured]:
    results = _kept(options.kept)
    done = {(each.part, each.set, each.id, each.way) for each in results}
    replies = options.kept_replies or options.home / "replies.jsonl"
    if options.base_url:
        replies.parent.mkdir(parents=True, exist_ok=True)
    with ReplyCache(options.base_url, replies) if options.base_url else nullcontext() as server:
        if server is not None:
            server.start()
        async for result in _measured(options, server, done, console):
            results.append(result)
            if options.kept:
                with options.kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")
            if server is not None:
                mark = {True: "right", False: "wrong", None: "-"}[result.right]
                console.print(
                    f"{result.set} {result.id} {result.way}: found {result.found}, {mark}: {result.answer[:80]!r}"
                )
        if server is not None:
            server.shutdown()
    return results


def _check_sentences(data: Path | None) -> Table:
    sets = {"written for this": read_written()}
    folders = [data / name for name in COLLECTIONS] if data else []
    sets |= {each.name: list(make_sentences(read_gold_passages(each))) for each in folders if each.is_dir()}
    return check_sentences(sets)


def _kept(file: Path | None) -> list[Measured]:
    if file is None or not file.is_file():
        return []
    return [Measured(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]


Done = set[tuple[str, str, str, str]]


async def _measured(
    options: argparse.Namespace, server: ReplyCache | None, done: Done, console: Console
) -> AsyncIterator[Measured]:
    worlds = [(kind, count) for kind in options.kinds for count in options.look_alikes if "made" in options.parts]
    for kind, count in worlds:
        async for result in _made(make_world(kind, count), count, options, server, done):
            yield result
    searched = options.data and {"recall", "answers"}.intersection(options.parts)
    for name in COLLECTIONS if searched else ():
        if not (options.data / name).is_dir():
            console.print(f"{name} is left out: it is not in {options.data}.", style="yellow")
            continue
        async for result in _of_collection(name, options, server, done, console):
            yield result


async def _of_collection(
    name: str, options: argparse.Namespace, server: ReplyCache | None, done: Done, console: Console
) -> AsyncIterator[Measured]:
    collection, corpus = read_gold_passages(options.data / name), options.home / name
    await asyncio.to_thread(ingest, [collection.file], corpus)
    asked = evenly(collection.questions, options.limit)
    if "recall" in options.parts:
        async for result in _recalled(collection, asked, corpus, server, done):
            yield result
    if "answers" in options.parts and server is not None:
        async for result in _answered(collection, asked, corpus, options.systems, server, done, console):
            yield result


def _settings(server: ReplyCache | None) -> dict[str, Any]:
    if server is None:
        return {}
    return {
        "model": f"openai:{MODEL}", "base_url": server.base_url, "model_timeout": PATIENCE, "model_retries": 0,
        "answer_tokens": ANSWER_TOKENS,
    }  # fmt: skip


def _suffix(server: ReplyCache | None) -> str:
    return "" if server is None else "-model"


async def _made(
    world: World, look_alikes: int, options: argparse.Namespace, server: ReplyCache | None, done: Done
) -> AsyncIterator[Measured]:
    name, corpus = f"{world.kind}, {look_alikes} look-alikes", f"memory:{world.kind} {look_alikes}"
    questions = world.questions[: options.limit]
    due = [
        (each, Measured(f"chains-made{_suffix(server)}", name, each.thing, way)) for each in questions for way in HOPS
    ]
    due = [pair for pair in due if _key(pair[1]) not in done]
    if not due:
        return
    await asyncio.to_thread(partial(ingest, documents=world.documents, corpus=corpus))
    model = play(WorldReader(world)) if server is None else None
    asking = Asking(corpus, model, _settings(server), answers=True)
    try:
        for question, asked in due:
            yield await measure(
                asked,
                question.text,
                asking,
                hops=HOPS[asked.way],
                is_gold=partial(_holds, question),
                is_right=partial(_is_right, question),
            )
    finally:
        forget(corpus)


def _holds(question: MadeQuestion, chunks: Sequence[Chunk]) -> bool:
    return all(any(gold in chunk.text for chunk in chunks) for gold in question.gold)


def _is_right(question: MadeQuestion, answer: str) -> bool:
    return contains(answer, [question.key])


def _key(asked: Measured) -> tuple[str, str, str, str]:
    return asked.part, asked.set, asked.id, asked.way


async def _recalled(
    collection: GoldCollection,
    questions: Sequence[GoldQuestion],
    corpus: Path,
    server: ReplyCache | None,
    done: Done,
) -> AsyncIterator[Measured]:
    model = play(Oracle(collection)) if server is None else None
    asking = Asking(corpus, model, _settings(server), answers=False)
    for question in questions:
        for way, hops in HOPS.items():
            asked = Measured(f"chains-recall{_suffix(server)}", collection.name, question.id, way)
            if _key(asked) not in done:
                is_gold = partial(_has_all, question)
                yield await measure(asked, question.text, asking, hops=hops, is_gold=is_gold, is_right=bool)


def _has_all(question: GoldQuestion, chunks: Sequence[Chunk]) -> bool:
    return {chunk.doc_key for chunk in chunks}.issuperset(question.gold)


async def _answered(
    collection: GoldCollection,
    questions: Sequence[GoldQuestion],
    corpus: Path,
    systems: Sequence[str],
    server: ReplyCache,
    done: Done,
    console: Console,
) -> AsyncIterator[Measured]:
    asking = Asking(corpus, None, {**_settings(server), "top_k": PASSAGES}, answers=True)
    for question in questions:
        for system in systems:
            asked = Measured("chains-answers-model", collection.name, question.id, system)
            if _key(asked) in done:
                continue
            before = server.taken
            is_right = partial(contains, spellings=question.spellings)
            if system in HOPS:
                is_gold = partial(_has_all, question)
                result = await measure(
                    asked, question.text, asking, hops=HOPS[system], is_gold=is_gold, is_right=is_right
                )
            else:
                try:
                    result = await _ask_peer(asked, question, corpus, server)
                except ImportError as error:
                    console.print(f"{system} is left out: {error}. pip install {PEERS}", style="yellow")
                    continue
            after = server.taken
            yield replace(
                result,
                calls=after.calls - before.calls,
                prompt_tokens=after.prompt_tokens - before.prompt_tokens,
                output_tokens=after.output_tokens - before.output_tokens,
            )


async def _ask_peer(asked: Measured, question: GoldQuestion, corpus: Path, server: ReplyCache) -> Measured:
    def find(query: str) -> list[str]:
        found = search(query, corpus=str(corpus), top_k=PASSAGES, strategy="none", model=None)
        return [f"{each.metadata['title']}\n{each.page_content}" for each in found]

    try:
        said = await ask_engine(asked.way, question.text, server.base_url, find)
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001  # an engine raises whatever it likes where a reply cannot be read
        return replace(asked, failed=f"{type(error).__name__}: {error}"[:200])
    is_refusal = is_english_refusal(said)
    return replace(asked, right=None if is_refusal else contains(said, question.spellings), answer=said)


if __name__ == "__main__":
    # Settings in the environment would change what is measured.
    for setting in [name for name in os.environ if name.startswith("ANABRANCH_")]:
        del os.environ[setting]
    os.environ["OPENAI_API_KEY"] = "none"
    # A busy core may read a prompt for longer than langchain-openai waits for the first piece of a stream.
    os.environ["LANGCHAIN_OPENAI_STREAM_CHUNK_TIMEOUT_S"] = "0"
    raise SystemExit(main())
