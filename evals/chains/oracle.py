"""A script that knows which passages answer a question, and that reads nothing but what it is shown."""

from __future__ import annotations

import re
from collections import Counter

from anabranch.retrieval.found_value import looks_like_value
from evals.chains.gold_passages import GoldCollection, GoldQuestion
from evals.chains.scripted_model import NOTHING, passages_shown, question_asked, step_asked

_NAME = re.compile(r"\b[^\W\d_a-zß-ÿ][\w'’-]*(?:[ ][^\W\d_a-zß-ÿ][\w'’-]*)*")
AHEAD = "Which name leads to the answer of:"
_REMARK = re.compile(r"\s*\([^()]*\)$")


class Oracle:
    """The script for a collection: what it knows is the set of gold passages of each question, and their texts.

    It plans a chain if two of the passages share a name that the question does not have: as many steps as passages, of
    which the first asks for a name that leads on, and each further one is the question and the value. It names
    values like this: of the names that a gold passage which it is shown shares with one which it is not, the rarest of
    the collection, at most two; a name is a title, or words that begin with a capital. It knows no order of the
    passages, no decomposition, and no words for a better query.
    """

    def __init__(self, collection: GoldCollection) -> None:
        self._documents = collection.documents
        self._questions: dict[str, GoldQuestion] = {question.text: question for question in collection.questions}
        self._names = {key: _names_of(title, text) for key, (title, text) in collection.documents.items()}
        self._counts = Counter(name for names in self._names.values() for name in names)

    def __call__(self, system: str, user: str) -> str:
        """Reply to one call."""
        step, asked = step_asked(system), question_asked(user) or user
        question = next((each for text, each in self._questions.items() if text in asked), None)
        if question is None:
            return NOTHING
        if step == "follow":
            return "\n".join(self._read_values(question, asked, passages_shown(user))) or NOTHING
        wants_plan = step == "rewrite" and "FIRST:" in system
        return self._plan(question) if wants_plan else NOTHING

    def plans(self, question: GoldQuestion) -> bool:
        """Tell whether two passages of a question share a name that it does not have."""
        gold = question.gold
        return any(self._shared(one, other, question.text) for one in gold for other in gold if one != other)

    def _plan(self, question: GoldQuestion) -> str:
        if not self.plans(question):
            return NOTHING
        then = "".join(f"THEN: {question.text} {{found}}\n" for _ in question.gold[1:])
        return f"FIRST: {AHEAD} {question.text}\n{then}"

    def _read_values(self, question: GoldQuestion, asked: str, shown: list[str]) -> list[str]:
        here = {key for key in question.gold if any(_is_part(text, self._documents[key][1]) for text in shown)}
        values = [
            value
            for one in sorted(here)
            for other in question.gold
            if other not in here and (value := self._shared(one, other, asked))
        ]
        return list(dict.fromkeys(values))[:2]

    def _shared(self, shown: str, missing: str, asked: str) -> str:
        """Return the rarest name of a passage that another one has; empty if there is none."""
        text = self._documents[shown][1]
        names = [
            name
            for name in self._names[missing]
            if name not in asked and _stands(name, text) and looks_like_value(name)
        ]
        title = _REMARK.sub("", self._documents[missing][0])
        # A title is what a passage is about.
        if title in names:
            return title
        return min(names, key=lambda name: (self._counts[name], -len(name), name), default="")


def _names_of(title: str, text: str) -> set[str]:
    return {_REMARK.sub("", title), *_NAME.findall(text)}


def _stands(name: str, text: str) -> bool:
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _is_part(shown: str, text: str) -> bool:
    """Tell whether a passage is of a document, white space aside."""
    return " ".join(shown.split())[:80] in " ".join(text.split())
