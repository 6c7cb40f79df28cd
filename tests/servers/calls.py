"""What a stub was asked and when it had answered, kept so that a test can count round trips and repeats."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Request:
    """One HTTP request, as a script sees it; `number` counts from 1 in order of arrival."""

    kind: str
    body: Mapping[str, Any]
    number: int
    started: float
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The chat messages, or nothing for another kind of request."""
        return list(self.body.get("messages", ()))

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return str(self.body.get("model", ""))

    @property
    def stream(self) -> bool:
        """Whether the client wants server-sent events."""
        return bool(self.body.get("stream"))

    @property
    def system(self) -> str:
        """The text of all system messages; newer clients call the role `developer`."""
        return "\n".join(text_of(m) for m in self.messages if m.get("role") in {"system", "developer"})

    @property
    def user(self) -> str:
        """The text of the last user message."""
        return next((text_of(m) for m in reversed(self.messages) if m.get("role") == "user"), "")


def text_of(message: Mapping[str, Any]) -> str:
    """Return a message's text, whether its content is a string or a list of parts."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


@dataclass
class Call:
    """A request and its end: `finished` only when the whole reply went out, `ended` in any case (monotonic seconds)."""

    request: Request
    status: int | None = None
    finished: float | None = None
    ended: float | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the client got a whole reply that is not an error."""
        return self.finished is not None and self.status is not None and self.status < 400


def digest(request: Request) -> str:
    """Hash what the model would see: the messages, or the whole body where there are none."""
    seen = request.messages or request.body
    return hashlib.sha256(json.dumps([request.kind, seen], sort_keys=True).encode()).hexdigest()[:16]


class CallLog:
    """The calls of one stub, from any number of threads; with `path` each change is also appended there as JSON."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._calls: dict[int, Call] = {}
        self._changed = threading.Condition()

    def restore(self, call: Call) -> None:
        """Take over a call that another log wrote."""
        self._calls[call.request.number] = call

    @property
    def calls(self) -> list[Call]:
        """All calls so far, in order of arrival."""
        with self._changed:
            return list(self._calls.values())

    @property
    def unfinished(self) -> list[Call]:
        """Calls without a whole reply: still running, cut, or given up by the client."""
        return [call for call in self.calls if call.finished is None]

    @contextmanager
    def record(self, kind: str, body: Mapping[str, Any], headers: Mapping[str, str], started: float) -> Iterator[Call]:
        """Log one call from its arrival to its end, however it ends."""
        with self._changed:
            call = Call(Request(kind, body, len(self._calls) + 1, started, headers))
            self._calls[call.request.number] = call
            self._write(call)
            self._changed.notify_all()
        try:
            yield call
        finally:
            self.update(call, ended=time.monotonic())

    def update(self, call: Call, **fields: float | None) -> None:
        """Change a call, in memory and on disk."""
        with self._changed:
            for name, value in fields.items():
                setattr(call, name, value)
            self._write(call)
            self._changed.notify_all()

    def wait_until(self, condition: Callable[[list[Call]], bool], timeout: float = 300.0) -> None:
        """Block until the calls meet a condition, such as `lambda calls: len(calls) == 3`, to kill a client there."""
        with self._changed:
            if not self._changed.wait_for(lambda: condition(list(self._calls.values())), timeout):
                raise TimeoutError(f"after {timeout} s the stub's calls are {list(self._calls.values())!r}")

    def rounds(self, kind: str | None = None) -> int:
        """Count sequential round trips: calls whose intervals overlap, also through a third one, are one.

        Parallel calls are sure to overlap only where the script holds their replies: `scripts.together`.
        """
        now, rounds, latest = time.monotonic(), 0, float("-inf")
        for call in sorted(self.calls, key=lambda call: call.request.started):
            if kind not in {None, call.request.kind}:
                continue
            rounds += call.request.started >= latest
            latest = max(latest, call.finished or call.ended or now)
        return rounds

    def repeated(self, fingerprint: Callable[[Request], str] = digest) -> list[str]:
        """Return the fingerprints of requests that were answered in full, without error, more than once.

        Pass a fingerprint of your own where prompts hold something that changes per run, such as a nonce.
        """
        times = Counter(fingerprint(call.request) for call in self.calls if call.succeeded)
        return [each for each, count in times.items() if count > 1]

    def _write(self, call: Call) -> None:
        if self._path is None:
            return
        line = asdict(call)
        line["request"].pop("headers")  # they hold keys
        with self._path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def read_log(path: Path) -> CallLog:
    """Read what a stub in another process wrote; a later line about a call replaces an earlier one."""
    log = CallLog()
    for line in path.read_text().splitlines():
        fields = json.loads(line)
        call = Call(**{**fields, "request": Request(**fields["request"])})
        log.restore(call)
    return log
