"""Where ANABRANCH_AUTH is set, the graph itself gives each person theirs, and nobody anything who has not said who."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.config import set_config_context
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command
from typing_extensions import TypedDict

from anabranch import as_tools
from anabranch.agent.graph.answer import answer, build
from anabranch.agent.graph.dependencies import make_scope
from anabranch.agent.graph.ingest import graph as ingest_graph
from anabranch.agent.graph.retrieval import HybridRetriever
from anabranch.agent.graph.settings_precedence import digest_access, resolve_settings
from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.state import OutputState
from anabranch.errors import NotAllowedError, NotAuthenticatedError, SettingsError, UserError
from anabranch.identity import AUTH_USER, User, as_operator
from anabranch.safety.operator import environment

TAGS = ["hr", "board", "family", "staff"]
QUESTION = "What did Ida Marrow bury under the eastern abutment?"
FOUND = "time capsule"
ASK = frozenset({"ask"})
NOBODY: dict[str, Any] = {
    "nobody": None,
    # What a caller's JSON would become, were it let through to here.
    "a dict": {"identity": "alice", "access": ["family"], "roles": ["ask"], "is_authenticated": True},
    "text": "alice",
    "a server that failed to load its authentication": SimpleNamespace(
        identity="anonymous", display_name="Anonymous User", is_authenticated=True
    ),
    "LangGraph Studio": SimpleNamespace(identity="langgraph-studio-user", is_authenticated=True, permissions=[]),
    "a user of another authentication, with tags": SimpleNamespace(identity="alice", access=["family"]),
    "one who is not authenticated": SimpleNamespace(
        identity="alice", access=["family"], roles=["ask"], is_authenticated=False
    ),
    "tags that are no list": SimpleNamespace(identity="alice", access="family", roles=["ask"]),
    "a role that is none": SimpleNamespace(identity="alice", access=["family"], roles=["king"]),
    "a tenant that is a path": SimpleNamespace(identity="alice", access=[], roles=["ask"], tenant="../other"),
}


def config(user: Any, thread: str = "t") -> Any:
    return {"configurable": {"thread_id": thread, AUTH_USER: user}}


def person(*access: str, tenant: str | None = None, name: str = "alice") -> User:
    return User(identity=name, access=access, tenant=tenant, roles=ASK)


@pytest.fixture(autouse=True)
def _with_identity(river: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The graph takes users from the server in front, and never reads the file: that one need not be there.
    monkeypatch.setenv("ANABRANCH_AUTH", "auth.yaml")
    monkeypatch.setenv("ANABRANCH_CORPUS", river)


tags = st.lists(st.sampled_from(TAGS), max_size=4, unique=True)
junk = st.one_of(st.none(), st.text(max_size=5), st.integers(), tags, st.dictionaries(st.text(max_size=3), tags))


@given(
    held=tags,
    asked=st.none() | tags,
    remembered=st.dictionaries(st.sampled_from(["access", "corpus", "top_k", "model", "langgraph_auth_user"]), junk),
    locked=st.lists(st.sampled_from(["access", "corpus", "top_k"]), unique=True),
    as_object=st.booleans(),
)
def test_a_scope_is_never_wider_than_the_user(
    river: str, held: list[str], asked: list[str] | None, remembered: Any, locked: list[str], as_object: bool
) -> None:
    user: Any = person(*held)
    if as_object:
        user = SimpleNamespace(**user.as_auth_user())
    given_ = Context() if asked is None else Context(access=tuple(asked))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANABRANCH_LOCK", json.dumps(locked))
        environment.cache_clear()
        with set_config_context(config(user)) as within:
            try:
                context = within.run(resolve_settings, given_, remembered)
            except UserError:
                return
    scope = make_scope(context)
    assert set(scope.access) <= set(held)
    assert set(scope.access) == set(held if asked is None else asked)
    assert context.corpus == river
    assert "access" not in context.remembered()


@pytest.mark.parametrize("who", NOBODY)
async def test_without_a_user_there_are_no_documents(who: str, river: str, tmp_path: Path) -> None:
    for compiled, question in ((build().compile(), {"question": "Who built the weir?"}), (ingest_graph, {"paths": []})):
        with pytest.raises(NotAuthenticatedError, match="Authentication required"):
            await compiled.ainvoke(question, config(NOBODY[who]), context=Context(access=("family",)))
    with pytest.raises(NotAuthenticatedError):
        answer("Who built the weir?", corpus=river)
    with pytest.raises(NotAuthenticatedError):
        await HybridRetriever(settings={"corpus": river}).ainvoke("weir")


async def test_everybody_sees_theirs_and_may_leave_tags_out() -> None:
    compiled = build().compile()

    async def ask(user: Any, **settings: Any) -> str:
        result = await compiled.ainvoke({"question": QUESTION}, config(user), context=Context(**settings))
        return json.dumps(result["answer"])

    assert FOUND in await ask(person("family", "hr"))
    assert FOUND in await ask(SimpleNamespace(**person("family").as_auth_user()))
    assert FOUND in await ask(person("family", "hr"), access=["family"])
    assert FOUND not in await ask(person("family", "hr"), access=["hr"])
    assert FOUND not in await ask(person("family"), access=[])
    assert FOUND not in await ask(person("hr"))
    with pytest.raises(NotAllowedError, match="do not hold the access tag 'family'"):
        await ask(person("hr"), access=["family"])
    with pytest.raises(NotAllowedError, match="role 'ask'"):
        await ask(User(identity="inbox", access=("family",), roles=frozenset({"ingest"})))


async def test_as_a_step_of_another_graph_it_knows_the_user() -> None:
    outer: Any = StateGraph(OutputState)
    outer.add_node("inner", lambda _: build().compile().invoke({"question": QUESTION}))
    outer.add_node("sub", build().compile())
    outer.add_edge(START, "inner")
    compiled = outer.compile()
    assert FOUND in (await compiled.ainvoke({}, config(person("family"))))["answer"]
    assert FOUND not in (await compiled.ainvoke({}, config(person())))["answer"]
    with pytest.raises(NotAuthenticatedError):
        await compiled.ainvoke({}, {"configurable": {"thread_id": "t"}})


async def test_a_run_goes_on_for_whoever_began_it_and_for_nobody_else() -> None:
    saver = InMemorySaver()
    compiled = build().compile(checkpointer=saver)
    context = Context(review="sources")
    alice = person("family")
    paused = await compiled.ainvoke({"question": QUESTION}, config(alice), context=context)
    offered = paused["__interrupt__"][0].value["passages"]
    resume: Any = Command(resume=[passage["id"] for passage in offered])
    with pytest.raises(NotAuthenticatedError):
        await compiled.ainvoke(resume, config(None))
    for other in (person("hr"), person(), person("family", "hr")):
        with pytest.raises(SettingsError, match="other access tags"):
            await compiled.ainvoke(resume, config(other))
    # Edges, which open nothing, run when a state is edited, and LangGraph's server gives them no user then.
    for edit in ("begin", "retrieval"):
        edited = await compiled.aupdate_state(config(None), {"round": 1}, as_node=edit)
        with pytest.raises(NotAuthenticatedError):
            await compiled.ainvoke(None, {"configurable": {**edited["configurable"], "thread_id": "t"}})
    result = await compiled.ainvoke(resume, config(alice))
    assert FOUND in result["answer"]
    # A fork, from before the search.
    steps = [item async for item in compiled.aget_state_history(config(alice))]
    before = next(item.config for item in steps if item.next == ("retrieval",))
    before["configurable"] |= config(person())["configurable"]
    with pytest.raises(SettingsError, match="other access tags"):
        await compiled.ainvoke(None, before, context=Context(review="none"))
    assert "alice" not in str([(item.config, item.metadata) for item in saver.list(None)])


def test_the_same_tags_in_another_tenant_are_another_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_CORPUS", "/srv/{tenant}/corpus")
    monkeypatch.setenv("ANABRANCH_INGEST_ROOT", "/srv/{tenant}/inbox")
    environment.cache_clear()

    def of(user: User, **settings: Any) -> Context:
        with set_config_context(config(user)) as within:
            return within.run(resolve_settings, Context(**settings))

    acme, globex = of(person("hr", tenant="acme")), of(person("hr", tenant="globex"))
    assert (acme.corpus, globex.corpus) == ("/srv/acme/corpus", "/srv/globex/corpus")
    assert digest_access(acme) != digest_access(globex)
    assert of(person(tenant="acme"), corpus="/srv/acme/corpus").corpus == "/srv/acme/corpus"
    for wrong in ("/srv/globex/corpus", "/srv/acme/../globex/corpus", "memory:x"):
        with pytest.raises(SettingsError, match="'corpus' is fixed"):
            of(person("hr", tenant="acme"), corpus=wrong)
    with pytest.raises(NotAllowedError, match="no tenant"):
        of(person("hr"))
    monkeypatch.setenv("ANABRANCH_CORPUS", "/srv/corpus")
    environment.cache_clear()
    with pytest.raises(SettingsError, match="does not contain"):
        of(person("hr", tenant="acme"))


def test_a_lock_on_access_lets_each_have_all_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_LOCK", '["access"]')
    with set_config_context(config(person("hr", "board"))) as within:
        assert within.run(resolve_settings, Context()).access == ("hr", "board")
        assert set(within.run(resolve_settings, Context(access=("board", "hr"))).access) == {"hr", "board"}
        with pytest.raises(SettingsError, match="'access' is fixed"):
            within.run(resolve_settings, Context(access=("hr",)))


def test_tags_for_everybody_and_tags_for_each_are_a_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_ACCESS", '["family"]')
    with set_config_context(config(person())) as within, pytest.raises(SettingsError, match="ANABRANCH_ACCESS"):
        within.run(resolve_settings, Context())


@pytest.mark.parametrize("value", ["", " "])
async def test_a_variable_that_is_set_and_empty_opens_nothing(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_AUTH", value)
    environment.cache_clear()
    with pytest.raises(NotAuthenticatedError):
        await build().compile().ainvoke({"question": QUESTION})


def test_the_operator_needs_no_name(river: str) -> None:
    with as_operator():
        assert FOUND in answer(QUESTION, corpus=river, access=("family",))["answer"]
    with pytest.raises(NotAuthenticatedError):
        answer(QUESTION, corpus=river)


class Thoughts(TypedDict, total=False):
    """The state of somebody's agent."""

    found: dict[str, str]


