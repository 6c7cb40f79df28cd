"""Follow-ups in four languages: no word of any of them decides what a question is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from anabranch.agent.nodes.settings import Context
from anabranch.ingestion.pipeline import ingest
from tests.graph.inside import graph
from tests.graph.replies import model, step_of
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

pytestmark = [pytest.mark.loopback, pytest.mark.timeout(60)]


class Talk(NamedTuple):
    """A question, one that needs it, one that changes the subject; and where the answers stand."""

    first: str
    follow_up: str
    source: str
    change: str
    other: str


MILL = {
    "en": "The mill of Brannock has a water wheel of oak. Its diameter is 7 metres. Marta Field runs the mill.",
    "de": "Die Mühle von Brannock hat ein Wasserrad aus Eiche. Der Durchmesser beträgt 7 Meter. Marta Feld führt sie.",
    "fr": "Le moulin de Brannock a une roue en chêne. Son diamètre est de 7 mètres. Marta Champ tient le moulin.",
    "es": "El molino de Brannock tiene una rueda de roble. Su diámetro es de 7 metros. Marta Campo lleva el molino.",
}
WEIR = {
    "en": "The weir at Halden was built by Ida Marrow. It was finished in 1871 and cost 900 guilders.",
    "de": "Das Wehr in Halden baute Ida Marrow. Fertig wurde das Wehr 1871, und es kostete 900 Gulden.",
    "fr": "Le barrage de Halden fut construit par Ida Marrow. Le barrage fut fini en 1871 et coûta 900 florins.",
    "es": "La presa de Halden fue construida por Ida Marrow. La presa se terminó en 1871 y costó 900 florines.",
}
OTHERS = {
    "en": "The inn of {} serves trout and bread to those who cross the moor in winter.",
    "de": "Das Gasthaus von {} reicht Forelle und Brot, wenn jemand im Winter über das Moor kommt.",
    "fr": "L'auberge de {} sert de la truite et du pain à ceux qui passent la lande en hiver.",
    "es": "La posada de {} sirve trucha y pan a los que cruzan el páramo en invierno.",
}
NAMES = ["Cray", "Dunmore", "Elby", "Farrow", "Garth", "Hollen", "Ister", "Jarrow", "Kelby", "Lorne", "Mossen", "Norby"]
TALKS = {
    "en": Talk("Who built the weir at Halden?", "And when?", "weir", "Who runs the mill?", "mill"),
    "de": Talk("Wer baute das Wehr in Halden?", "Und wann?", "weir", "Wer führt die Mühle?", "mill"),
    "fr": Talk("Qui a construit le barrage de Halden ?", "Et quand ?", "weir", "Qui tient le moulin ?", "mill"),
    "es": Talk("¿Quién hizo la presa de Halden?", "¿Y cuándo?", "weir", "¿Quién lleva el molino?", "mill"),
}


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A corpus in each language."""
    made = {}
    for language in TALKS:
        folder = tmp_path_factory.mktemp(language)
        for name, texts in (("mill", MILL), ("weir", WEIR)):
            (folder / f"{name}.txt").write_text(texts[language], encoding="utf-8")
        for name in NAMES:
            (folder / f"{name}.txt").write_text(OTHERS[language].format(name), encoding="utf-8")
        ingest(sorted(folder.glob("*.txt")), folder / "corpus")
        made[language] = str(folder / "corpus")
    return made


def said(first: str, asked: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(first), AIMessage("Ida Marrow [1]."), HumanMessage(asked)]}


@pytest.mark.parametrize("language", TALKS)
async def test_without_a_model_a_question_is_searched_alone_and_with_the_one_before(
    corpora: dict[str, str], language: str
) -> None:
    talk = TALKS[language]
    state = await graph.ainvoke(said(talk.first, talk.follow_up), context=Context(corpus=corpora[language]))
    assert [query["text"] for query in state["queries"]] == [f"{talk.first} {talk.follow_up}", talk.follow_up]


@pytest.mark.parametrize("asked", ["Who runs the mill?", "Who runns the mill?"])
async def test_without_a_model_a_question_that_finds_a_strong_match_alone_is_not_joined(
    corpora: dict[str, str], asked: str
) -> None:
    state = await graph.ainvoke(said("Who built the weir at Halden?", asked), context=Context(corpus=corpora["en"]))
    assert [(query["text"], query["weight"]) for query in state["queries"]] == [(asked, 1.0)]
    assert state["turn"]["standalone_question"] == asked
    alone = await graph.ainvoke({"question": asked}, context=Context(corpus=corpora["en"]))
    assert [each["id"] for each in state["candidates"]][:1] == [each["id"] for each in alone["candidates"]][:1]


