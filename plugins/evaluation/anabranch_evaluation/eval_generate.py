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
    number_questions,
    passages_worth_asking,
    question_prompt,
    read_question,
)
from anabranch_evaluation.question_selection import spread


def generate_questions(options: EvalOptions) -> None:
    """Write the questions, and print how to use them.

    Raises:
        UserError: The corpus, the chat model or a long enough passage is missing, or the file exists already.
        OperationError: No reply of the model could be used.
    """
    path = options.what / QUESTIONS
    corpus = options.corpus or usual_corpus()
    if corpus is None:
        raise SettingsError("--generate needs a corpus to ask about.", hint="Name it with --corpus DIR.")
    # Somebody may have corrected the existing questions by hand.
    if path.exists():
        raise CollectionError(f"{path} exists already.", hint="Name another folder, or move the file away.")
    passages = passages_worth_asking(corpus)
    if not passages:
        msg = f"No passage of {corpus} is long enough for a question."
        raise CollectionError(msg, hint="Give a corpus with longer documents.")
    chosen = spread(passages, options.generate)
    found, failure = asyncio.run(_ask(options, corpus, chosen))
    written = list(number_questions(found))
    if not written:
        raise OperationError(f"None of {len(chosen)} replies could be used. {failure}", hint="Try another model.")
    options.what.mkdir(parents=True, exist_ok=True)
    write_whole(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in written))
    say(notes(), f"{len(written)} questions from {len(chosen)} of {len(passages)} passages are in {path}. {failure}")
    say(
        notes(), f"Read them, then: anabranch eval {shlex.quote(str(options.what))} --corpus {shlex.quote(str(corpus))}"
    )


async def _ask(
    options: EvalOptions, corpus: Path, passages: Sequence[SourcePassage]
) -> tuple[list[dict[str, Any]], str]:
    """Return the usable questions in the order of the passages, and a note on failed calls."""
    chat = await load_model(context_of(options.sets, corpus=str(corpus)), anew=True)
    if chat is None:
        raise SettingsError("--generate needs a chat model.", hint="Name one: --set model=openai:gpt-5-mini")
    gate, failures = asyncio.Semaphore(MAX_CONCURRENCY), list[str]()
    with bar("questions", len(passages)) as advance:

        async def one(passage: SourcePassage, chat: Chat) -> dict[str, Any] | None:
            async with gate:
                try:
                    reply = await chat.ask(PROMPT, question_prompt(passage), max_tokens=REPLY_TOKENS)
                except ModelError as error:
                    failures.append(error.message)
                    reply = ""
            advance()
            return read_question(reply, passage)

        # In the order of the passages, so that two runs differ only in their replies.
        found = await asyncio.gather(*(one(passage, chat) for passage in passages))
    failure = f"{len(failures)} calls failed; the first: {failures[0]}" if failures else ""
    return [row for row in found if row is not None], failure
