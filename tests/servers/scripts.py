"""Scripts for the stubs and ways to put them together; the stub's command line takes the `module:name` of one."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.servers.calls import Request


@dataclass(frozen=True)
class Reply:
    """What a script answers; the failures a model server is known for are fields. Times are seconds."""

    text: str = ""
    status: int = 200
    delay: float = 0.0  # before the first byte
    headers: Mapping[str, str] = field(default_factory=dict)
    chunk_delay: float = 0.0  # between the words of a stream
    hang: bool = False  # never answer
    cut: bool = False  # close the connection half-way
    endless: bool = False  # go on for ever, one chunk per chunk_delay
    raw: bytes | None = None  # this body, whatever was asked
    chances: Mapping[str, float] | None = None  # of the first word, as said and others, where they are asked for


Script = Callable[[Request], Reply]
TOGETHER_SECONDS = 50
"""Until calls that do not come at the same time fail a test; less than a model call may take."""


def as_script(script: Script | Reply | str) -> Script:
    """Let a test write a constant where a script is expected."""
    if callable(script):
        return script
    reply = Reply(script) if isinstance(script, str) else script
    return lambda _request: reply


UNAUTHORISED = Reply("Incorrect API key provided.", status=401)
MISSING_MODEL = Reply("The model does not exist.", status=404)
BROKEN = Reply("The server had an error.", status=500)
NONSENSE = Reply(raw=b"<html><body>Bad gateway</body></html>", headers={"Content-Type": "text/html"})
SILENT = Reply(hang=True)
DRIP = Reply("and so on ", endless=True, chunk_delay=0.05)


def rate_limited(after: float) -> Reply:
    """Refuse with 429 and say after how many seconds to come back."""
    return Reply("Rate limit reached.", status=429, headers={"Retry-After": f"{after:g}"})


def no_choices(request: Request) -> Reply:
    """Answer 200 without any choice, as gateways do when a filter took them away."""
    body = json.dumps({"id": "stub", "object": "chat.completion", "created": 0, "model": request.model, "choices": []})
    if request.stream:
        events = f"data: {body}\n\ndata: [DONE]\n\n".encode()
        return Reply(raw=events, headers={"Content-Type": "text/event-stream"})
    return Reply(raw=body.encode())


def echo(request: Request) -> Reply:
    """Answer with the last user message."""
    return Reply(request.user)


def unexpected(request: Request) -> Reply:
    """Fail the test: no script was meant for this request."""
    raise LookupError(f"no script for the system prompt {request.system[:200]!r}")


def together(script: Script | Reply | str, *sizes: int) -> Script:
    """Hold the replies until all calls that belong together have come: so many of them, round after round.

    Calls that are made at the same time then overlap in the stub's log however busy the machine is. Calls of one round
    that come one after the other never overlap, and fail the test: the first would wait for the last.
    """
    otherwise, changed, arrived = as_script(script), threading.Condition(), 0
    ends = list(itertools.accumulate(sizes))

    def held(request: Request) -> Reply:
        nonlocal arrived
        with changed:
            arrived += 1
            end = next((end for end in ends if arrived <= end), arrived)
            changed.notify_all()
            if not changed.wait_for(lambda: arrived >= end, TOGETHER_SECONDS):
                raise TimeoutError(f"{arrived} calls came within {TOGETHER_SECONDS} s, of rounds of {sizes}")
        return otherwise(request)

    return held


def route(scripts: Mapping[str, Script | Reply | str], default: Script | Reply | str = unexpected) -> Script:
    """Choose a script by the first marker that the system prompt contains."""
    known = {marker: as_script(script) for marker, script in scripts.items()}
    otherwise = as_script(default)

    def choose(request: Request) -> Reply:
        return next((script for marker, script in known.items() if marker in request.system), otherwise)(request)

    return choose


def in_turn(*scripts: Script | Reply | str) -> Script:
    """Play each script for one call, in order of the calls, and the last one from then on."""
    turns = itertools.chain(map(as_script, scripts[:-1]), itertools.repeat(as_script(scripts[-1])))
    lock = threading.Lock()

    def play(request: Request) -> Reply:
        with lock:
            script = next(turns)
        return script(request)

    return play