@pytest.mark.parametrize("language", TALKS)
async def test_without_a_model_a_follow_up_finds_what_the_question_before_was_about(
    corpora: dict[str, str], language: str
) -> None:
    talk = TALKS[language]
    context = Context(corpus=corpora[language], top_k=3)
    state = await graph.ainvoke(said(talk.first, talk.follow_up), context=context)
    assert f"{talk.source}.txt" in {passage["source"] for passage in state["passages"]}
    assert not state["abstained"]


@pytest.mark.parametrize("language", TALKS)
async def test_without_a_model_a_change_of_subject_is_shown_its_passage(corpora: dict[str, str], language: str) -> None:
    talk = TALKS[language]
    context = Context(corpus=corpora[language], top_k=3)
    state = await graph.ainvoke(said(talk.first, talk.change), context=context)
    assert f"{talk.other}.txt" in {citation["source"] for citation in state["citations"]}


@pytest.mark.parametrize("language", TALKS)
async def test_a_model_is_asked_about_every_question_that_is_not_the_first(
    corpora: dict[str, str], language: str
) -> None:
    talk = TALKS[language]
    for asked in (talk.follow_up, talk.change):
        with OpenAIStub(model(condense=Reply(asked))) as stub:
            context = Context(corpus=corpora[language], model="openai:stub", base_url=stub.base_url, strategy="none")
            state = await graph.ainvoke(said(talk.first, asked), context=context)
            assert [step_of(call.request) for call in stub.calls].count("condense") == 1
        assert [query["text"] for query in state["queries"]] == [asked]


async def test_a_change_of_subject_that_the_documents_do_not_answer_has_thin_evidence(corpora: dict[str, str]) -> None:
    asked = "Which zeppelins were painted by quaggas?"
    state = await graph.ainvoke(said(TALKS["en"].first, asked), context=Context(corpus=corpora["en"]))
    alone = await graph.ainvoke({"question": asked}, context=Context(corpus=corpora["en"]))
    assert alone["evidence"]["verdict"] == "thin"
    assert state["evidence"]["verdict"] == "thin"


REPORTS = {
    "en": ("# Report of Halden Mill\n\n| Year ended May 31 | 2021 | 2020 |\n|---|---|---|\n", "Revenue", "Flour sold"),
    "de": ("# Bericht der Mühle Halden\n\n| Jahr bis 31. Mai | 2021 | 2020 |\n|---|---|---|\n", "Umsatz", "Mehl"),
}
CHATS = {
    "en": ["What was the revenue of Halden Mill in 2021?", "And in 2020?", "Thanks!", "And in 2021?"],
    "de": ["Wie hoch war der Umsatz der Mühle Halden 2021?", "Und 2020?", "Danke schön!", "Und 2021?"],
}


@pytest.mark.parametrize("language", CHATS)
async def test_a_year_alone_asks_for_the_same_figure_also_after_thanks(language: str, tmp_path: Path) -> None:
    head, revenue, other = REPORTS[language]
    rows = f"| {other} | 1,812 | 1,229 |\n| {revenue} | 3,208 | 2,364 |\n"
    (tmp_path / "report.md").write_text(f"{head}{rows}", encoding="utf-8")
    for name in NAMES:
        (tmp_path / f"{name}.md").write_text(OTHERS[language].format(name), encoding="utf-8")
    ingest(sorted(tmp_path.glob("*.md")), tmp_path / "corpus")
    first, *others = CHATS[language]
    said: list[Any] = []
    for asked in (first, *others):
        state = await graph.ainvoke(
            {"messages": [*said, HumanMessage(asked)]}, context=Context(corpus=str(tmp_path / "corpus"))
        )
        said = state["messages"]
        if asked.endswith("?"):
            assert f"| {revenue} | 3,208 | 2,364 |" in state["answer"]
            queries = [query["text"] for query in state["queries"]]
            assert queries == ([asked] if asked == first else [f"{first} {asked}", asked])


COURTEOUS = {
    "en": ("Hi there, who built the Halden weir, please?", "Thanks, that was helpful. And when?"),
    "de": ("Guten Tag, wer baute das Wehr von Halden, bitte?", "Danke, das hilft mir weiter. Und wann?"),
}
BARE = {
    "en": ("who built the Halden weir?", "And when?"),
    "de": ("wer baute das Wehr von Halden?", "Und wann?"),
}


@pytest.mark.parametrize("language", COURTEOUS)
async def test_courtesies_are_kept_in_the_conversation_and_not_searched_for(language: str, river: str) -> None:
    (first, followed), (asked, after) = COURTEOUS[language], BARE[language]
    context = Context(corpus=river, strategy="none")
    state = await graph.ainvoke({"messages": [HumanMessage(first)]}, context=context)
    assert [query["text"] for query in state["queries"]][:1] == [asked]
    said = [*state["messages"], HumanMessage(followed)]
    state = await graph.ainvoke({"messages": said}, context=context)
    assert [query["text"] for query in state["queries"]][:2] == [f"{asked} {after}", after]
    assert [message.text for message in state["messages"][::2]] == [first, followed]
    assert state["turn"]["question"] == followed
