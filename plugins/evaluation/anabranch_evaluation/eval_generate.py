"""`anabranch eval FOLDER --corpus DIR --generate N`: questions about a corpus, written by a chat model."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anabranch.agent.graph.dependencies import MAX_CONCURRENCY, load_model
from anabranch.cli.output import notes, say, write_whole
from anabranch.cli.progress import bar
from anabranch.cli.settings_options import context_of
from anabranch.errors import CollectionError, ModelError, OperationError, SettingsError
from anabranch.models.chat import Chat
from anabranch_evaluation.collection import QUESTIONS
from anabranch_evaluation.eval_output import EvalOptions
from anabranch_evaluation.eval_settings import usual_corpus
from anabranch_evaluation.question_generation import (
    PROMPT,
    REPLY_TOKENS,
    SourcePassage,
    asked_about,
    passages_worth_asking,
    read_question,
    rows,
)
from anabranch_evaluation.question_selection import spread


def generated(asked: EvalOptions) -> None:
    """Write the questions, and say how to use them.

    Raises:
        UserError: There is no corpus, no chat model, nothing to ask about, or the file is there already.
        OperationError: Nothing that the model wrote could be used.
    """
    path = asked.what / QUESTIONS
    corpus = asked.corpus or usual_corpus()
    if corpus is None:
        raise SettingsError("--generate needs to know which corpus to ask about.", hint="Give it with --corpus DIR.")
    # Somebody may have read and corrected those questions, which is what the figures are worth.
    if path.exists():
        raise CollectionError(f"{path} is there already.", hint="Name another folder, or move the file away.")
    passages = passages_worth_asking(corpus)
    if not passages:
        msg = f"No passage of {corpus} is long enough for a question."
        raise CollectionError(msg, hint="Give a corpus with longer documents.")
    chosen = spread(passages, asked.generate)
    found, failure = asyncio.run(_asked(asked, corpus, chosen))
    written = list(rows(found))
    if not written:
        raise OperationError(f"None of {len(chosen)} replies could be used. {failure}", hint="Try another model.")
    asked.what.mkdir(parents=True, exist_ok=True)
    write_whole(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in written))
    say(notes(), f"{len(written)} questions from {len(chosen)} of {len(passages)} passages are in {path}. {failure}")
    say(notes(), f"Read them, then: anabranch eval {shlex.quote(str(asked.what))} --corpus {shlex.quote(str(corpus))}")


async def _asked(
    asked: EvalOptions, corpus: Path, passages: Sequence[SourcePassage]
) -> tuple[list[dict[str, Any]], str]:
    """Return what could be used, in the order of the passages, and why a call failed, if one did."""
    chat = await load_model(context_of(asked.sets, corpus=str(corpus)), anew=True)
    if chat is None:
        raise SettingsError("--generate needs a chat model.", hint="Name one: --set model=openai:gpt-5-mini")
    gate, failures = asyncio.Semaphore(MAX_CONCURRENCY), list[str]()
    with bar("questions", len(passages)) as advance:

        async def one(passage: SourcePassage, chat: Chat) -> dict[str, Any] | None:
            async with gate:
                try:
                    reply = await chat.ask(PROMPT, asked_about(passage), max_tokens=REPLY_TOKENS)
                except ModelError as error:
                    failures.append(error.message)
                    reply = ""
            advance()
            return read_question(reply, passage)

        # In the order of the passages, whichever reply comes first: two runs are to differ in the replies alone.
        found = await asyncio.gather(*(one(passage, chat) for passage in passages))
    failure = f"{len(failures)} calls failed; the first: {failures[0]}" if failures else ""
    return [row for row in found if row is not None], failure
