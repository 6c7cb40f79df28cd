"""The command: ask each system each question over the same passages, and print what came of it.

    python -m evals.synthesis packs.json --base-url http://127.0.0.1:8080 --kept-replies replies.jsonl --write

Systems whose packages are not installed are left out, and said to be. With `--kept FILE` each result is kept as it
comes, and a later run, in another environment too, goes on from there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from anabranch.errors import SettingsError, UserError
from benchmarks.report import shown
from evals.synthesis.packs import Pack, read_packs
from evals.synthesis.reply_cache import ReplyCache
from evals.synthesis.report import SPLITS, Result, tables
from evals.synthesis.scoring import contains, is_english_refusal
from evals.synthesis.systems import PEERS, SYSTEMS, Ask, loaded

PAGE = Path(__file__).parent.with_name("synthesis.md")


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
    shown(found, console, options.write)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.synthesis", description="Compare answers.")
    add = parser.add_argument
    add("questions", type=Path, help="what python -m evals.synthesis.packs wrote")
    add("--base-url", metavar="URL", help="an OpenAI-compatible server; without one, what was kept is shown")
    add("--systems", type=lambda names: names.split(","), default=list(SYSTEMS), help=f"default: {','.join(SYSTEMS)}")
    add("--split", choices=SPLITS, help="default: both")
    add("--most", type=int, default=1000, metavar="N", help="most questions, evenly of each kind and collection")
    add("--kept-replies", type=Path, metavar="FILE", help="keep the model's replies, and do not ask the same again")
    add("--kept", type=Path, metavar="FILE", help="keep results, and do not ask again what is there")
    add("--write", nargs="?", type=Path, const=PAGE, metavar="PAGE", help=f"default: evals/{PAGE.name}")
    return parser


def _results(options: argparse.Namespace, console: Console) -> list[Result]:
    if unknown := [system for system in options.systems if system not in SYSTEMS]:
        msg = f"There is no system {unknown[0]!r}."
        raise SettingsError(msg, hint=f"Systems are {', '.join(SYSTEMS)}.")
    packs = [pack for pack in read_packs(options.questions) if options.split in (None, pack.split)]
    packs = evenly(packs)[: options.most]
    results = _kept(options.kept)
    done = {(result.id, result.system) for result in results}
    if options.base_url:
        systems = _installed(options.systems, console)
        due = [(pack, system) for pack in packs for system in systems if (pack.id, system) not in done]
        results += asyncio.run(_asked(options, due, systems, console))
    shown = {pack.id for pack in packs}
    return [result for result in results if result.id in shown and result.system in options.systems]


def evenly(packs: Sequence[Pack]) -> list[Pack]:
    """Mix the questions so that a run that is stopped has asked some of each kind and collection."""
    groups: dict[tuple[str, ...], list[Pack]] = defaultdict(list)
    for pack in packs:
        groups[pack.split, pack.kind, pack.set].append(pack)
    places = {pack.id: (row + 0.5) / len(group) for group in groups.values() for row, pack in enumerate(group)}
    return sorted(packs, key=lambda pack: places[pack.id])


def _installed(names: Sequence[str], console: Console) -> dict[str, Ask]:
    systems = {}
    for name in names:
        try:
            systems[name] = loaded(name)
        except ImportError as error:
            console.print(f"{name} is left out: {error}. pip install {PEERS}", style="yellow")
    return systems


async def _asked(
    options: argparse.Namespace, due: Sequence[tuple[Pack, str]], systems: dict[str, Ask], console: Console
) -> list[Result]:
    results = []
    with (
        TemporaryDirectory(prefix="anabranch-replies-") as folder,
        ReplyCache(options.base_url, options.kept_replies or Path(folder, "replies.jsonl")) as server,
    ):
        server.start()
        for pack, system in due:
            result = await one(pack, system, systems[system], server)
            results.append(result)
            console.print(f"{pack.split} {pack.id} {pack.kind} {system}: {result.answer[:90]!r}", markup=False)
            if options.kept:
                with options.kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")
        server.shutdown()
    return results


async def one(pack: Pack, system: str, ask: Ask, server: ReplyCache) -> Result:
    """Ask one system one question, and count what it takes by what the server sees."""
    before = server.taken
    said = await ask(pack, SYSTEMS[system][1], server.base_url)
    after = server.taken
    abstained = is_english_refusal(said.text) if said.abstained is None else said.abstained
    return Result(
        id=pack.id,
        set=pack.set,
        split=pack.split,
        kind=pack.kind,
        system=system,
        answer=said.text,
        contains=not abstained and contains(said.text, pack.spellings),
        abstained=abstained,
        calls=after.calls - before.calls,
        prompt_tokens=after.prompt_tokens - before.prompt_tokens,
        output_tokens=after.output_tokens - before.output_tokens,
        degraded=said.degraded,
        marked=said.marked,
    )


def _kept(file: Path | None) -> list[Result]:
    if file is None or not file.is_file():
        return []
    records = map(json.loads, file.read_text("utf-8").splitlines())
    return [Result(**{**record, "degraded": tuple(record["degraded"])}) for record in records]


if __name__ == "__main__":
    # Settings in the environment would change what is measured.
    for setting in [name for name in os.environ if name.startswith("ANABRANCH_")]:
        del os.environ[setting]
    os.environ["OPENAI_API_KEY"] = "none"
    # A busy core may read a prompt for longer than langchain-openai waits for the first piece of a stream.
    os.environ["LANGCHAIN_OPENAI_STREAM_CHUNK_TIMEOUT_S"] = "0"
    raise SystemExit(main())
