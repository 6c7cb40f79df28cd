"""What a well-behaved model would say at each step: a script for the stub server, told by its instructions."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import Any

from tests.servers.calls import Request
from tests.servers.loopback import Reply, Script
from tests.servers.scripts import as_script

MARKERS = {
    "condense": "rewrite the last question of a conversation",
    "rewrite": "write search queries for a document search engine",
    "retrieve": "choose which of the numbered texts help",
    "rerank": "judge how well passages help",
    "grade": "judge whether passages hold enough",
    "follow": "find a name, a number, a code or a date in passages",
    "judge": "check one statement against passages",
}
"""What the system message of a step says."""

ASKED = {
    "refine": "The answer so far is from other passages.",
    "reduce": "These are partial answers to the question",
    "quote": "For each numbered statement, copy the words",
}
"""What a step that writes asks for, after the passages; the rest is `create`, and `map`, which asks as it does."""

_ENVELOPE = re.compile(r"<passages-[0-9a-f]+>\n(.*?)\n</passages-", re.DOTALL)
_HEAD = re.compile(r"(?:^|(?<=\n\n))\[(\d+)\][^\n]*\n")
DELAY = 0.06


def step_of(request: Request) -> str:
    """Return the node that made a call, `create` for `map` as well: they ask the same."""
    by_system = (node for node, marker in MARKERS.items() if marker in request.system)
    asked = request.user.rpartition("</passages-")[2]
    return next(chain(by_system, (node for node, marker in ASKED.items() if marker in asked)), "create")


def passages_in(request: Request) -> dict[int, str]:
    """Return the numbered passages of a request, without their labels."""
    found = _ENVELOPE.search(request.user)
    _, *parts = _HEAD.split(found[1] if found else "")
    return {int(number): text.strip() for number, text in zip(parts[::2], parts[1::2], strict=True)}


def first_sentence(text: str) -> str:
    """Return the first full sentence of a passage, past its headings."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    whole = [paragraph for paragraph in paragraphs if re.search(r"\.(\s|$)", paragraph)]
    return re.split(r"(?<=\.)\s", whole[0])[0] if whole else paragraphs[0]


def written(request: Request) -> Reply:
    """Answer with the first sentence of the first passage."""
    text = next(iter(passages_in(request).values()))
    return Reply(first_sentence(text), delay=DELAY)


def joined(request: Request) -> Reply:
    """Put the partial answers one after the other."""
    return Reply(" ".join(" ".join(text.split()) for text in passages_in(request).values()), delay=DELAY)


def judged(request: Request) -> Reply:
    """Give every passage of a batch a relevance, the last one the highest."""
    return Reply("\n".join(f"Doc: {number}, Relevance: {number}" for number in passages_in(request)), delay=DELAY)


def model(**changes: Script | Reply | str) -> Script:
    """Return the script; keyword arguments replace the replies of single steps, `map` those of `create`."""
    replies: dict[str, Script | Reply | str] = {
        "condense": Reply("When was the Halden weir rebuilt?", delay=DELAY),
        "rewrite": Reply("builder of the weir\nengineer Halden\nconstruction of the dam", delay=DELAY),
        "retrieve": judged,
        "rerank": judged,
        "follow": Reply("None", delay=DELAY),
        "grade": Reply('{"sufficient": true, "missing": ""}', delay=DELAY),
        "create": changes.pop("map", written),
        "refine": written,
        "reduce": joined,
        "quote": "",
        "judge": Reply("Yes.", delay=DELAY),
        **changes,
    }
    scripts = {node: as_script(reply) for node, reply in replies.items()}
    return lambda request: scripts[step_of(request)](request)


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
    text = re.sub(r"(passages)-[0-9a-f]+", r"\1", request.system + request.user)
    return f"{step_of(request)} {hashlib.sha256(text.encode()).hexdigest()[:12]}"


def unconfirmed(state: Mapping[str, Any]) -> list[str]:
    """Return the claims of an answer that are not confirmed."""
    return [claim["text"] for claim in state["unconfirmed"]]