async def test_the_tools_of_an_agent_show_what_the_user_of_its_run_may_read() -> None:
    tools = {tool.name: tool for tool in as_tools()}
    calls: dict[str, dict[str, Any]] = {
        "search": {"query": QUESTION}, "grep": {"pattern": FOUND}, "read": {"document": "Private letter"},
        "ask": {"question": QUESTION}, "list_documents": {},
    }  # fmt: skip

    async def think(_: Thoughts) -> Thoughts:
        return {"found": {name: str(await tools[name].ainvoke(arguments)) for name, arguments in calls.items()}}

    def think_on(_: Thoughts) -> Thoughts:
        return {"found": {name: str(tools[name].invoke(arguments)) for name, arguments in calls.items()}}

    builder = StateGraph(Thoughts).add_node("think", RunnableLambda(think_on, think)).add_edge(START, "think")
    agent = builder.compile()
    for run in (agent.ainvoke, lambda *given: asyncio.to_thread(agent.invoke, *given)):
        hers = (await run({}, config(person("family"))))["found"]
        assert {name for name, text in hers.items() if "Private letter" in text or FOUND in text} == set(calls)
        others = (await run({}, config(person("hr"))))["found"]
        assert FOUND not in str(others)
        assert "Private letter" not in str({name: text for name, text in others.items() if name != "read"})
        assert "There is no document" in others["read"]
        # A person who has not said who they are is shown nothing.
        nobody = (await run({}, config(None)))["found"]
        assert all("Halden" not in text for text in nobody.values())
        assert len(set(nobody.values())) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"access": ("board",)}, "do not hold"), ({"corpus": "elsewhere"}, "fixed by the operator")],
)
def test_the_tools_take_no_other_tags_and_no_other_corpus_than_those_of_the_user(
    settings: dict[str, Any], message: str
) -> None:
    tools = {tool.name: tool for tool in as_tools(**settings)}
    with set_config_context(config(person("family"))) as context:
        for name, arguments in (
            ("list_documents", {}),
            ("search", {"query": QUESTION}),
            ("ask", {"question": QUESTION}),
        ):
            assert message in context.run(tools[name].invoke, arguments)
