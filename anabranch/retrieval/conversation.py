"""Follow-up questions: adds the context of a conversation to the last question.

With a chat model the question is condensed from a short transcript, and the reply is checked against what was asked;
without one, the question is searched for alone and together with the previous question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anabranch.retrieval.question_words import has_subject
from anabranch.safety.link_removal import strip_links
from anabranch.text.language import language_of

# Most characters of an earlier answer or question.
MAX_ANSWER_CHARS = 600

# Matches a repetition of the last line of `transcript`.
_ENGLISH_PREFIX = re.compile(r"^(standalone |rewritten |condensed |last )?question\s*:\s*", re.IGNORECASE)
_MARKER = re.compile(r"\s*\[(?:\d{1,3}|\?)\]")
_WRAPPING = " \t\"'`*“”"
# Least share of the question's words that a rewriting keeps, and of its words that were mentioned before.
_KEPT = 0.5


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """One question and the answer that was given."""

    question: str
    answer: str


def recent_turns(turns: Sequence[ConversationTurn], budget: int, count: Callable[[str], int]) -> list[ConversationTurn]:
    """Return the last turns that fit a budget, oldest first.

    Returns:
        The newest turns, without gaps; only the question of the newest turn if its answer does not fit.
    """
    kept: list[ConversationTurn] = []
    # Newest first: a follow-up nearly always refers to the previous turn.
    for turn in reversed(turns):
        cost = count(_lines(turn))
        if cost > budget:
            break
        budget -= cost
        kept.append(turn)
    if not kept and turns:
        bare = ConversationTurn(turns[-1].question, "...")
        return [bare] if count(_lines(bare)) <= budget else []
    return kept[::-1]


def transcript(turns: Sequence[ConversationTurn], question: str) -> str:
    """Write turns for a model, answers shortened, newest last.

    Answers may hold words from documents; they are cut short and lose their links and markers, and the model that reads
    them has no tools.
    """
    return "\n".join(["Conversation:", *map(_lines, turns), "", f"Last question: {question}"])


def _lines(turn: ConversationTurn) -> str:
    return f"User: {_short(turn.question)}\nAssistant: {_short(turn.answer)}"


def _short(text: str) -> str:
    flat = " ".join(_MARKER.sub("", strip_links(text)).split())
    return flat if len(flat) <= MAX_ANSWER_CHARS else flat[:MAX_ANSWER_CHARS].rsplit(" ", 1)[0] + " ..."


def condense_reply(reply: str, question: str, turns: Sequence[ConversationTurn] = ()) -> str:
    """Return a standalone question from a model's reply to a follow-up.

    A reply is refused when it is empty, has several lines or a link, is far longer than a question, answers instead of
    asking, or brings in a number, or mostly words, that nobody mentioned; then it is what `follow_up` makes. One that
    lost a number or most words of what was asked is followed by the question as asked.

    Returns:
        One line. Never raises.
    """
    lines = [line.strip() for line in reply.strip().splitlines() if line.strip()]
    # Several lines are an explanation, or an answer.
    if len(lines) != 1:
        return follow_up(question, turns)
    text = _ENGLISH_PREFIX.sub("", lines[0].strip(_WRAPPING)).strip(_WRAPPING)
    if not _may_be_question(text, question) or _invents(text, question, turns):
        return follow_up(question, turns)
    return f"{text} {question.strip()}" if _loses(text, question) else text


def _may_be_question(text: str, question: str) -> bool:
    if not text or len(text) > 300 + 3 * len(question) or strip_links(text) != text:
        return False
    # If a model answers instead of rewriting, its invention would be searched for.
    return not (question.rstrip().endswith("?") and text.endswith("."))


def _invents(text: str, question: str, turns: Sequence[ConversationTurn]) -> bool:
    """Tell whether a reply has a number, or most of its words, from nowhere in the conversation."""
    return _is_other(text, "\n".join([question, *(f"{turn.question}\n{turn.answer}" for turn in turns)]))


def _loses(text: str, question: str) -> bool:
    """Tell whether a reply lacks a number of the question, or most of its words."""
    return _is_other(question, text)


def _is_other(text: str, source: str) -> bool:
    """Tell whether a text has a number, or most of its words, from outside its source."""
    from anabranch.citations.quantities import figures, has
    from anabranch.text.analyzer import analyser

    words, known = set(analyser().terms(text)), set(analyser().terms(source))
    if len(words & known) < _KEPT * len(words):
        return True
    there = figures(source)
    # A source without any number in digits may have a small one as a word.
    return any(not has(there, each) and (bool(there) or not each.may_be_a_word) for each in figures(text))


def follow_up(question: str, turns: Sequence[ConversationTurn]) -> str:
    """Return the question with the one before it in front: what it may be about, in any language.

    Without a model nobody knows whether it continues the previous one, so it is searched for alone as well. A previous
    question without a subject, "And in 2020?", is skipped.
    """
    # Short questions do not reveal their language, but the answers do.
    language = language_of(" ".join([question, *(f"{turn.question} {turn.answer}" for turn in turns)]), "english")
    asked = [turn.question for turn in turns if has_subject(turn.question, language)]
    before = (asked or [turn.question for turn in turns] or [""])[-1].strip()[:MAX_ANSWER_CHARS]
    # A question repeated word for word would only count twice.
    if not before or before.casefold() == question.strip().casefold():
        return question
    return f"{before} {question.strip()}"
