"""How much each person may use: questions, tokens and uploads a day, and how many things they begin in a minute.

What was used is one row for each person and kind. To take from it is one conditional update, which both databases do
alike: of two requests that want the last one, also at two servers, one changes the row. The package `limits` would need
Redis for more than one process.
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
    # When the minute or the day began that `amount` is of, in seconds since 1970.
    Column("period", BigInteger, nullable=False),
    Column("amount", BigInteger, nullable=False),
)


class UsageLimits:
    """What everybody has used, held to what the file in ANABRANCH_AUTH allows them; without it there are no limits."""

    def __init__(self, engine: AsyncEngine) -> None:
        """Take the database it is in."""
        self._engine = engine

    async def begin(self, who: Requester, *, is_question: bool = False, upload_bytes: int = 0) -> None:
        """Count what somebody begins.

        Raises:
            LimitReachedError: They may not, until a time that it names; then it counts for nothing but the minute.
        """
        limits = _limits(who.user)
        if limits.per_minute is not None and not await self._take(who, "begun", 1, limits.per_minute, MINUTE):
            told = f"You may begin {limits.per_minute} questions, ingests, uploads, threads and edits a minute"
            raise _reached(told, MINUTE)
        if upload_bytes and limits.upload_mb_a_day is not None:
            room = limits.upload_mb_a_day
            if not await self._take(who, "upload_bytes", upload_bytes, room * MEGABYTE, DAY):
                raise _reached(f"You may send {room} MB of files a day, and these would be more", DAY)
        if not is_question:
            return
        # Looked at first: a question that is refused for its tokens does not count as one.
        if limits.tokens_a_day is not None and await self._used(who, "tokens", DAY) >= limits.tokens_a_day:
            raise _reached(f"Your questions may use {limits.tokens_a_day:,} tokens a day, and have used them", DAY)
        most = limits.questions_a_day
        if most is not None and not await self._take(who, "questions", 1, most, DAY):
            raise _reached(f"You may ask {most} questions a day, and have asked them", DAY)

    async def keep(self, who: Requester, *, is_thread: bool = False) -> None:
        """See that somebody may keep more: what they keep is what is there now, and of no minute or day.

        Raises:
            LimitReachedError: They keep as much as they may, or, for one more thread, as many.
        """
        limits = _limits(who.user)
        of_threads = select(func.count(), func.coalesce(func.sum(threads.c.kept), 0)).where(
            threads.c.owner == who.owner
        )
        of_runs = select(func.coalesce(func.sum(runs.c.kept), 0)).where(runs.c.owner == who.owner)
        async with self._engine.connect() as connection:
            number, size = (await connection.execute(of_threads)).one()
            size += (await connection.execute(of_runs)).scalar_one()
        if is_thread and limits.threads is not None and number >= limits.threads:
            raise LimitReachedError(f"You may have {limits.threads:,} threads, and have them.", hint="Remove some.")
        if limits.kept_mb is not None and size >= limits.kept_mb * MEGABYTE:
            msg = f"Your threads may take {limits.kept_mb:,} MB here, and take {size / MEGABYTE:,.0f} MB."
            raise LimitReachedError(msg, hint="Remove some; what runs left apart from that is gone after an hour.")

    async def spend(self, user: Mapping[str, Any] | None, tokens: int) -> None:
        """Count tokens that a run of somebody's has used; what was begun may end, so this refuses nothing.

        Args:
            user: Who asked, as a run keeps it.
            tokens: Sent and written.
        """
        who = Requester(User.model_validate(user) if user is not None else None)
        if tokens and _limits(who.user).tokens_a_day is not None:
            await self._take(who, "tokens", tokens, math.inf, DAY)

    async def _used(self, who: Requester, kind: UsageKind, length: int) -> int:
        query = select(used.c.amount).where(*_of(who, kind), used.c.period >= _start(length))
        async with self._engine.connect() as connection:
            return (await connection.execute(query)).scalar() or 0

    async def _take(self, who: Requester, kind: UsageKind, amount: int, most: float, length: int) -> bool:
        """Count an amount, unless it would be more than `most` in this period; whether it was counted."""
        if amount > most:
            return False
        start = _start(length)
        is_over = used.c.period < start
        # A period that another server has begun by its clock is not begun anew.
        fits = or_(is_over, used.c.amount + amount <= most) if most != math.inf else true()
        taken = (
            update(used)
            .where(*_of(who, kind), fits)
            .values(
                amount=case((is_over, amount), else_=used.c.amount + amount),
                period=case((is_over, start), else_=used.c.period),
            )
        )
        if await self._changed(taken):
            return True
        try:
            async with self._engine.begin() as connection:
                await connection.execute(insert(used).values(owner=who.owner, kind=kind, period=start, amount=amount))
        except IntegrityError:
            # There is a row: either nothing was left of it, or somebody made it in between.
            return await self._changed(taken)
        return True

    async def _changed(self, statement: Update) -> bool:
        async with self._engine.begin() as connection:
            return (await connection.execute(statement)).rowcount > 0


def _of(who: Requester, kind: UsageKind) -> tuple[Any, Any]:
    return used.c.owner == who.owner, used.c.kind == kind


def _start(length: int) -> int:
    """Return when the minute or the day began, in seconds since 1970; days of UTC do so."""
    return int(now()) // length * length


def _limits(user: User | None) -> PersonLimits:
    return limits_of(user) if user is not None and needs_identity() else PersonLimits()


def _reached(told: str, length: int) -> LimitReachedError:
    left = max(1, math.ceil(_start(length) + length - now()))
    when = "at 00:00 UTC" if length == DAY else "with the next minute"
    return LimitReachedError(f"{told}.", hint=f"It begins anew {when}, in {timedelta(seconds=left)}.", retry_after=left)


def limits(request: Request) -> UsageLimits | None:
    """Return what holds people to their limits; None on a server of LangGraph's, which has no place to count in.

    Raises:
        SettingsError: There is no such place, and there are limits.
    """
    found = getattr(request.app.state, "limits", None)
    if isinstance(found, UsageLimits):
        return found
    if needs_identity():
        refuse_limits()
    return None


Limited = Annotated[UsageLimits | None, Depends(limits)]
