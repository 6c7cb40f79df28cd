"""Run-in headings: the first words of a paragraph, in bold, in italics or numbered, that say what it is about.

Type sets off other first words, too: a term that is defined, who speaks, a remark, the number of a theorem. What tells
headings from those is how they end, what follows them, and what else the document sets off.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from anabranch_readers.pdf_layout.headings import body_size, is_heading
from anabranch_readers.pdf_layout.paragraphs import Paragraph

_SMALLEST = 0.95  # times the body's type: captions and notes are smaller
_LONGEST, _MOST_WORDS = 90, 12  # more is a sentence
_MOST_REPEATS = 2  # two parts of a paper may have the same headings; what comes more often is a remark, or a speaker
_MOSTLY = 0.75  # of the clauses of one article that have titles
_WORD = re.compile("[^\\W\\d_]{3}|[\u2e80-\ud7ff]{2}")
_ENDED = re.compile(r"(?<!\.)[.。．:：]\s*$")
_NAMED = re.compile(r"[:：]\s*$")
_NUMBERED = re.compile(r"\d{1,2}(?:\.\d{1,2})*[.)]?\s+")
_CLAUSE = re.compile(r"(\d{1,2}(?:\.\d{1,2})*)\.\d{1,2}\.?\s+")
_TITLED = re.compile(_CLAUSE.pattern + r"[^\W\d_][^.。:：;!?\"“”„«»]{2,80}[.。:：](?=\s)")
# The number of a figure, a theorem or a remark: a word and a number, and nothing or a name in brackets after them.
_COUNTED = re.compile(r"[^\W\d_]+\.?\s+[A-Z]?[.-]?\d[\d.]*\s*(?:[:：(–—-].*)?$")
_STOPS, _QUOTES = ".。．:： ", "\"'“‘«„¿¡「『"


def with_run_ins(found: Sequence[Paragraph]) -> list[Paragraph]:
    """Return the paragraphs of a document, each run-in heading apart from the text that it heads.

    One alone is no custom of the document, and stays where it is.
    """
    body = body_size(found)
    led = _with_clauses(found)
    heads = [_heads(paragraph, body) and not _is_one_of_names(led, at) for at, paragraph in enumerate(led)]
    kept = _customary([_lead(paragraph) if head else "" for paragraph, head in zip(led, heads, strict=True)])
    parted = (_parted(paragraph) if keep else [paragraph] for paragraph, keep in zip(led, kept, strict=True))
    return [part for parts in parted for part in parts]


def _lead(paragraph: Paragraph) -> str:
    return paragraph.text[: paragraph.lead].strip()


def _with_clauses(found: Sequence[Paragraph]) -> list[Paragraph]:
    """Return the paragraphs with the titles of clauses in plain type as their leads: `8.1 Notice. Any party may`.

    A clause is often a short sentence and then others, so that all of one article have to have titles, or nearly all.
    """
    led = list(found)
    clauses = [(at, each) for at, paragraph in enumerate(found) if (each := _CLAUSE.match(paragraph.text))]
    for _, group in groupby(clauses, key=lambda clause: clause[1][1]):
        places = [at for at, _ in group if found[at].rows > 1 and not found[at].table]
        titled = [(at, title.end()) for at in places if (title := _TITLED.match(found[at].text))]
        if len(titled) > 1 and len(titled) >= _MOSTLY * len(places):
            for at, end in titled:
                led[at] = replace(found[at], lead=found[at].lead or end)
    return led


def _heads(paragraph: Paragraph, body: float) -> bool:
    """Tell a title that other text follows, from words that are a part of a sentence, and from the entry of a list."""
    rest = replace(paragraph, text=paragraph.text[paragraph.lead :].strip(), bold=False, italic=False)
    words = rest.text.lstrip(_QUOTES)
    if not paragraph.lead or paragraph.rows < 2 or paragraph.size < _SMALLEST * body or not words[:1].isalpha():
        return False
    return not (words[0].islower() or is_heading(paragraph, body) or is_heading(rest, body)) and _is_title(paragraph)


def _is_title(paragraph: Paragraph) -> bool:
    """Tell first words that read as a title: a few, with a number or else a capital and an end, more than a count.

    One word and a colon open a remark (`Note:`), a field, or what somebody says.
    """
    lead = _lead(paragraph)
    number = _NUMBERED.match(lead)
    name = lead[number.end() if number else 0 :].lstrip(_QUOTES)
    if (
        len(lead) > _LONGEST
        or len(lead.split()) > _MOST_WORDS
        or not _WORD.search(name)
        or _COUNTED.match(lead.rstrip(_STOPS))
    ):
        return False
    # A space at the end of the lead stands for a gap that is wider than those between words.
    ends = _ENDED.search(lead) or paragraph.text[: paragraph.lead].endswith(" ")
    is_name = _NAMED.search(lead) and len(lead.rstrip(_STOPS).split()) == 1
    return bool(number or (ends and not is_name and name[0].isalpha() and not name[0].islower()))


def _is_one_of_names(found: Sequence[Paragraph], at: int) -> bool:
    """Tell one of several paragraphs in a row that begin with a name and a colon: terms, fields or speakers."""
    return _has_name(found[at]) and any(_has_name(found[near]) for near in (at - 1, at + 1) if 0 <= near < len(found))


def _has_name(paragraph: Paragraph) -> bool:
    lead = _lead(paragraph)
    return bool(_NAMED.search(lead)) and not _NUMBERED.match(lead)


def _customary(leads: Sequence[str]) -> list[bool]:
    """Tell which of the leads that may be headings (empty for other paragraphs) are, by what the document repeats."""
    times = Counter(lead.casefold() for lead in leads if lead)
    # Where a few names come again and again, it is a transcript, and who speaks once is no heading either.
    is_varied = 2 * len(times) >= times.total()
    seldom = {lead for lead in times if is_varied and times[lead] <= _MOST_REPEATS}
    kept = [bool(lead and (_NUMBERED.match(lead) or lead.casefold() in seldom)) for lead in leads]
    return kept if len({lead for lead, keep in zip(leads, kept, strict=True) if keep}) > 1 else [False] * len(leads)


def _parted(paragraph: Paragraph) -> Iterator[Paragraph]:
    yield replace(paragraph, text=_lead(paragraph), rows=1, lead=0, is_run_in=True)
    rest = paragraph.text[paragraph.lead :].strip()
    yield replace(paragraph, text=rest, bold=False, italic=False, lead=0)
