"""The labelled claims and their passages, as they stand in `claims.jsonl` and `passages.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.citations.read_passages import PassageText
from anabranch.errors import SettingsError

FOLDER = Path(__file__).parent
ALIKE = FOLDER / "alike"
LABELS = ("supported", "contradicted", "not_said")
SPLITS = ("dev", "test")


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A claim, and what a careful reader of its passages says of it.

    Attributes:
        id: Of the claim; that of its passages' group first.
        language: ISO 639-1.
        question: What the claim answers.
        passages: What the model was shown, in order.
        claim: One sentence, or a short answer.
        label: One of `LABELS`.
        kind: How a supported claim is worded, or what is wrong with another; `class` in the file.
        split: One of `SPLITS`; no passage is in both.
        answer: The name, figure or code of the claim that answers the question; empty where there is none such.
    """

    id: str
    language: str
    question: str
    passages: tuple[PassageText, ...]
    claim: str
    label: str
    kind: str
    split: str
    answer: str = ""


def read_claims(folder: Path = FOLDER) -> list[LabelledClaim]:
    """Read the claims of a folder.

    Raises:
        SettingsError: A line is no claim, or names a passage that is not there.
    """
    passages = {record["id"]: PassageText(**record) for record in _lines(folder / "passages.jsonl")}
    return [_claim(record, passages, folder / "claims.jsonl") for record in _lines(folder / "claims.jsonl")]


def _claim(record: dict[str, Any], passages: Mapping[str, PassageText], file: Path) -> LabelledClaim:
    try:
        shown = tuple(passages[name] for name in record.pop("passages"))
        found = LabelledClaim(passages=shown, kind=record.pop("class"), **record)
    except (KeyError, TypeError) as error:
        msg = f"{file.name}: {record.get('id')!r} is no claim: {type(error).__name__}: {error}"
        raise SettingsError(msg, hint="Its fields are those of LabelledClaim.") from error
    if found.label not in LABELS or found.split not in SPLITS or found.answer not in found.claim:
        msg = f"{file.name}: {found.id!r} has an unknown label or split, or an answer that its claim lacks."
        raise SettingsError(msg, hint=f"Labels are {', '.join(LABELS)}; splits are {', '.join(SPLITS)}.")
    return found


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]
