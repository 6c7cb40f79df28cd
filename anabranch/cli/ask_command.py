"""`anabranch ask`: one question, a conversation, or a file of questions."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from anabranch.cli.output import notes, say, say_command
from anabranch.cli.shared_options import (
    BaseUrlOption,
    CorpusOption,
    FilterOption,
    JsonOption,
    ModelOption,
    PassagesOption,
    SetOption,
)
from anabranch.errors import QuestionError, SettingsError


def ask(
    question: Annotated[
        str | None, typer.Argument(metavar="QUESTION", help="The question; '-' reads it from standard input.")
    ] = None,
    *,
    corpus: CorpusOption = None,
    as_json: JsonOption = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the work: queries, ranks, merging, windows, route, claims, cost.")
    ] = False,
    thread: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on with the conversation ID, kept in DIR.threads.db.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="With --thread: finish the run that was stopped, or that waits for a reply."),
    ] = False,
    reply: Annotated[
        str | None, typer.Option(metavar="JSON", help="With --resume: what a review waits for: true, or a list.")
    ] = None,
    k: PassagesOption = None,
    sets: SetOption = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    filters: FilterOption = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail (exit code 1) where a model was asked for and did not write.")
    ] = False,
    questions: Annotated[
        Path | None, typer.Option(metavar="FILE.jsonl", help="Many questions: lines with id and question (or text).")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="With --questions: where the answers go; goes on where it stopped."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="With --questions: questions at the same time.")] = 1,
) -> None:
    """Answer a question from the corpus, with sources.

    [bold]Examples:[/]

    anabranch ask "Who was driving the car?"

    anabranch ask "And who owned it?" --thread gatsby

    anabranch ask "Compare the two plans" --model openai:gpt-5-mini --explain

    anabranch ask "What changed?" --json | jq .citations

    anabranch ask --questions questions.jsonl --out answers.jsonl --jobs 4

    anabranch ask "What changed?" --thread t1 --set review=sources
    """
    # Inside, as all that is heavy: `anabranch --help` must not wait for LangGraph.
    from anabranch.cli.settings_options import asking_context, context_of, filters_of

    # Refused and not left aside: whoever gives --thread with a file would look for a conversation that is not there.
    if questions is not None or out is not None:
        _refuse(question=question, thread=thread, resume=resume, reply=reply, explain=explain, json=as_json)
        from anabranch.cli.answer_batch import answer_questions

        if questions is None or out is None:
            msg = "--questions and --out go together."
            raise SettingsError(msg, hint="Give the file to read and the file to write.")
        context = asking_context(sets, k=k, corpus=corpus, model=model, base_url=base_url)
        with told_how_to_go_on("The same command goes on with the questions that are left."):
            failed = asyncio.run(
                answer_questions(questions, out, context, filters_of(filters), jobs=jobs, strict=strict)
            )
        raise typer.Exit(1 if failed else 0)

    context = asking_context(sets, k=k, corpus=corpus, model=model, base_url=base_url)
    asked, narrowed = _question(question, resume=resume), filters_of(filters)
    from anabranch.cli.ask_turn import Request, answer
    from anabranch.cli.review_prompt import resume_command

    request = Request(
        question=asked,
        filters=narrowed,
        as_json=as_json,
        explain=explain,
        thread=thread,
        resume=resume,
        reply=reply,
        # Only where it is another one: it becomes part of the commands that a person reads and copies.
        corpus=context.corpus if context.corpus != context_of().corpus else None,
    )
    # Nothing is kept without a thread, so there is nothing to go on with.
    how = f"To go on:\n{resume_command(thread, request.corpus)}" if thread else ""
    with told_how_to_go_on(how):
        written = asyncio.run(answer(request, context))
    if strict and not written:
        say(notes(), "error: a model was asked for and did not write this.", style="red")
        raise typer.Exit(1)


@contextmanager
def told_how_to_go_on(how: str) -> Iterator[None]:
    """Say after Ctrl-C how to go on, where something was kept."""
    try:
        yield
    except KeyboardInterrupt:
        # The exit code and the word that it was interrupted are `guarded`'s.
        if how:
            say_command(notes(), how)
        raise


def _question(given: str | None, *, resume: bool) -> str | None:
    if given is not None and resume:
        msg = "--resume goes on with the question that was asked; it takes no other."
        raise QuestionError(msg, hint="Leave the question out, or leave --resume out to ask a new one.")
    # Beside long questions also those that are nobody's business: `ps` and the history of a shell show the command.
    asked = sys.stdin.read() if given == "-" else given
    if not resume and (asked is None or not asked.strip()):
        msg = "There is no question."
        raise QuestionError(msg, hint='For example: anabranch ask "How do I add a document?"')
    return asked


def _refuse(**options: object) -> None:
    """Refuse options of a single question where a file of questions is asked."""
    given = [name for name, value in options.items() if value not in (None, False)]
    if given:
        msg = f"--questions does not go with {', '.join(f'--{n}' if n != 'question' else 'a question' for n in given)}."
        raise SettingsError(msg, hint="Each answer in --out is what `ask --json` prints.")
