"""Reads what a model decided about an answer that was there before: keep it, add to it, or this new one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from anabranch.parsing.answer_append import is_anew, with_more
from anabranch.parsing.answer_reply import from_object, split_answer
from anabranch.parsing.json_repair import MAX_REPLY, find_object
from anabranch.parsing.reasoning_blocks import drop_thinking
from anabranch.parsing.refusal import MARKER, is_refusal
from anabranch.safety.link_removal import strip_links

Action = Literal["keep", "add", "revise"]

REVISION_SCHEMA: dict[str, Any] = {
    "title": "revision",
    "description": "Whether further passages change an answer, and what is new.",
    "type": "object",
    "properties": {
        "action": {
            "type": "string",
            "enum": ["keep", "add", "revise"],
            "description": "keep: the answer stays as it is; add: more follows it; revise: it is replaced.",
        },
        "answer": {
            "type": "string",
            "description": "With [n] markers; add: the new sentences alone; revise: the whole new answer; keep: empty.",
        },
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
    r"<passage-|\bkeep[\"']?\s*\|\s*[\"']?(?:add|revise)"
    r"|\banswer so far\s*:"
    r"|^\W*(?:you (?:have|are given) an? (?:existing )?answer"
    r"|(?:the )?(?:existing|original) answer\s*:|question\s*:)",
    re.IGNORECASE,
)
_ACTION = re.compile(
    r"^\W*(?:action\W{1,6})?(keep|add(?:ed|ition)?|revised?)\b(?:\s+(?:answer|sentences?))?[ \t*_\"']*"
    r"(?:[:.\n]|[-–—](?=\s))[ \t*_\"']*\n*",
    re.IGNORECASE,
)
_ADDS = re.compile(r"\b(?:add|append|extend)", re.IGNORECASE)
_KEEPS = re.compile(r"\W*(?:keep|no|none|same|unchanged)", re.IGNORECASE)
_REVISES = re.compile(r"\b(?:revis|replac|rewrit|correct|chang)", re.IGNORECASE)
_BROKEN_ACTION = re.compile(r"[\"']action[\"']\s*:\s*[\"'](keep|add|revise)", re.IGNORECASE)
_BROKEN_ANSWER = re.compile(r"[\"']answer[\"']\s*:\s*[\"']")
_BROKEN_END = re.compile(r"[\"']\s*(?:,\s*[\"'](?:quotes|citations)[\"']\s*:|\}[\s`]*\Z)")
_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Revision:
    """What to do with an answer.

    Attributes:
        action: `keep`, `add` or `revise`.
        answer: The answer from now on; on `keep` the previous one, byte for byte, on `add` with more behind it.
        quotes: The exact words that go with a new answer, by passage number; not checked.
    """

    action: Action
    answer: str
    quotes: dict[int, list[str]] = field(default_factory=dict)


def parse_revision(reply: str, previous: str) -> Revision:
    """Read {"action": "keep" | "add" | "revise", "answer": ..., "quotes": ...}, or prose that means one of them.

    An answer is replaced or added to only by an answer: refusals, "the original answer remains", an echo of the prompt,
    the same answer again, half an answer, one that cites nothing in place of one that does (a refusal in any language),
    and nothing at all keep the previous one. A reply that does not say what it is, and leaves out what the previous
    answer cites, is more of it.

    Args:
        reply: Anything a model wrote; no more than `MAX_REPLY` characters are read.
        previous: The answer so far; where it is empty, any answer that is none of the above replaces it.

    Returns:
        The decision. Never raises.
    """
    text = drop_thinking(reply[:MAX_REPLY]).strip()
    found = find_object(text)
    if found is not None and {"action", "answer"} & {str(key).casefold() for key in found}:
        candidate = _from_object(found)
    elif _BROKEN_ACTION.search(text):
        candidate = _from_broken(text)
    else:
        candidate = _from_text(text)
    if candidate is None or not _is_better(candidate.answer, previous) or _cites_less(candidate, previous):
        return Revision("keep", previous)
    asked = candidate.action or ("revise" if is_anew(candidate.answer, previous) else "add")
    if asked == "revise" or not previous.strip():
        return Revision("revise", candidate.answer, candidate.quotes)
    longer = with_more(previous, candidate.answer)
    return Revision("keep", previous) if longer is None else Revision("add", longer, candidate.quotes)


class _Candidate(NamedTuple):
    """What a reply says; without an action, what it holds decides."""

    action: Literal["add", "revise"] | None
    answer: str
    quotes: dict[int, list[str]]


def _action_of(word: str) -> Action | None:
    if _ADDS.search(word):
        return "add"
    if _KEEPS.match(word):
        return "keep"
    return "revise" if _REVISES.search(word) else None


def _from_object(found: dict[str, Any]) -> _Candidate | None:
    fields = {str(key).casefold(): value for key, value in found.items()}
    if isinstance(sentences := fields.get("answer"), list) and all(isinstance(each, str) for each in sentences):
        fields["answer"] = " ".join(sentences)
    action, draft = _action_of(str(fields.get("action", ""))), from_object(fields)
    if action == "keep" or draft is None or not draft.answer or draft.not_found:
        return None
    return _Candidate(action, draft.answer, draft.quotes)


def _from_broken(text: str) -> _Candidate | None:
    """Read an object that is no JSON because the quotation marks inside its answer were not escaped."""
    action, start = _BROKEN_ACTION.search(text), _BROKEN_ANSWER.search(text)
    end = _BROKEN_END.search(text, start.end()) if start else None
    asked = _action_of(action[1]) if action else None
    if not start or not end or asked is None or asked == "keep":
        return None
    plain = text[start.end() : end.start()].replace('\\"', '"').replace("\\n", "\n")
    return _Candidate(asked, strip_links(plain).strip(), {})


def _from_text(text: str) -> _Candidate | None:
    if text.startswith(("{", "```")) and not _ACTION.match(text):
        return None
    action: Action | None = None
    if found := _ACTION.match(text):
        action = _action_of(found[1])
        text = text[found.end() :]
    draft = split_answer(text)
    return None if draft.not_found or action == "keep" else _Candidate(action, draft.answer, draft.quotes)


def _is_better(answer: str, previous: str) -> bool:
    """Tell whether a text is an answer at all, and not the previous one again."""
    if is_refusal(answer) or _KEEP.search(answer[:_LOOK_AT]) or _ECHO.search(answer):
        return False
    if not previous.strip():
        return bool(answer.strip())
    if _key(answer) == _key(previous):
        return False
    return len(answer.split()) >= _FEWEST_WORDS or re.search(r"\w.*\[\d+\]", answer) is not None


def _cites_less(candidate: _Candidate, previous: str) -> bool:
    """Tell whether an answer with markers would give way to one that names no passage."""
    return bool(MARKER.search(previous)) and not MARKER.search(candidate.answer) and not candidate.quotes


def _key(text: str) -> str:
    return _NOT_WORD.sub(" ", text.casefold()).strip()
