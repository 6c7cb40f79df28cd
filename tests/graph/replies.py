"""What a well-behaved model would say at each step: a script for the stub server, told by the system prompt."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import Any

from tests.servers.calls import Request
from tests.servers.loopback import Reply, Script
from tests.servers.scripts import route

MARKERS = {
    "condense": "rewrite the last question of a conversation",
    "rewrite": "write search queries for a document search engine",
    "retrieve": "choose which of the numbered texts help",
    "rerank": "judge how well passages help",
    "grade": "judge whether passages hold enough",
    "create": "answer a question from numbered passages",
    "refine": "have an answer to a question, and further numbered passages",
    "map": "read one part of a larger set",
    "reduce": "join partial answers",
}
_PASSAGE = re.compile(r'<passage-[0-9a-f]+ n="(\d+)"[^>]*>\s*(.*?)\s*</passage-', re.DOTALL)
_MARKER = re.compile(r"\[\d+\]")
DELAY = 0.06


def step_of(request: Request) -> str:
    """Return the node that made a call."""
    return next(node for node, marker in MARKERS.items() if marker in request.system)


def passages_in(request: Request) -> dict[int, str]:
    """Return the numbered passages of a request."""
    return {int(number): text for number, text in _PASSAGE.findall(request.user)}


def first_sentence(text: str) -> str:
    """Return the first full sentence of a passage, past its headings."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    whole = [paragraph for paragraph in paragraphs if re.search(r"\.(\s|$)", paragraph)]
    return re.split(r"(?<=\.)\s", whole[0])[0] if whole else paragraphs[0]


def written(request: Request) -> Reply:
    """Answer with the first sentence of the first passage, its marker and its quote."""
    number, text = next(iter(passages_in(request).items()))
    sentence = first_sentence(text)
    return Reply(f'{sentence.rstrip(".")} [{number}].\n\nQUOTES:\n[{number}] "{sentence}"', delay=DELAY)


def revised(request: Request) -> Reply:
    """Add the first sentence of the new window to the answer so far."""
    import json

    number, text = next(iter(passages_in(request).items()))
    sentence = first_sentence(text)
    before = request.user.split("Answer so far:")[1].strip()
    answer = f"{before} {sentence.rstrip('.')} [{number}]."
    return Reply(json.dumps({"action": "revise", "answer": answer, "quotes": {str(number): [sentence]}}), delay=DELAY)


def added(request: Request) -> Reply:
    """Say no more than the first sentence of the new window."""
    import json

    number, text = next(iter(passages_in(request).items()))
    sentence = first_sentence(text)
    answer = f"{sentence.rstrip('.')} [{number}]."
    return Reply(json.dumps({"action": "add", "answer": answer, "quotes": {str(number): [sentence]}}), delay=DELAY)


def joined(request: Request) -> Reply:
    """Put the partial answers one after the other."""
    return Reply(" ".join(" ".join(text.split()) for text in passages_in(request).values()), delay=DELAY)


def judged(request: Request) -> Reply:
    """Give every passage of a batch a relevance, the last one the highest."""
    return Reply("\n".join(f"Doc: {number}, Relevance: {number}" for number in passages_in(request)), delay=DELAY)


def model(**changes: Script | Reply | str) -> Script:
    """Return the script; keyword arguments replace the replies of single steps."""
    replies: dict[str, Script | Reply | str] = {
        "condense": Reply("When was the Halden weir rebuilt?", delay=DELAY),
        "rewrite": Reply("builder of the weir\nengineer Halden\nconstruction of the dam", delay=DELAY),
        "retrieve": judged,
        "rerank": judged,
        "grade": Reply('{"sufficient": true, "missing": ""}', delay=DELAY),
        "create": written,
        "refine": revised,
        "map": written,
        "reduce": joined,
        **changes,
    }
    return route({MARKERS[node]: reply for node, reply in replies.items()})


def at_once(state: dict[str, Any]) -> list[int]:
    """Return how many model calls each step of a turn made that made any; branches side by side are one step."""
    calls: Counter[str] = Counter()
    for step in state["trace"]:
        calls[step["round"]] += step["calls"]
    return [count for count in calls.values() if count]


def rounds_of(state: dict[str, Any]) -> int:
    """Return how many rounds of retrieval a turn took."""
    return sum(step["node"] == "fuse" for step in state["trace"])


def without_nonce(request: Request) -> str:
    """Name a request by what it asks, without the envelope's random word."""
    text = re.sub(r"(passage)-[0-9a-f]+", r"\1", request.system + request.user)
    return f"{step_of(request)} {hashlib.sha256(text.encode()).hexdigest()[:12]}"
