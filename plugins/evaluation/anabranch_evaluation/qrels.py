"""Relevance judgements (qrels): which documents answer which query, and how well."""

from __future__ import annotations

import re
from pathlib import Path

from anabranch.errors import CollectionError
from anabranch.text.jsonl_rows import describe_bad_rows, read_lines

Qrels = dict[str, dict[str, int]]
"""Query id to document id to relevance; above 0 is relevant."""

# trec_eval counts in C integers.
HIGHEST = 1_000_000

_WHOLE = re.compile(r"[+-]?\d+(?:\.0*)?")


def find_qrels(folder: Path, split: str = "test") -> Path:
    """Return the file of judgements: `qrels.tsv`, or `qrels/<split>.tsv` as in BEIR.

    Raises:
        CollectionError: There is no such file.
    """
    # A file beside the queries takes precedence over the splits of a benchmark.
    tried = [folder / "qrels.tsv", folder / "qrels" / f"{split}.tsv"]
    for path in tried:
        if path.is_file():
            return path
    others = sorted(path.stem for path in (folder / "qrels").glob("*.tsv"))
    msg = f"There are no judgements in {folder}: neither qrels.tsv nor qrels/{split}.tsv."
    hint = (
        f"There is {', '.join(others)}: name one with --split." if others else "Write lines of query, document and 1."
    )
    raise CollectionError(msg, hint=hint)


def read_qrels(path: Path) -> Qrels:
    """Read judgements: `query document relevance`, or TREC's four columns; a first line of names is skipped.

    Columns are separated by tabs, or by white space where a line has no tab.

    Raises:
        CollectionError: The file cannot be read, holds no judgement, or has bad lines, named by their numbers.
    """
    qrels: Qrels = {}
    problems: list[str] = []
    is_first = True
    for number, line in read_lines(path):
        # Split at tabs if there are any, because an id may be a file name with spaces.
        fields = [field.strip() for field in (line.split("\t") if "\t" in line else line.split())]
        # BEIR's files begin with the names of the columns, TREC's do not.
        if is_first and len(fields) in (3, 4) and not _WHOLE.fullmatch(fields[-1]):
            is_first = False
            continue
        is_first = False
        try:
            _take(qrels, fields)
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    if problems:
        hint = "Each line holds a query id, a document id and a whole number, separated by tabs."
        raise describe_bad_rows(path, problems, hint=hint, refused=CollectionError)
    if not qrels:
        msg = f"{path} holds no judgements."
        raise CollectionError(msg, hint="Each line holds a query id, a document id and a whole number.")
    return qrels


def _take(qrels: Qrels, fields: list[str]) -> None:
    if len(fields) not in (3, 4) or not fields[0] or not fields[-2]:
        raise ValueError(f"{len(fields)} columns instead of query, document and relevance")
    query, document, grade = fields[0], fields[-2], fields[-1]
    if not _WHOLE.fullmatch(grade):
        raise ValueError(f"the relevance {grade!r} is not a whole number")
    # Some collections write 1.0; fractions were refused above.
    relevance = int(float(grade))
    if abs(relevance) > HIGHEST:
        raise ValueError(f"the relevance {grade} is beyond {HIGHEST:,}")
    # The same line twice is harmless; two verdicts on one document are a mistake that no evaluator mentions.
    known = qrels.setdefault(query, {}).setdefault(document, relevance)
    if known != relevance:
        raise ValueError(f"{document!r} is judged {relevance} for {query!r}, and {known} on an earlier line")
