"""Questions with the passages that every system is shown: `questions.jsonl` names them, this reads their texts.

    python -m evals.synthesis.packs --data DIR --xquad XQUAD --out packs.json

`DIR` holds `retrieval/hotpotqa` and `retrieval/musique` in BEIR's form, and `seeds` with `questions.jsonl` and
documents. Of a seeds question the passages are those that the program's own search packs. `XQUAD` is what
`python -m evals.languages` made.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from anabranch.agent.graph.answer import build
from anabranch.agent.graph.dependencies import read_chunks
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import VISIBLE
from anabranch.citations.citation_record import piece_of
from anabranch.errors import SettingsError, UserError
from anabranch.ingestion.pipeline import ingest
from anabranch.synthesis.drafts import label

QUESTIONS = Path(__file__).with_name("questions.jsonl")
SEEDS, WINDOW = "seeds", 500
XQUAD = "xquad/"  # and a language


@dataclass(frozen=True, slots=True)
class Passage:
    """What is shown: where it is from, and its text."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Pack:
    """One question with its passages.

    Attributes:
        id: Of the question.
        set: The collection.
        split: `dev` for choosing prompts and rules on, `test` for saying how good they are.
        kind: `answerable`, `unanswerable` (the passages are on the subject, and do not tell), or `absent` (they are of
            another document than the question's).
        text: The question.
        spellings: Of the answer; none where the passages do not hold it.
        one: The passages of one window.
        two: Those of two windows, for ways of answering that read one after the other: for a seeds question the best
            two windows of 500 tokens, for another the halves of `one`.
    """

    id: str
    set: str
    split: str
    kind: str
    text: str
    spellings: tuple[str, ...]
    one: tuple[Passage, ...]
    two: tuple[tuple[Passage, ...], ...]

    @property
    def answerable(self) -> bool:
        """Whether an answer is expected."""
        return self.kind == "answerable"


def read_packs(file: Path) -> list[Pack]:
    """Read what `main` wrote.

    Raises:
        SettingsError: It is no such file.
    """
    try:
        return [_pack(record) for record in json.loads(file.read_text("utf-8"))]
    except (OSError, ValueError, KeyError, TypeError) as error:
        msg = f"{file}: {type(error).__name__}: {error}"
        raise SettingsError(msg, hint="Make one: python -m evals.synthesis.packs --data DIR --out FILE") from error


def _pack(record: dict[str, Any]) -> Pack:
    shown = {
        "spellings": tuple(record["spellings"]),
        "one": _passages(record["one"]),
        "two": tuple(_passages(window) for window in record["two"]),
    }
    return Pack(**{**record, **shown})


def _passages(records: Iterable[dict[str, str]]) -> tuple[Passage, ...]:
    return tuple(Passage(**record) for record in records)


def packs_of(
    data: Path, rows: Iterable[dict[str, Any]], corpus: Path | None = None, xquad: Path | None = None
) -> Iterator[Pack]:
    """Add the texts to the rows of `questions.jsonl`; collections that are not there are left out."""
    by_set: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_set[row["set"]].append(row)
    for name, own in by_set.items():
        folder = data / SEEDS if name == SEEDS else data / "retrieval" / name
        if name.startswith(XQUAD):
            folder = (xquad or data) / name.removeprefix(XQUAD)
        if folder.is_dir():
            yield from _seeds(folder, own, corpus) if name == SEEDS else _collection(folder, own)


def _collection(folder: Path, rows: Iterable[dict[str, Any]]) -> Iterator[Pack]:
    passages = {_id(each): _passage(each["title"], each["text"]) for each in _lines(folder / "corpus.jsonl")}
    texts = {_id(each): each["text"].strip() for each in _lines(folder / "queries.jsonl")}
    for row in rows:
        one = tuple(passages[name] for name in row["passages"])
        yield Pack(**_named(row), text=texts[row["id"]], one=one, two=halves(one))


def _id(record: dict[str, Any]) -> str:
    return str(record["_id"] if "_id" in record else record["id"])


def _named(row: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {name: row[name] for name in ("id", "set", "split", "kind")}
    return {**kept, "spellings": tuple(row["spellings"])}


def _passage(title: str, text: str) -> Passage:
    # A paragraph of an encyclopedia may name its subject in its title alone.
    name = title.partition("(")[0].strip().casefold()
    return Passage(title, text if name in text[:200].casefold() else f"{title}: {text}")


def halves(passages: Sequence[Passage]) -> tuple[tuple[Passage, ...], ...]:
    """Return the passages in two windows of about as many characters."""
    whole, so_far, first = sum(len(each.text) for each in passages), 0, 0
    while first < len(passages) - 1 and so_far + len(passages[first].text) / 2 < whole / 2:
        so_far += len(passages[first].text)
        first += 1
    return (tuple(passages[:first]), tuple(passages[first:])) if first else (tuple(passages),)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in file.read_text("utf-8").splitlines())


def _seeds(folder: Path, rows: Iterable[dict[str, Any]], kept: Path | None) -> Iterator[Pack]:
    texts = {each["id"]: each["text"] for each in _lines(folder / "questions.jsonl")}
    with TemporaryDirectory(prefix="anabranch-synthesis-") if kept is None else nullcontext(str(kept)) as corpus:
        # Beside the documents lie the questions, with their answers.
        ingest(sorted(path for path in folder.iterdir() if path.suffix != ".jsonl"), corpus)
        for row in rows:
            windows = asyncio.run(_packed(corpus, texts[row["id"]]))
            yield Pack(**_named(row), text=texts[row["id"]], one=windows[0], two=tuple(windows[:2]))


async def _packed(corpus: str, question: str) -> list[tuple[Passage, ...]]:
    """Search as the program does without a model that rewrites the question, and return what it packs."""
    # Whether there is evidence is for the systems that are compared to say: nothing is held back from them.
    context = Context(corpus=corpus, window_tokens=WINDOW, top_k=8, strategy="none", grade="none")
    state = await build().compile().ainvoke({"question": question}, context=context, output_keys=VISIBLE)
    chunks = await read_chunks(context, state, [each["id"] for window in state["windows"] for each in window])
    return [
        tuple(Passage(label(chunks[each["id"]]), piece_of(chunks[each["id"]], each)) for each in window)
        for window in state["windows"]
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file; exit code 2 with the reason where something is wrong with what was given."""
    parser = argparse.ArgumentParser(prog="python -m evals.synthesis.packs", description="Put passages to questions.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--xquad", type=Path, help="the folder that python -m evals.languages made")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, help="keep the corpus of the seeds' documents here")
    options = parser.parse_args(arguments)
    try:
        packs = list(packs_of(options.data, _lines(QUESTIONS), options.corpus, options.xquad))
    except UserError as error:
        sys.stderr.write(f"{error.message} {error.hint}\n")
        return 2
    options.out.write_text(json.dumps([asdict(pack) for pack in packs], ensure_ascii=False, indent=1), "utf-8")
    sys.stdout.write(f"{len(packs)} questions\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
