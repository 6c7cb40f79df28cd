"""Makes collections of XQuAD's files: the same paragraphs and questions in each language, translated by people.

    python -m evals.languages FOLDER OUT
    anabranch eval evals/languages.yaml --data OUT
    anabranch eval evals/cross_language.yaml --data OUT

FOLDER holds `xquad.de.json` and the others of https://github.com/google-deepmind/xquad (Artetxe et al., ACL 2020). `de`
is the collection in German, `de-en` has its questions and the English paragraphs, and `en-de` the other way round.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

EVERY = 8
"""Of the 1,190 questions of a language, one in so many: some five questions are asked of each paragraph."""


def paragraphs(data: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the paragraphs of a file in SQuAD's form, with an id that is the same in all languages."""
    every = (paragraph for article in data for paragraph in article["paragraphs"])
    for number, paragraph in enumerate(every):
        yield f"p{number}", paragraph


def written(source: Path, folder: Path) -> int:
    """Write one language as a collection in BEIR's form; return how many questions it has."""
    data = json.loads(source.read_text(encoding="utf-8"))["data"]
    documents, asked = [], []
    for key, paragraph in paragraphs(data):
        # Some texts begin with the mark that a file begins with.
        documents.append({"_id": key, "title": "", "text": paragraph["context"].replace("\ufeff", "")})
        asked += [(question["id"], question["question"], key) for question in paragraph["qas"]]
    chosen = asked[::EVERY]
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    _lines(folder / "corpus.jsonl", documents)
    _lines(folder / "queries.jsonl", [{"_id": key, "text": text} for key, text, _ in chosen])
    judged = "".join(f"{key}\t{document}\t1\n" for key, _, document in chosen)
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}", encoding="utf-8")
    return len(chosen)


def cross(out: Path, asked: str, told: str) -> None:
    """Make a collection of the questions in one language and the paragraphs in another, of links to theirs."""
    folder = out / f"{asked}-{told}"
    folder.mkdir(exist_ok=True)
    # A link to the same documents shares their corpus, so that nothing is embedded twice.
    for name, language in {"corpus.jsonl": told, "queries.jsonl": asked, "qrels": asked}.items():
        link = folder / name
        link.unlink(missing_ok=True)
        link.symlink_to(Path("..", language, name))


def _lines(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")


def main() -> None:
    """Write a folder for each file."""
    parser = argparse.ArgumentParser(prog="python -m evals.languages", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path, help="holds xquad.de.json and so on")
    parser.add_argument("out", type=Path, help="where the collections are written, one folder for each language")
    options = parser.parse_args()
    files = sorted(options.folder.glob("xquad.*.json"))
    if not files:
        parser.error(f"there is no xquad.LANGUAGE.json in {options.folder}")
    languages = [file.name.split(".")[1] for file in files]
    for file, language in zip(files, languages, strict=True):
        sys.stdout.write(f"{language}: {written(file, options.out / language)} questions\n")
    for language in languages:
        if "en" in languages and language != "en":
            cross(options.out, language, "en")
            cross(options.out, "en", language)


if __name__ == "__main__":
    main()
