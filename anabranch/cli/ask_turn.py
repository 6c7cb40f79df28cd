"""Answer one question and show the result."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, Interrupt, StateSnapshot, StreamMode

from anabranch.agent.graph.answer import build
from anabranch.agent.graph.answer import graph as answer_graph
from anabranch.agent.graph.dependencies import MAX_CONCURRENCY, load_corpus, load_model, read_chunks
from anabranch.agent.graph.settings_precedence import resolve_settings
from anabranch.agent.graph.state_validation import check_resumption, check_state
from anabranch.agent.nodes.finish import derive_result
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import VISIBLE, InputState
from anabranch.cli.answer_json import is_written, result_of, work_of
from anabranch.cli.answer_view import print_answer
from anabranch.cli.explain import find_duplicates, print_explanation, print_prompts
from anabranch.cli.live_answer import watching
from anabranch.cli.model_hint import written_answer_hint
from anabranch.cli.output import notes, results, say, say_command, write_json
from anabranch.cli.prompt_log import PromptLog
from anabranch.cli.review_prompt import (
    ask_person,
    can_ask,
    corpus_option,
    reply_of,
    resume_command,
    resume_commands,
    rows_option,
    show,
)
from anabranch.cli.row_file import save_rows
from anabranch.cli.threads import has_begun, is_ahead, is_unfinished, thread_config, thread_file, threads_of
from anabranch.errors import AnabranchError, SettingsError


@dataclass(frozen=True, slots=True)
class TurnResult:
    """The state after a run, and the review that it waits for, if any."""

    state: dict[str, Any]
    waiting: Sequence[Interrupt] = ()


Graph = CompiledStateGraph[Any, Context, Any, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asked for."""

    question: str | None
    filters: dict[str, Any] | None = None
    as_json: bool = False
    explain: bool = False
    whole_prompts: bool = False  # with `explain`: the prompts alone, whole
    thread: str | None = None
    resume: bool = False
    reply: str | None = None
    corpus: str | None = None
    rows: Path | None = None
    in_chat: bool = False  # a user of the chat knows that they stopped the run before
    prompts: PromptLog = field(default_factory=PromptLog)


async def answer(request: Request, context: Context) -> bool:
    """Answer a question, in its thread if one is named, and show the answer.

    Returns:
        See `is_written`.
    """
    turn = await turn_of(request, context)
    try:
        # Before a line is printed, whose reader may leave early (`| head`): what was paid for is on the disk.
        if request.rows is not None and not turn.waiting:
            save_rows(turn.state, request.rows)
    finally:
        await _show(turn, request, context)
    return is_written(turn.state)


async def turn_of(request: Request, context: Context) -> TurnResult:
    """Answer a question and return the result; where the run waits for a review, ask the person at the terminal."""
    # Before the thread file is created: a mistyped corpus must leave nothing on the disk.
    await load_corpus(context)
    await _check_rows_listed(request, context)
    if request.thread is None:
        _check_no_thread_needed(request, context)
        given = InputState(question=request.question or "", filters=request.filters)
        return await _run(answer_graph, given, context, {}, request)
    config = thread_config(request.thread)
    # Checked before the file is opened, which would create it.
    if request.resume and not thread_file(context.corpus).exists():
        raise _no_unfinished_run(request)
    async with threads_of(context.corpus) as saver:
        graph = build().compile(checkpointer=saver, name="answer").with_config(max_concurrency=MAX_CONCURRENCY)
        turn = (
            await _resume(graph, request, context, config)
            if request.resume
            else await _ask_next(graph, request, context, config)
        )
        # With --json nobody is asked: the output says how to resume. An unusable reply interrupts again, hence the
        # loop.
        while turn.waiting and can_ask() and not request.as_json:
            reply = ask_person(notes(), turn.waiting[0].value)
            turn = await _reply(graph, turn.waiting[0], reply, context, config, request)
    return turn


