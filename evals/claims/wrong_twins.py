"""Wrong twins: a right answer with its name, figure or code swapped for another one of the same passages.

What a model confuses stands in what it was shown, so these are the mistakes that a check of words meets most.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

from anabranch.citations.read_passages import PassageText
from anabranch.readers import read
from anabranch.readers.document import Block, Document
from anabranch.text.sentences import spans
from evals.claims.claim_set import LabelledClaim
from evals.claims.questions import Question

MOST = 3
"""Twins of one claim."""

SHORT = 4
"""Words of a short answer, at most."""

_FIGURE = re.compile(r"(?<![\d:.])(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|\d+(?:[.,]\d+)*)(?!:\d)")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_CODE = re.compile(r"--[a-z][\w-]+|\b(?:[A-Z]+-?\d+|[A-Z]+(?:_[A-Z]+)+|[A-Z][a-z]+(?:[A-Z][a-z]+)+)\b")
_WORD = re.compile(r"[^\W\d_]+")
_OPENS = re.compile(r"""(?:^|[.!?:;|“”"()\d])\s*$""")
_FORMS_OF_ADDRESS = frozenset({"Mr", "Mrs", "Ms", "Dr", "Doctor", "Mme", "Frau", "Herr"})
_CALENDAR = frozenset({*calendar.month_name, *calendar.day_name})
_AROUND, _LONGEST = 3, 300


class _Answer(NamedTuple):
    kind: str
    core: str


def twins(rows: Iterable[LabelledClaim]) -> list[LabelledClaim]:
    """Return the wrong twins of supported claims whose answer is a name, one figure or a code; the same ones always."""
    right = [row for row in rows if row.label == "supported" and row.answer]
    return [twin for row in right for twin in _of_claim(row)]


def _of_claim(row: LabelledClaim) -> Iterator[LabelledClaim]:
    answer = _answer(row)
    if answer is None:
        return
    text = "\n".join(passage.text for passage in row.passages)
    found = _of_kind(answer, text, row.language)
    known = _plain(f"{row.question} {row.claim}")
    # What the question names is no answer to it, and a part of what is right is not wrong.
    others = sorted({each for each in found if _plain(each) not in known and answer.core not in each})
    form = "short" if len(row.claim.split()) <= SHORT else "sentence"
    kind = f"{answer.kind}, {form}"
    for number, other in enumerate(Random(row.id).sample(others, min(MOST, len(others))), start=1):  # noqa: S311 - no secret
        claim = re.sub(rf"(?<!\d){re.escape(answer.core)}(?!\d)", other, row.claim, count=1)
        yield replace(row, id=f"{row.id}-twin{number}", claim=claim, label="contradicted", kind=kind, answer=other)


def _plain(text: str) -> str:
    """Return a text in lower case, without what stands between the thousands of its figures."""
    return re.sub(r"(?<=\d)[.,\s](?=\d{3})", "", text).casefold()


def _answer(row: LabelledClaim) -> _Answer | None:
    """Return what is swapped; None for dates, months, weekdays and common words."""
    figures = _FIGURE.findall(row.answer)
    if _CODE.fullmatch(row.answer):
        return _Answer("code", row.answer)
    if figures:
        return _Answer("figure", figures[0]) if len(figures) == 1 else None
    return _Answer("name", row.answer) if _names(f"a {row.answer}", row.language) else None


def _of_kind(answer: _Answer, text: str, language: str) -> list[str]:
    if answer.kind == "name":
        return _names(text, language)
    if answer.kind == "code":
        return _CODE.findall(text)
    size, is_year = _size(answer.core), bool(_YEAR.fullmatch(answer.core))
    # A year in the place of a price, or ten thousand days, would be too easy to tell.
    return [
        each
        for each in _FIGURE.findall(text)
        if bool(_YEAR.fullmatch(each)) == is_year and abs(_size(each) - size) <= 1
    ]


def _size(figure: str) -> int:
    """Return how many digits a figure has, but for one or two decimals."""
    return len(re.sub(r"\D", "", re.sub(r"[.,]\d\d?$", "", figure)))


def _names(text: str, language: str) -> list[str]:
    """Return the runs of capitalised words of a text, but not words that have a capital for another reason."""
    common = set(_WORD.findall(text))
    names = []
    for run in _runs(text):
        words = [word[0] for word in run if len(word[0]) > 1]
        # The first word of a sentence is part of a name where more of it follows, and it never has a small letter.
        if words and _OPENS.search(text[: run[0].start()]) and (len(words) == 1 or words[0].lower() in common):
            words = words[1:]
        # Every German noun has a capital: one word is no name there.
        if len(words) > (language == "de") and not _CALENDAR & {word.rstrip("s") for word in words}:
            names.append(" ".join(words))
    return names


def _runs(text: str) -> Iterator[list[re.Match[str]]]:
    run: list[re.Match[str]] = []
    for word in _WORD.finditer(text):
        belongs = word[0][0].isupper() and word[0] not in _FORMS_OF_ADDRESS
        if run and not (belongs and text[run[-1].end() : word.start()] == " "):
            yield run
            run = []
        if belongs:
            run.append(word)
    if run:
        yield run


def of_questions(questions: Iterable[Question], documents: Iterable[Path]) -> list[LabelledClaim]:
    """Return right answers to questions over documents: the words of the evidence, and the sentence they stand in.

    Args:
        questions: Those with an answer and a regular expression of the evidence.
        documents: Where the passages are: the paragraph of the evidence and some on either side.

    Raises:
        ReadingError: A document cannot be read.
    """
    paragraphs = [[block.text for block in _blocks(path)] for path in documents]
    asked = [question for question in questions if question.answerable and question.evidence]
    return [row for question in asked for row in _right(question, paragraphs)]


def _blocks(path: Path) -> Iterator[Block]:
    for document in read(path, path.name):
        if isinstance(document, Document):
            yield from document.blocks


def _right(question: Question, documents: Sequence[Sequence[str]]) -> Iterator[LabelledClaim]:
    for paragraphs in documents:
        for place, text in enumerate(paragraphs):
            sentences = [text[slice(*span)].strip() for span in spans(text)]
            stated = next((each for each in sentences if re.search(question.evidence, each)), "")
            answer = _answering(question, stated)
            if answer and len(stated) <= _LONGEST:
                near = "\n\n".join(paragraphs[max(0, place - _AROUND) : place + _AROUND + 1])
                shown = (PassageText(question.id, near),)
                for form, claim in (("short", answer), ("sentence", stated)):
                    yield LabelledClaim(
                        f"{question.id}-{form}", "en", question.text, shown, claim, "supported", form, "test", answer
                    )
                return


def _answering(question: Question, stated: str) -> str:
    """Return the name or figure of the evidence that the expected answer has as well."""
    evidence = re.search(question.evidence, stated)
    words = evidence[0] if evidence else ""
    return next((each for each in [*_FIGURE.findall(words), words] if each and each in question.answer), "")
