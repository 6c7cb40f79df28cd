"""`anabranch ask`: one question, a conversation, or a file of questions."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from anabranch.cli.document_folder import choose_corpus, take_in
from anabranch.cli.failures import interruptible
from anabranch.cli.output import notes, say, say_command
from anabranch.cli.shared_options import (
    AllDocumentsOption,
    BaseUrlOption,
    CorpusOption,
    DocsOption,
    EffortOption,
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
    docs: DocsOption = None,
    corpus: CorpusOption = None,
    as_json: JsonOption = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Show the work: queries, ranks, merging, windows, route, claims, cost. "
            "[bold]--explain prompts[/] shows every prompt whole instead.",
        ),
    ] = False,
    explain_prompts: Annotated[bool, typer.Option("--explain-prompts", hidden=True)] = False,
    thread: Annotated[
        str | None, typer.Option(metavar="ID", help="Continue the conversation ID, stored in DIR.threads.db.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="With --thread: finish the run that was stopped, or that waits for a reply."),
    ] = False,
    reply: Annotated[
        str | None, typer.Option(metavar="JSON", help="With --resume: the reply to a review: true, or a list.")
    ] = None,
    k: PassagesOption = None,
    sets: SetOption = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    effort: EffortOption = None,
    filters: FilterOption = None,
    all_documents: AllDocumentsOption = False,
    coverage: Annotated[
        str | None,
        typer.Option(metavar="passages|document|corpus", help="How much is read; the same as --set coverage=."),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="List every hit in all documents, counted, and write them to a file."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail (exit code 1) if the requested model did not write the answer.")
    ] = False,
    questions: Annotated[
        Path | None, typer.Option(metavar="FILE.jsonl", help="Many questions: lines with id and question (or text).")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="With --questions: where the answers go; an interrupted run resumes."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="With --questions: questions at the same time.")] = 1,
) -> None:
    """Answer a question from the corpus, with sources.

    [bold]Examples:[/]

    anabranch ask "How many people took part in the study?" --docs ~/papers

    anabranch ask "Who was driving the car?"

    anabranch ask "And who owned it?" --thread gatsby

    anabranch ask "Compare the two plans" --model openai:gpt-5-mini --explain

    anabranch ask "What changed?" --json | jq .citations

    anabranch ask "Which suppliers are named?" --model openai:gpt-5-mini --rows suppliers.csv

    anabranch ask --questions questions.jsonl --out answers.jsonl --jobs 4

    anabranch ask "What changed?" --thread t1 --set review=sources
    """
    # Imported here, because `anabranch --help` must not wait for LangGraph.
    from anabranch.cli.settings_options import asking_context, context_of, filters_of

    chosen: dict[str, Any] = {
        "corpus": choose_corpus(docs, corpus), "model": model, "base_url": base_url, "effort": effort, "k": k,
        "coverage": coverage, "infer_filter": False if all_documents else None,
    }  # fmt: skip
    # Refused rather than ignored: a user of --thread would look for a conversation that does not exist.
    if questions is not None or out is not None:
        _refuse(question=question, thread=thread, resume=resume, reply=reply, explain=explain, json=as_json, rows=rows)
        from anabranch.cli.answer_batch import answer_questions

        if questions is None or out is None:
            msg = "--questions and --out go together."
            raise SettingsError(msg, hint="Give the file to read and the file to write.")
        context = asking_context(sets, **chosen)
        if docs is not None:
            take_in(docs, context.corpus)
        with hint_after_interrupt(lambda: "Run the same command to answer the remaining questions."):
            failed = asyncio.run(
                answer_questions(questions, out, context, filters_of(filters), jobs=jobs, strict=strict)
            )
        raise typer.Exit(1 if failed else 0)

    if rows is not None:
        from anabranch.cli.row_file import check_row_file

        check_row_file(rows)
        # A resumed run keeps the settings that it began with.
        if not resume:
            chosen |= {"synthesis": "rows", "coverage": _rows_coverage(sets, coverage)}
    context = asking_context(sets, **chosen)
    asked, narrowed = _question(question, resume=resume), filters_of(filters)
    # When everything that was typed has been checked: a folder may take minutes.
    if docs is not None:
        take_in(docs, context.corpus)
    from anabranch.cli.ask_turn import Request, answer, next_command

    request = Request(
        question=asked,
        filters=narrowed,
        as_json=as_json,
        explain=explain or explain_prompts,
        whole_prompts=explain_prompts,
        thread=thread,
        resume=resume,
        reply=reply,
        rows=rows,
        # Only if it is not the default: it becomes part of the commands that a person copies.
        corpus=context.corpus if context.corpus != context_of().corpus else None,
    )
    # Without a thread, nothing is saved that could be resumed.
    with hint_after_interrupt(lambda: asyncio.run(next_command(request, context)) if thread else ""):
        written = asyncio.run(answer(request, context))
    if strict and not written:
        say(notes(), "error: the requested model did not write this answer.", style="red")
        raise typer.Exit(1)


def _rows_coverage(sets: Sequence[str] | None, coverage: str | None) -> str | None:
    """Return what --rows reads: all documents, unless something else was asked for."""
    given = any(pair.partition("=")[0].strip() == "coverage" for pair in sets or ())
    return coverage if coverage or given else "corpus"


@contextmanager
def hint_after_interrupt(make_hint: Callable[[], str]) -> Iterator[None]:
    """Print a hint after Ctrl-C, unless it is empty; it is made then, when it is known what was saved."""
    try:
        with interruptible():
            yield
    except KeyboardInterrupt:
        # `guarded` sets the exit code and says "Interrupted".
        if hint := make_hint():
            say_command(notes(), hint)
        raise


def _question(given: str | None, *, resume: bool) -> str | None:
    if given is not None and resume:
        msg = "--resume continues the earlier question, so it takes no new one."
        raise QuestionError(msg, hint="Leave the question out, or leave --resume out to ask a new one.")
    # Standard input suits long questions, and private ones: `ps` and the shell history show arguments.
    asked = sys.stdin.read() if given == "-" else given
    if not resume and (asked is None or not asked.strip()):
        msg = "There is no question."
        raise QuestionError(msg, hint='For example: anabranch ask "How do I add a document?"')
    return asked


def _refuse(**options: object) -> None:
    """Refuse options that apply only to a single question."""
    given = [f"--{name}" for name, value in options.items() if value not in (None, False)]
    if given:
        names = ", ".join(given).replace("--question", "a question")
        msg = f"--questions cannot be combined with {names}."
        raise SettingsError(msg, hint="Each answer in --out is what `ask --json` prints.")
