"""One question from the first look at the corpus to the last line on the screen."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot, StreamMode

from anabranch.agent.graph.answer import build
from anabranch.agent.graph.answer import graph as answer_graph
from anabranch.agent.graph.dependencies import MAX_CONCURRENCY, load_corpus, read_chunks
from anabranch.agent.graph.settings_precedence import resolve_settings
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import VISIBLE, InputState
from anabranch.cli.answer_json import explained, is_written, result_of
from anabranch.cli.answer_view import print_answer
from anabranch.cli.explain import print_explanation
from anabranch.cli.live_answer import watching
from anabranch.cli.model_hint import written_answer_hint
from anabranch.cli.output import notes, results, say, say_command, write_json
from anabranch.cli.prompt_log import PromptLog
from anabranch.cli.review_prompt import ask_person, can_ask, corpus_option, how_to_resume, reply_of, show
from anabranch.cli.threads import is_ahead, is_taken_in, is_unfinished, thread_config, thread_file, threads_of
from anabranch.errors import SettingsError


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What a run left: the state, and what it waits for if a person has to speak first."""

    state: dict[str, Any]
    waiting: list[dict[str, Any]] = field(default_factory=list)


Graph = CompiledStateGraph[Any, Context, Any, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asked for."""

    question: str | None
    filters: dict[str, Any] | None = None
    as_json: bool = False
    explain: bool = False
    thread: str | None = None
    resume: bool = False
    reply: str | None = None
    corpus: str | None = None
    in_chat: bool = False  # whoever stopped the run before this one saw it stop
    prompts: PromptLog = field(default_factory=PromptLog)


async def answer(request: Request, context: Context) -> bool:
    """Answer, with a conversation where a thread is named, and show it.

    Returns:
        Whether a model wrote the answer, or none was asked for.
    """
    turn = await turn_of(request, context)
    await _show(turn, request, context)
    return is_written(turn.state)


async def turn_of(request: Request, context: Context) -> TurnResult:
    """Answer, and return what the run left; a person is asked where it waits for one and there is one."""
    # Before a thread file is made: a mistyped corpus must leave nothing on the disk.
    await load_corpus(context)
    if request.thread is None:
        _refuse_without_thread(request, context)
        given = InputState(question=request.question or "", filters=request.filters)
        return await _run(answer_graph, given, context, {}, request)
    config = thread_config(request.thread)
    # Asked before the file is opened, which would make it.
    if request.resume and not thread_file(context.corpus).exists():
        raise _nothing_unfinished(request)
    async with threads_of(context.corpus) as saver:
        graph = build().compile(checkpointer=saver, name="answer").with_config(max_concurrency=MAX_CONCURRENCY)
        turn = (
            await _resumed(graph, request, context, config)
            if request.resume
            else await _next(graph, request, context, config)
        )
        # A program that asked for JSON is told what is waited for, and how to go on; it cannot be asked.
        # A loop, because a reply that cannot be used interrupts once more and says what is wrong with it.
        while turn.waiting and can_ask() and not request.as_json:
            word: Command[Any] = Command(resume=ask_person(notes(), turn.waiting[0]))
            turn = await _run(graph, word, context, config, request)
    return turn


async def _next(graph: Graph, request: Request, context: Context, config: RunnableConfig) -> TurnResult:
    """Ask the next question of a conversation; a run that was not finished is left behind, and that is said."""
    if is_unfinished(await _kept(graph, config)) and not request.in_chat:
        say(notes(), f"Thread {request.thread!r} had an unfinished run; this question takes its place.", style="dim")
    return await _run(
        graph, InputState(question=request.question or "", filters=request.filters), context, config, request
    )


async def _resumed(graph: Graph, request: Request, context: Context, config: RunnableConfig) -> TurnResult:
    snapshot = await _kept(graph, config)
    if not is_unfinished(snapshot):
        raise _nothing_unfinished(request)
    if not is_taken_in(snapshot):
        msg = f"Thread {request.thread!r} was stopped before its question was taken in."
        raise SettingsError(msg, hint=f"Ask it again: {_again(request)}.")
    if not snapshot.interrupts:
        if request.reply is not None:
            msg = f"Thread {request.thread!r} was stopped; it does not wait for a reply."
            raise SettingsError(msg, hint="Leave --reply out.")
        return await _run(graph, None, context, config, request)
    waiting = [interrupt.value for interrupt in snapshot.interrupts]
    # Nothing runs: what is waited for is shown once more.
    if request.reply is None:
        return TurnResult(dict(snapshot.values), waiting)
    return await _run(graph, Command(resume=reply_of(request.reply, waiting[0])), context, config, request)


async def _kept(graph: Graph, config: RunnableConfig) -> StateSnapshot:
    snapshot = await graph.aget_state(config)
    if is_ahead(snapshot):
        said = "The clock was set back since this thread was last used: what is kept of it now may be lost from it."
        say(notes(), said, style="yellow")
    return snapshot


async def _run(
    graph: Graph, given: InputState | Command[Any] | None, context: Context, config: RunnableConfig, request: Request
) -> TurnResult:
    """Run until the end or an interrupt, and show what goes on."""
    state: dict[str, Any] = {}
    modes: list[StreamMode] = ["messages", "custom", "values"]
    # Written before the next step begins, so that a killed run repeats no finished model call.
    options: dict[str, Any] = {"durability": "sync"} if graph.checkpointer else {}
    told: RunnableConfig = {**config, "callbacks": [request.prompts]} if request.explain else config
    # All channels, of which --explain shows what the result leaves out; and the steps of the search, which is a graph
    # inside.
    stream: AsyncIterator[Any] = graph.astream(
        given, told, context=context, stream_mode=modes, output_keys=VISIBLE, subgraphs=True, **options
    )
    with watching(answer=not request.as_json) as watcher:
        async for graph_of, mode, payload in stream:
            if mode == "values":
                # The search is a graph of its own inside; the turn's state is that of the outer one.
                state = state if graph_of else dict(payload)
            elif mode == "custom":
                watcher.event(payload)
            # Whole messages come by as well, once more, when a step puts them into the conversation.
            elif isinstance(payload[0], AIMessageChunk):
                watcher.token(payload[0].text, payload[0].id)
    interrupts = state.pop("__interrupt__", ())
    return TurnResult(state, [interrupt.value for interrupt in interrupts])


async def _show(turn: TurnResult, request: Request, context: Context) -> None:
    if turn.waiting:
        show_waiting(turn.waiting[0], request)
    elif request.as_json:
        value = await result_of(turn.state, _settings(turn, context))
        write_json({**value, **(explained(turn.state, request.prompts.sent) if request.explain else {})})
    else:
        print_answer(results(), turn.state, sources=not request.explain)
        if _settings(turn, context).model is None:
            say(results(), f"\n{await written_answer_hint()}", style="dim")
        if request.explain:
            await show_work(turn, request, context)


async def show_work(turn: TurnResult, request: Request, context: Context) -> None:
    """Print how an answer came to be."""
    ids = [candidate["id"] for candidate in turn.state.get("candidates") or []]
    chunks = await read_chunks(_settings(turn, context), turn.state, ids)
    print_explanation(results(), turn.state, chunks, request.prompts.sent)


def _settings(turn: TurnResult, context: Context) -> Context:
    # A resumed run keeps the settings that it began with, where this command line names no others.
    return resolve_settings(context, (turn.state.get("turn") or {}).get("settings"))


def show_waiting(waiting: dict[str, Any], request: Request) -> None:
    """Say what the run waits for, and how to go on; it waits on disk."""
    # Whole commands, to be copied: a thread waits on disk, perhaps for another person on another day.
    commands = how_to_resume(waiting, str(request.thread), request.corpus)
    if request.as_json:
        write_json(
            {"question": waiting.get("question", ""), "thread": request.thread, "waiting": waiting, "resume": commands}
        )
        return
    show(results(), waiting)
    say_command(results(), f"Accept:  {commands[0]}\nChange:  {commands[1]}")


def _refuse_without_thread(request: Request, context: Context) -> None:
    if request.resume or request.reply is not None:
        msg = "--resume and --reply need to know which conversation to go on with."
        raise SettingsError(msg, hint="Give its id: --thread ID.")
    if context.review != "none":
        msg = f"review: {context.review} pauses the run for a person, and only a thread can wait."
        raise SettingsError(msg, hint="Give the conversation an id: --thread ID.")


def _nothing_unfinished(request: Request) -> SettingsError:
    return SettingsError(
        f"Thread {request.thread!r} has no unfinished run.", hint=f"Ask it something: {_again(request)}."
    )


def _again(request: Request) -> str:
    """Return the command that asks this thread of this corpus."""
    return f'anabranch ask "..." --thread {shlex.quote(str(request.thread))}{corpus_option(request.corpus)}'
