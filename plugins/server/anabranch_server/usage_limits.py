"""Limits of each person: questions, tokens and uploads a day, requests a minute, and storage.

Usage is one row for each person and kind. Counting is one conditional update, so of two requests for the last one, even
at two servers, only one succeeds. The package `limits` would need Redis for more than one process.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal

from fastapi import Depends, Request
from sqlalchemy import BigInteger, Column, String, Table, Update, case, func, insert, or_, select, true, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from anabranch.errors import LimitReachedError
from anabranch_server.database import now, runs, tables, threads
from anabranch_server.identity import User, limits_of, needs_identity, refuse_limits
from anabranch_server.identity.auth_file import PersonLimits
from anabranch_server.requester import Requester

MINUTE = 60
DAY = 86_400
MEGABYTE = 1 << 20

UsageKind = Literal["begun", "questions", "tokens", "upload_bytes"]

used = Table(
    "anabranch_usage",
    tables,
    Column("owner", String(300), primary_key=True),
    Column("kind", String(20), primary_key=True),
    # Start of the minute or the day that `amount` belongs to, in seconds since 1970.
    Column("period", BigInteger, nullable=False),
    Column("amount", BigInteger, nullable=False),
)


class UsageLimits:
    """Counts everybody's usage, and enforces the limits of the file in ANABRANCH_AUTH."""

    def __init__(self, engine: AsyncEngine) -> None:
        """Take the database."""
        self._engine = engine

    async def begin(self, caller: Requester, *, is_question: bool = False, upload_bytes: int = 0) -> None:
        """Count a request that begins something.

        Raises:
            LimitReachedError: A limit is reached until the time that the error names; only `per_minute` has counted it.
        """
        limits = _limits(caller.user)
        if limits.per_minute is not None and not await self._take(caller, "begun", 1, limits.per_minute, MINUTE):
            message = f"You may begin {limits.per_minute} questions, ingests, uploads, threads and edits a minute"
            raise _limit_reached(message, MINUTE)
        if upload_bytes and limits.upload_mb_a_day is not None:
            room = limits.upload_mb_a_day
            if not await self._take(caller, "upload_bytes", upload_bytes, room * MEGABYTE, DAY):
                raise _limit_reached(f"You may send {room} MB of files a day, and these would exceed that", DAY)
        if not is_question:
            return
        # Checked first, so that a question refused for its tokens is not counted.
        if limits.tokens_a_day is not None and await self._read_used(caller, "tokens", DAY) >= limits.tokens_a_day:
            raise _limit_reached(
                f"Your questions may use {limits.tokens_a_day:,} tokens a day, and have used them", DAY
            )
        most = limits.questions_a_day
        if most is not None and not await self._take(caller, "questions", 1, most, DAY):
            raise _limit_reached(f"You may ask {most} questions a day, and have asked them", DAY)

    async def refuse_full(self, caller: Requester, *, is_thread: bool = False) -> None:
        """Refuse to store more for somebody who has reached the limit of storage, or of threads.

        Raises:
            LimitReachedError: A limit is reached.
        """
        limits = _limits(caller.user)
        of_runs = select(func.coalesce(func.sum(runs.c.kept), 0)).where(runs.c.owner == caller.owner)
        of_both = func.coalesce(func.sum(threads.c.kept), 0) + of_runs.scalar_subquery()
        async with self._engine.connect() as connection:
            query = select(func.count(), of_both).where(threads.c.owner == caller.owner)
            number, size = (await connection.execute(query)).one()
        if is_thread and limits.threads is not None and number >= limits.threads:
            raise LimitReachedError(f"You have the {limits.threads:,} threads that you may have.", hint="Remove some.")
        if limits.kept_mb is not None and size >= limits.kept_mb * MEGABYTE:
            msg = f"Your threads may take {limits.kept_mb:,} MB here, and take {size / MEGABYTE:,.0f} MB."
            raise LimitReachedError(msg, hint="Remove some. Other results of runs are deleted after an hour.")

    async def spend(self, user: Mapping[str, Any] | None, tokens: int) -> None:
        """Count the tokens of a finished run; this refuses nothing.

        Args:
            user: The run's user as JSON.
            tokens: Prompt and output tokens.
        """
        caller = Requester(User.model_validate(user) if user is not None else None)
        if tokens and _limits(caller.user).tokens_a_day is not None:
            await self._take(caller, "tokens", tokens, math.inf, DAY)

    async def _read_used(self, caller: Requester, kind: UsageKind, length: int) -> int:
        query = select(used.c.amount).where(*_row_of(caller, kind), used.c.period >= _start(length))
        async with self._engine.connect() as connection:
            return (await connection.execute(query)).scalar() or 0

    async def _take(self, caller: Requester, kind: UsageKind, amount: int, most: float, length: int) -> bool:
        """Count an amount, unless the period's sum would exceed `most`; return whether it was counted."""
        if amount > most:
            return False
        start = _start(length)
        is_over = used.c.period < start
        # A later period, begun by the clock of another server, is not reset.
        fits = or_(is_over, used.c.amount + amount <= most) if most != math.inf else true()
        taken = (
            update(used)
            .where(*_row_of(caller, kind), fits)
            .values(
                amount=case((is_over, amount), else_=used.c.amount + amount),
                period=case((is_over, start), else_=used.c.period),
            )
        )
        if await self._changes_row(taken):
            return True
        try:
            async with self._engine.begin() as connection:
                await connection.execute(
                    insert(used).values(owner=caller.owner, kind=kind, period=start, amount=amount)
                )
        except IntegrityError:
            # The row exists: either its limit is reached, or another request has just made it.
            return await self._changes_row(taken)
        return True

    async def _changes_row(self, statement: Update) -> bool:
        async with self._engine.begin() as connection:
            return (await connection.execute(statement)).rowcount > 0


def _row_of(caller: Requester, kind: UsageKind) -> tuple[Any, Any]:
    return used.c.owner == caller.owner, used.c.kind == kind


def _start(length: int) -> int:
    """Return the start of the minute or the UTC day, in seconds since 1970."""
    return int(now()) // length * length


def _limits(user: User | None) -> PersonLimits:
    return limits_of(user) if user is not None and needs_identity() else PersonLimits()


def _limit_reached(message: str, length: int) -> LimitReachedError:
    left = max(1, math.ceil(_start(length) + length - now()))
    when = "at 00:00 UTC" if length == DAY else "with the next minute"
    return LimitReachedError(
        f"{message}.", hint=f"The limit resets {when}, in {timedelta(seconds=left)}.", retry_after=left
    )


def limits(request: Request) -> UsageLimits | None:
    """Return the limits; None on a LangGraph server, which has no table to count in.

    Raises:
        SettingsError: The file in ANABRANCH_AUTH sets limits, which that server cannot enforce.
    """
    found = getattr(request.app.state, "limits", None)
    if isinstance(found, UsageLimits):
        return found
    if needs_identity():
        refuse_limits()
    return None


Limited = Annotated[UsageLimits | None, Depends(limits)]