async def next_command(request: Request, context: Context) -> str:
    """Return how to go on after a stop: the command that resumes the thread, or to ask again if nothing was saved."""
    try:
        resumes = thread_file(context.corpus).exists() and await _can_resume(request, context)
    except AnabranchError:  # what was stopped stays stopped: a second error would hide it
        return ""
    if resumes:
        return f"To continue:\n{resume_command(str(request.thread), request.corpus, request.rows)}"
    return f"There is nothing to resume. To ask again:\n{_ask_command(request)}"


async def _can_resume(request: Request, context: Context) -> bool:
    async with threads_of(context.corpus) as saver:
        snapshot = await build().compile(checkpointer=saver).aget_state(thread_config(str(request.thread)))
    return is_unfinished(snapshot) and has_begun(snapshot)


async def _ask_next(graph: Graph, request: Request, context: Context, config: RunnableConfig) -> TurnResult:
    """Ask the next question of a conversation, and report an unfinished run that it replaces."""
    if is_unfinished(await _load_snapshot(graph, config)) and not request.in_chat:
        say(notes(), f"Thread {request.thread!r} had an unfinished run; this question replaces it.", style="dim")
    return await _run(
        graph, InputState(question=request.question or "", filters=request.filters), context, config, request
    )


async def _resume(graph: Graph, request: Request, context: Context, config: RunnableConfig) -> TurnResult:
    snapshot = await _load_snapshot(graph, config)
    check_resumption(snapshot)
    if not is_unfinished(snapshot):
        # The rows of a finished run are in its thread: they are written again without a call.
        if request.rows is not None and request.reply is None and snapshot.values:
            with check_state(snapshot.values):
                return TurnResult({**snapshot.values, **derive_result(snapshot.values)})
        raise _no_unfinished_run(request)
    if not has_begun(snapshot):
        msg = f"Thread {request.thread!r} was stopped before its question was saved."
        raise SettingsError(msg, hint=f"Ask it again: {_ask_command(request)}")
    if not snapshot.interrupts:
        if request.reply is not None:
            msg = f"Thread {request.thread!r} was stopped; it does not wait for a reply."
            raise SettingsError(msg, hint="Leave --reply out.")
        return await _run(graph, None, context, config, request)
    # Nothing runs; the review is shown again.
    if request.reply is None:
        return TurnResult(dict(snapshot.values), snapshot.interrupts)
    (waiting, *_) = snapshot.interrupts
    return await _reply(graph, waiting, reply_of(request.reply, waiting.value), context, config, request)


async def _reply(
    graph: Graph,
    waiting: Interrupt,
    reply: Any,  # noqa: ANN401  # true, or a list of texts
    context: Context,
    config: RunnableConfig,
    request: Request,
) -> TurnResult:
    """Reply to one interrupt by its id, because somebody else may have replied meanwhile, or asked something else."""
    by_id = {waiting.id: reply}
    check_resumption(await graph.aget_state(config), by_id)
    return await _run(graph, Command(resume=by_id), context, config, request)


async def _load_snapshot(graph: Graph, config: RunnableConfig) -> StateSnapshot:
    snapshot = await graph.aget_state(config)
    if is_ahead(snapshot):
        say(notes(), "The clock went back since this thread was last used: new turns may be lost.", style="yellow")
    return snapshot


