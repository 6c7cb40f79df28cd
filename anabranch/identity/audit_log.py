"""The audit log: who asked, was shown, added and removed what, one line of JSON each, in the file in ANABRANCH_AUDIT.

What cannot be noted is not done: an operator who asks for a log has to be able to rely on it.
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
    """Tell whether the operator named a file; set and empty counts as one, and fails."""
    return operator().audit is not None


def check_audit_log() -> None:
    """See that lines can be written, where there is to be a log: a server calls it when it starts.

    Raises:
        OperationError: They cannot.
    """
    if is_audited():
        _append(b"")


async def audit(event: str, user: User | None, **facts: object) -> None:
    """Write a line, where there is to be a log.

    Args:
        event: What is done.
        user: Who does it; None for whoever uses this machine.
        **facts: JSON values; the operator's choice whether words of a question are among them.

    Raises:
        OperationError: It cannot be written; then it must not be done.
    """
    if not is_audited():
        return
    who = {"identity": user.identity if user else None, "tenant": user.tenant if user else None}
    line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **who, **facts}
    # In ASCII: no character of a document's name ends a line, or moves a terminal's cursor.
    await asyncio.to_thread(_append, json.dumps(line, default=str).encode() + b"\n")


def question_facts(question: str) -> dict[str, Any]:
    """Return what the log holds of a question: its words only if the operator asked for them."""
    return {"question": question} if operator().audit_questions else {"characters": len(question)}


def _append(line: bytes) -> None:
    """Write a line at the file's end.

    It is opened for each line, so that a file that logrotate has moved away is begun anew. One write to a file opened
    with O_APPEND is one piece, whatever other processes write.
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
            msg, hint="Without it nothing is done. The operator: see its folder and its disk."
        ) from error
