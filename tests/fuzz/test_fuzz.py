"""Anything may come from a caller: settings, thread state and requests are refused with an error of ours, or work.

A few examples of each run with the suite; `make fuzz` runs thousands.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import string
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import InvalidUpdateError

from anabranch.agent.graph.settings_precedence import resolve_settings
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import State
from anabranch.errors import AnabranchError, SettingsError
from anabranch.ingestion.pipeline import ingest
from tests.graph.inside import build, graph
from tests.shared_fixtures import REPOSITORY

SECRET = "hunter2-in-a-file-of-the-server"
QUESTION = "Who built the Halden weir?"
FEW = 40
"""Examples of each kind, for one where --fuzz is 1; a whole turn counts as four."""

names = st.one_of(
    st.sampled_from(sorted(Context.model_fields)),
    st.sampled_from(["_env_file", "_secrets_dir", "_cli_parse_args", "_explicit", "self", "model_config", "__class__"]),
    st.sampled_from(sorted(name for name, _ in inspect.getmembers(Context) if name.startswith("_"))),
    st.text(max_size=20),
)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=30),
    st.sampled_from(["bm25", "none", "llm", "http://127.0.0.1:1/v1", "/etc/passwd", "--help", "\x00", "\ud800"]),
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=9,
)


@cache
def _folder() -> Path:
    """A folder with a secret in every form that a library might read, and a corpus."""
    folder = Path(mkdtemp(prefix="fuzz-"))
    (folder / ".env").write_text(f"ANABRANCH_TOP_K={SECRET}\nPASSWORD={SECRET}\n", encoding="utf-8")
    ingest([REPOSITORY / "tests" / "samples"], folder / "corpus")
    return folder


def _corpus() -> str:
    return str(_folder() / "corpus")


@pytest.fixture
def fuzzed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run a property as often as was asked for, in a folder with secrets in it."""
    _valid()  # made before examples are drawn
    times = int(request.config.getoption("--fuzz"))
    monkeypatch.chdir(_folder())

    def run(check: Callable[..., Any], *kinds: st.SearchStrategy[Any], share: float = 1.0) -> None:
        examples = max(int(FEW * times * share), 5)
        given(*kinds)(
            settings(
                max_examples=examples, deadline=None, derandomize=times == 1,
                suppress_health_check=list(HealthCheck),
            )(check)
        )()  # fmt: skip

    return run


def test_settings(fuzzed: Callable[..., None]) -> None:
    def check(given: dict[str, Any]) -> None:
        try:
            context = Context(**given)
        except SettingsError as error:
            assert SECRET not in str(error)
            return
        assert SECRET not in str(context)
        assert resolve_settings(context).explicit == context.explicit

    fuzzed(check, st.dictionaries(names, values, max_size=4), share=5)


def test_settings_kept_in_a_thread(fuzzed: Callable[..., None]) -> None:
    def check(kept: Any) -> None:
        with contextlib.suppress(AnabranchError):
            resolve_settings(Context(top_k=5), kept)

    fuzzed(check, st.dictionaries(names, values, max_size=4) | values, share=5)


def test_requests(fuzzed: Callable[..., None]) -> None:
    """Question, messages and filters of any kind: an answer, an abstention, or an error that says what to do."""
    kinds = st.fixed_dictionaries(
        {},
        optional={
            "question": values | st.text(alphabet=string.printable, max_size=200) | st.just(QUESTION),
            "filters": values | st.dictionaries(st.sampled_from(["source", "or", "not", "page"]), values, max_size=3),
            "messages": st.lists(
                st.fixed_dictionaries(
                    {"role": st.sampled_from(["user", "assistant", "system", "tool", "human"]), "content": leaves}
                ),
                max_size=3,
            ),
        },
    )

    def check(asked: dict[str, Any]) -> None:
        with contextlib.suppress(AnabranchError):
            state = graph.invoke(asked, context=Context(corpus=_corpus()))  # type: ignore[arg-type]
            assert state["answer"]

    fuzzed(_but_for_messages(check), kinds)


def _but_for_messages(check: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    """Leave out what LangChain refuses by itself, before a step of ours runs."""
    from langchain_core.messages.utils import convert_to_messages

    def run(asked: dict[str, Any]) -> None:
        try:
            convert_to_messages(asked.get("messages") or [])
        except (ValueError, TypeError, KeyError, NotImplementedError):
            return
        check(asked)

    return run


CHANNELS = sorted(set(State.__annotations__) - {"messages", "question", "filters"})
STEPS = ["begin", "rewrite", "fuse", "rerank", "merge", "grade", "pack", "create", "cite", "gather", "abstain"]


@cache
def _valid() -> dict[str, Any]:
    """The end of a turn: what an attacker changes a part of."""
    return dict(graph.invoke({"question": QUESTION}, context=Context(corpus=_corpus())))


@st.composite
def edits(draw: st.DrawFn) -> dict[str, Any]:
    """Channels with anything in them, or with something of a turn that is a little wrong."""
    edit: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(CHANNELS), min_size=1, max_size=3, unique=True)):
        whole = json.loads(json.dumps(_valid().get(name)))
        edit[name] = draw(st.one_of(values, st.just(_spoiled(draw, whole))))
    return edit


def _spoiled(draw: st.DrawFn, whole: Any) -> Any:
    """Change one place, leave it out, or repeat it."""
    if isinstance(whole, dict) and whole:
        name = draw(st.sampled_from(sorted(whole)))
        if draw(st.booleans()):
            return {key: value for key, value in whole.items() if key != name}
        return {**whole, name: _spoiled(draw, whole[name])}
    if isinstance(whole, list) and whole:
        if draw(st.booleans()):
            return whole * draw(st.sampled_from([2, 50, 3000]))
        return [_spoiled(draw, whole[0]), *whole[1:]]
    return draw(values)


def test_thread_state(fuzzed: Callable[..., None]) -> None:
    """A thread that was edited anywhere goes on, or says that it cannot: never an error of no kind, never a hang."""

    async def go_on(edit: dict[str, Any], step: str) -> None:
        compiled = build().compile(checkpointer=InMemorySaver(), interrupt_before=["finish"])
        config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 60}
        await compiled.ainvoke({"question": QUESTION}, config, context=Context(corpus=_corpus()))
        with contextlib.suppress(AnabranchError, InvalidUpdateError):
            await compiled.aupdate_state(config, edit, as_node=step)
            for _ in range(3):
                await compiled.ainvoke(None, config, context=Context(corpus=_corpus()))

    def check(edit: dict[str, Any], step: str) -> None:
        note(f"{step}: {json.dumps(edit, default=str)[:500]}")
        asyncio.run(go_on(edit, step))

    fuzzed(check, edits(), st.sampled_from(STEPS), share=0.5)
