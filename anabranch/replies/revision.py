"""Reads what a model decided about an answer that was there before: keep it, or this new one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from anabranch.replies.answer import from_object, split_answer
from anabranch.replies.refusal import is_refusal
from anabranch.replies.structured import MAX_REPLY, find_object
from anabranch.replies.thinking import drop_thinking

Action = Literal["keep", "revise"]

REVISION_SCHEMA: dict[str, Any] = {
    "title": "revision",
    "description": "Whether further passages change an answer, and the whole new answer if they do.",
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": ["keep", "revise"], "description": "keep: the answer stays as it is."},
        "answer": {"type": "string", "description": "The whole new answer with its [n] markers; empty on keep."},
        "quotes": {
            "type": "array",
            "description": "For each new number, words copied from that passage; empty on keep.",
            "items": {
                "type": "object",
                "properties": {"n": {"type": "integer"}, "quote": {"type": "string"}},
                "required": ["n", "quote"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["action", "answer", "quotes"],
    "additionalProperties": False,
}
"""What a model is asked for that can be held to a JSON schema; `parse_revision` reads it, and much else."""

_FEWEST_WORDS = 3
_LOOK_AT = 300
_WHICH = r"(?:original|existing|previous|current|prior|given|earlier)"
_KEEP = re.compile(
    rf"\b{_WHICH} (?:answer|response)\b(?: \w+)?? (?:remains?|stays?|stands?|is (?:still |already )?"
    r"(?:correct|complete|sufficient|valid|accurate|fine|good|unchanged|adequate)|should|need(?:s|ed)? (?:no|not)|"
    r"does(?: not|n['’]t)|(?:can|will) be kept|holds)"
    rf"|\b(?:keep|keeping|repeat|return|returning|retain) the {_WHICH} (?:answer|response)\b"
    r"|^\W*(?:there (?:is|are) )?no (?:\w+ )?(?:changes?|revisions?|refinements?|updates?|modifications?)"
    r"(?: (?:is|are|was|were))?(?: (?:needed|required|necessary|to make))?\W*$"
    r"|^\W*(?:the )?answer (?:remains|stays|is) (?:the same|unchanged|as (?:it )?is)"
    r"|^\W*(?:action\W+)?(?:keep|no change|no_change|unchanged|same|as is)\W*$"
    r"|\b(?:context|passages?) (?:is|are) not (?:useful|helpful|relevant)",
    re.IGNORECASE,
)
_ECHO = re.compile(
    r"<passage-|\bkeep[\"']?\s*\|\s*[\"']?revise"
    r"|\banswer so far\s*:"
    r"|^\W*(?:you (?:have|are given) an? (?:existing )?answer"
    r"|(?:the )?(?:existing|original) answer\s*:|question\s*:)",
    re.IGNORECASE,
)
_ACTION = re.compile(r"^\W*(?:action\W{1,6})?(keep|revised?)\b(?:\s+answer)?\W*[:\n]\W*", re.IGNORECASE)
_BROKEN_ACTION = re.compile(r"[\"']action[\"']\s*:\s*[\"'](keep|revise)", re.IGNORECASE)
_BROKEN_ANSWER = re.compile(r"[\"']answer[\"']\s*:\s*[\"']")
_BROKEN_END = re.compile(r"[\"']\s*(?:,\s*[\"'](?:quotes|citations)[\"']\s*:|\}[\s`]*\Z)")
_MARKER = re.compile(r"\[\d+\]")
_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Revision:
    """What to do with an answer.

    Attributes:
        action: `keep` or `revise`.
        answer: The answer from now on; on `keep` the previous one, byte for byte.
        quotes: The exact words that go with a new answer, by passage number; not checked.
    """

    action: Action
    answer: str
    quotes: dict[int, list[str]] = field(default_factory=dict)


def parse_revision(reply: str, previous: str) -> Revision:
    """Read {"action": "keep" | "revise", "answer": ..., "quotes": ...}, or prose that means one or the other.

    An answer is replaced only by an answer: refusals, "the original answer remains", an echo of the prompt, the same
    answer again, half an answer, one that cites nothing in place of one that does (a refusal in any language), and
    nothing at all keep the previous one.

    Args:
        reply: Anything a model wrote; no more than `MAX_REPLY` characters are read.
        previous: The answer so far; where it is empty, any answer that is none of the above replaces it.

    Returns:
        The decision. Never raises.
    """
    text = drop_thinking(reply[:MAX_REPLY]).strip()
    found = find_object(text)
    if found is not None and {"action", "answer"} & found.keys():
        candidate = _from_object(found)
    elif _BROKEN_ACTION.search(text):
        candidate = _from_broken(text)
    else:
        candidate = _from_text(text)
    if candidate is None or not _is_better(candidate.answer, previous) or _cites_less(candidate, previous):
        return Revision("keep", previous)
    return candidate


def _from_object(found: dict[str, Any]) -> Revision | None:
    if re.match(r"\W*(?:keep|no|none|same|unchanged)", str(found.get("action", "")), re.IGNORECASE):
        return None
    draft = from_object(found)
    return Revision("revise", draft.answer, draft.quotes) if draft and draft.answer and not draft.not_found else None


def _from_broken(text: str) -> Revision | None:
    """Read an object that is no JSON because the quotation marks inside its answer were not escaped."""
    action, start = _BROKEN_ACTION.search(text), _BROKEN_ANSWER.search(text)
    end = _BROKEN_END.search(text, start.end()) if start else None
    if not action or not start or not end or action[1].casefold() == "keep":
        return None
    plain = text[start.end() : end.start()].replace('\\"', '"').replace("\\n", "\n")
    return Revision("revise", plain.strip())


def _from_text(text: str) -> Revision | None:
    if text.startswith(("{", "```")) and not _ACTION.match(text):
        return None
    if found := _ACTION.match(text):
        if found[1].casefold() == "keep":
            return None
        text = text[found.end() :]
    draft = split_answer(text)
    return None if draft.not_found else Revision("revise", draft.answer, draft.quotes)


def _is_better(answer: str, previous: str) -> bool:
    """Tell whether a text is an answer at all, and not the previous one again."""
    if is_refusal(answer) or _KEEP.search(answer[:_LOOK_AT]) or _ECHO.search(answer):
        return False
    if not previous.strip():
        return bool(answer.strip())
    if _key(answer) == _key(previous):
        return False
    return len(answer.split()) >= _FEWEST_WORDS or re.search(r"\w.*\[\d+\]", answer) is not None


def _cites_less(candidate: Revision, previous: str) -> bool:
    """Tell whether an answer with markers would give way to one that names no passage."""
    return bool(_MARKER.search(previous)) and not _MARKER.search(candidate.answer) and not candidate.quotes


def _key(text: str) -> str:
    return _NOT_WORD.sub(" ", text.casefold()).strip()
