"""The audit log in the file ANABRANCH_AUDIT: one line of JSON for each question, answer, ingest and removal.

An action that cannot be logged is refused: an operator must be able to rely on the log.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
from datetime import UTC, datetime
from typing import Any

from anabranch.errors import OperationError
from anabranch.identity.user import User
from anabranch.safety.operator import operator


def is_audited() -> bool:
    """Tell whether the operator named a file; an empty name counts, and fails."""
    return operator().audit is not None


def check_audit_log() -> None:
    """Check that the log can be written, if there is one; a server calls this when it starts.

    Raises:
        OperationError: It cannot be written.
    """
    if is_audited():
        _append(b"")


async def audit(event: str, user: User | None, **facts: object) -> None:
    """Write a line, if there is a log.

    Args:
        event: The action.
        user: Who acts; None for the local user.
        **facts: JSON values.

    Raises:
        OperationError: It cannot be written; then the caller must not act.
    """
    if not is_audited():
        return
    who = {"identity": user.identity if user else None, "tenant": user.tenant if user else None}
    line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **who, **facts}
    # ASCII, so that no character of a document's name breaks a line or controls a terminal.
    await asyncio.to_thread(_append, json.dumps(line, default=str).encode() + b"\n")


def question_facts(question: str) -> dict[str, Any]:
    """Return what the log records of a question: its text only if the operator enabled that."""
    return {"question": question} if operator().audit_questions else {"characters": len(question)}


def _append(line: bytes) -> None:
    """Write a line at the file's end.

    The file is opened for each line, so that logrotate may move it. With O_APPEND, one write stays in one piece even if
    other processes write, too.
    """
    try:
        file = os.open(operator().audit or "", os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if os.write(file, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(file)
    except OSError as error:
        msg = f"The audit log in ANABRANCH_AUDIT cannot be written: {error.strerror}."
        raise OperationError(
            msg, hint="Requests are refused until it can. The operator must check its folder and disk."
        ) from error
