"""The claims of public benchmarks, read from a folder in the form in which their authors publish them.

WiCE (Kamoi et al., EMNLP 2023): sentences of Wikipedia with chunks of the pages that they cite (`*.jsonl`). BEGIN
(Dziri et al., TACL 2022): replies of dialogue systems with the text that they were to rest on (`begin_*.tsv`).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.errors import SettingsError

SCORES = ".entailment_score.json"
"""How files with the scores of others end: a JSON object, scores by the id of a claim, as WiCE's authors write them."""

_HINT = "evals/attribution.md says which files a folder holds, and where they come from."


@dataclass(frozen=True, slots=True)
class AttributedClaim:
    """A claim with evidence, and whether people found it supported.

    Attributes:
        id: Of the claim; of a claim with several pieces of evidence all have the same.
        set: The benchmark, and the part of it.
        claim: What is stated.
        evidence: The text that it may rest on.
        question: What was said before it; empty where it stands for itself.
        is_supported: Whether the evidence supports all of it.
    """

    id: str
    set: str
    claim: str
    evidence: str
    question: str
    is_supported: bool


def read_benchmarks(folder: Path) -> list[AttributedClaim]:
    """Read all benchmarks in a folder and the folders in it.

    Raises:
        SettingsError: There is none, or one cannot be read.
    """
    found: list[AttributedClaim] = []
    for file in sorted(folder.rglob("*")):
        read = _wice if file.suffix == ".jsonl" else _begin if file.match("begin_*.tsv") else None
        try:
            found += read(file) if read else ()
        except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
            raise SettingsError(f"{file}: {type(error).__name__}: {error}", hint=_HINT) from error
    if not found:
        raise SettingsError(f"There is no benchmark in {str(folder)!r}.", hint=_HINT)
    return found


def _wice(file: Path) -> Iterator[AttributedClaim]:
    for line in file.read_text("utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        yield AttributedClaim(
            id=row["meta"]["id"],
            set=f"WiCE {file.stem.rpartition('-')[2]}",
            claim=row["claim"],
            evidence="\n".join(row["evidence"]),
            question="",
            is_supported=row["label"] == "supported",
        )


def _begin(file: Path) -> Iterator[AttributedClaim]:
    with file.open(encoding="utf-8", newline="") as lines:
        for number, row in enumerate(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE), start=1):
            # "Generic" replies state nothing: "That sounds nice."
            if row["begin_label"] == "Generic":
                continue
            yield AttributedClaim(
                id=f"{file.stem}-{number}",
                set=f"BEGIN {file.stem.removeprefix('begin_').replace('_', ' ')}",
                claim=row["response"],
                evidence=row["knowledge"],
                question=row["message"],
                is_supported=row["begin_label"] == "Fully attributable",
            )


def read_scores(folder: Path) -> dict[str, dict[str, float]]:
    """Read the scores of others, by the name of the folder that each file is in, and by the id of a claim.

    Raises:
        SettingsError: A file holds no such scores.
    """
    scores = {}
    for file in sorted(folder.rglob(f"*{SCORES}")):
        try:
            scores[file.parent.name] = {str(key): float(value) for key, value in json.loads(file.read_bytes()).items()}
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise SettingsError(f"{file}: {type(error).__name__}: {error}", hint=_HINT) from error
    return scores
