"""Generates questions with evidence from passages of a corpus, in the form of `questions.jsonl`.

A question is kept only if the quoted evidence is in its passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any

from anabranch.parsing.reasoning_blocks import drop_thinking
from anabranch.safety.prompt_envelope import DATA, new_nonce, wrap
from anabranch_evaluation.evidence_patterns import whole_documents

LEAST = 80
"""Least characters of a passage."""

LEAST_EVIDENCE = 12
"""Least characters of evidence; shorter words occur in many passages."""

REPLY_TOKENS = 200

PROMPT = f"""\
You write test questions for a search engine. From the passage, write one question that it answers, as somebody would
ask it who has not seen the passage: name what it is about, and use other words where you can. {DATA}

Reply with three lines in the language of the passage and nothing else:
the question
its answer, in a few words
the words of the passage that say so, copied exactly
"""

_WORD = re.compile(r"\w+")
_NUMBERED = re.compile(r"^\W*(?:[1-3][.):]\s+)?")
_LABEL = re.compile(r"^\W*[^\W\d][\w ]{0,30}?\W*[:：]\W*")


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A leaf of a corpus, and the name of its file."""

    document: str
    text: str


def passages_worth_asking(corpus: Path) -> list[SourcePassage]:
    """Return the leaves of a corpus that are long enough for a question, regardless of access tags.

    Raises:
        CorpusNotFoundError: There is no corpus there.
        CorpusDamagedError: The database cannot be read.
    """
    found = []
    for document in whole_documents(corpus):
        for start, end in pairwise([*document.starts, len(document.text)]):
            text = document.text[start:end].strip()
            if len(text) >= LEAST:
                found.append(SourcePassage(PurePath(document.source).name, text))
    return found


def question_prompt(passage: SourcePassage) -> str:
    """Return the user message for one passage."""
    return wrap([(1, passage.document, passage.text)], new_nonce())


def read_question(reply: str, passage: SourcePassage) -> dict[str, Any] | None:
    """Return a line of `questions.jsonl` without its id; None where the reply cannot be used.

    Three lines are read, numbered or with labels in any language.
    """
    lines = [_NUMBERED.sub("", line).strip() for line in drop_thinking(reply).splitlines() if _WORD.search(line)]
    # Other numbers of lines are ambiguous, and are dropped.
    if len(lines) != 3:
        return None
    # A question may hold a colon, so labels are removed only if all three lines have one.
    if all(_LABEL.match(line) for line in lines):
        lines = [_LABEL.sub("", line, count=1) for line in lines]
    question, answer, evidence = (line.strip(" \"'“”„«»`*_") for line in lines)
    pattern = _pattern(evidence)
    if len(evidence) < LEAST_EVIDENCE or not re.search(pattern, passage.text, re.IGNORECASE):
        return None
    return {"question": question, "answer": answer, "evidence_regex": pattern, "doc": passage.document}


def _pattern(words: str) -> str:
    # Lines break elsewhere in the document, and models change quotation marks.
    return r"\W+".join(re.escape(word) for word in _WORD.findall(words))


def number_questions(found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the lines with ids, each question once."""
    # Reversed, so that the first of two equal questions stays.
    once = {row["question"].casefold(): row for row in reversed(found)}
    for number, row in enumerate(reversed(once.values()), start=1):
        yield {"id": f"g{number}", **row}