async def _run(
    graph: Graph,
    graph_input: InputState | Command[Any] | None,
    context: Context,
    config: RunnableConfig,
    request: Request,
) -> TurnResult:
    """Run the graph until its end or an interrupt, and show its progress."""
    state: dict[str, Any] = {}
    modes: list[StreamMode] = ["messages", "custom", "values"]
    # Checkpoints are written before the next step, so that a resumed run repeats no finished model call.
    options: dict[str, Any] = {"durability": "sync"} if graph.checkpointer else {}
    run_config: RunnableConfig = {**config, "callbacks": [request.prompts]} if request.explain else config
    # --explain needs all channels; `subgraphs` includes the steps of the search.
    stream: AsyncIterator[Any] = graph.astream(
        graph_input, run_config, context=context, stream_mode=modes, output_keys=VISIBLE, subgraphs=True, **options
    )
    with watching(answer=not request.as_json) as watcher:
        async for graph_of, mode, payload in stream:
            if mode == "values":
                # The search is a subgraph; the turn's state is that of the outer graph.
                state = state if graph_of else dict(payload)
            elif mode == "custom":
                watcher.event(payload)
            # Whole messages are streamed again when a step adds them to the conversation.
            elif isinstance(payload[0], AIMessageChunk):
                watcher.token(payload[0].text, payload[0].id)
    return TurnResult(state, state.pop("__interrupt__", ()))


async def _show(turn: TurnResult, request: Request, context: Context) -> None:
    if turn.waiting:
        show_waiting(turn.waiting[0].value, request)
    elif request.as_json:
        value = await result_of(turn.state, _settings(turn, context))
        prompts = request.prompts.whole if request.whole_prompts else request.prompts.sent
        write_json({**value, **(work_of(turn.state, prompts) if request.explain else {})})
    else:
        print_answer(results(), turn.state, sources=not request.explain)
        if _settings(turn, context).model is None:
            say(results(), f"\n{await written_answer_hint()}", style="dim")
        if request.whole_prompts:
            print_prompts(results(), request.prompts.whole)
        elif request.explain:
            await show_work(turn, request, context)


async def show_work(turn: TurnResult, request: Request, context: Context) -> None:
    """Print how an answer was made."""
    candidates = [candidate["id"] for candidate in turn.state.get("candidates") or []]
    repeated = [passage_id for pair in find_duplicates(turn.state).items() for passage_id in pair]
    chunks = await read_chunks(_settings(turn, context), turn.state, [*dict.fromkeys([*candidates, *repeated])])
    print_explanation(results(), turn.state, chunks, request.prompts.sent)


def _settings(turn: TurnResult, context: Context) -> Context:
    # A resumed run keeps its settings unless this command line overrides them.
    return resolve_settings(context, (turn.state.get("turn") or {}).get("settings"))


def show_waiting(waiting: dict[str, Any], request: Request) -> None:
    """Print the review that the run waits for, and the commands that resume it."""
    # Complete commands, because another person may resume the thread on another day.
    commands = resume_commands(waiting, str(request.thread), request.corpus, request.rows)
    if request.as_json:
        write_json(
            {"question": waiting.get("question", ""), "thread": request.thread, "waiting": waiting, "resume": commands}
        )
        return
    show(results(), waiting)
    say_command(results(), f"Accept:  {commands[0]}\nChange:  {commands[1]}")


def _check_no_thread_needed(request: Request, context: Context) -> None:
    if request.resume or request.reply is not None:
        msg = "--resume and --reply need a conversation to continue."
        raise SettingsError(msg, hint="Give its id: --thread ID.")
    if context.review != "none":
        msg = f"review={context.review} waits for a person, which only a thread can do."
        raise SettingsError(msg, hint="Give the conversation an id: --thread ID.")


async def _check_rows_listed(request: Request, context: Context) -> None:
    # A resumed run has its model in the thread.
    if request.rows is not None and not request.resume and await load_model(context) is None:
        msg = "--rows needs a chat model, which lists the hits."
        raise SettingsError(msg, hint=await written_answer_hint())


def _no_unfinished_run(request: Request) -> SettingsError:
    return SettingsError(
        f"Thread {request.thread!r} has no unfinished run.", hint=f"Ask a question: {_ask_command(request)}"
    )


def _ask_command(request: Request) -> str:
    """Return the command that asks a question in this thread."""
    options = f"{rows_option(request.rows)}{corpus_option(request.corpus)}"
    return f'anabranch ask "..." --thread {shlex.quote(str(request.thread))}{options}'
