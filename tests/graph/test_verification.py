"""What a caller reads about the citations of an answer: figures, and sources with their links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from anabranch.agent.nodes.settings import Context
from anabranch.citations.verification import CHECKED
from anabranch.cli.answer_json import result_of
from anabranch.ingestion.pipeline import ingest
from tests.graph.inside import build, graph
from tests.graph.replies import model, passages_in, unconfirmed
from tests.servers.calls import Request
from tests.servers.loopback import Reply
from tests.servers.openai_stub import OpenAIStub

pytestmark = pytest.mark.loopback

QUESTION = "Who built the Halden weir, and when?"


def _number(request: Request, words: str) -> int:
    return next(number for number, text in passages_in(request).items() if words in text)


async def _ask(river: str, reply: Any, **settings: Any) -> tuple[dict[str, Any], Context]:
    with OpenAIStub(model(create=reply)) as stub:
        context = Context(corpus=river, model="openai:stub", base_url=stub.base_url, strategy="none", **settings)
        return await graph.ainvoke({"question": QUESTION}, context=context), context


async def test_the_figures_of_an_answer_are_in_its_result(river: str) -> None:
    def half_right(request: Request) -> Reply:
        marrow = _number(request, "Ida Marrow")
        other = next(number for number in passages_in(request) if number != marrow)
        return Reply(f"The weir was built by Ida Marrow [{other}]. It was blown up by Otto Kraus in 1944 [{marrow}].")

    state, context = await _ask(river, half_right)
    figures = state["verification"]
    assert figures == {
        "claims": 2, "quoted": 0, "found": 1, "not_confirmed": 1, "checked": CHECKED,
    }  # fmt: skip
    (citation,) = state["citations"]
    assert (citation["grade"], citation["judged"]) == ("found", "")
    assert "Ida Marrow" in citation["quote"]  # the program found the words, whatever the model's marker said
    (doubted,) = state["unconfirmed"]
    assert doubted["text"] == "It was blown up by Otto Kraus in 1944."
    assert doubted["reason"] == "Otto, Kraus and 1944 are in no passage"
    assert state["answer"].endswith("It was blown up by Otto Kraus in 1944. [?]")
    said = state["messages"][-1].response_metadata
    assert said["verification"] == figures
    assert said["unconfirmed"] == state["unconfirmed"]
    assert (await result_of(state, context))["verification"] == figures


async def test_markers_are_consecutive_and_each_has_a_source_with_a_link(river: str) -> None:
    state, _ = await _ask(river, lambda request: Reply(_all_first_sentences(request)))
    sources = state["messages"][-1].response_metadata["sources"]
    assert len(sources) >= 3
    assert [source["marker"] for source in sources] == list(range(1, len(sources) + 1))
    places = [state["answer"].index(f"[{source['marker']}]") for source in sources]
    assert places == sorted(places)
    for source in sources:
        assert source["source"]
        assert source["link"].startswith("file:///")
        assert source["link"].endswith(f"#char={source['start']},{source['end']}")


async def test_where_files_lie_can_be_kept_from_the_caller(river: str) -> None:
    state, _ = await _ask(river, lambda request: Reply(_all_first_sentences(request)), file_links=False)
    assert state["citations"]
    assert {citation["link"] for citation in state["citations"]} == {""}
    assert "file://" not in repr(state)


def _all_first_sentences(request: Request) -> str:
    from tests.graph.replies import first_sentence

    found = reversed(passages_in(request).items())
    return " ".join(f"{first_sentence(text).rstrip('.')} [{number}]." for number, text in found)


@pytest.mark.parametrize(
    "lie", ["Otto Kraus of Utopia built 77 castles in 1650.", "Otto Kraus baute 1650 in Utopia 77 Schlösser."]
)
async def test_an_answer_of_which_no_claim_holds_is_shown_and_says_so(lie: str, river: str) -> None:
    state, context = await _ask(river, f"{lie[:-1]} [1].")
    assert (state["status"], state["abstained"]) == ("not_confirmed", False)
    assert state["citations"] == []
    first, said, nearest = state["answer"].split("\n\n")
    assert first == "Not confirmed: no passage was matched to this answer."
    assert said == f"{lie} [?]"
    assert nearest.startswith("Nearest passages:\n- ")
    message = state["messages"][-1]
    assert message.text == state["answer"]
    assert message.response_metadata["status"] == "not_confirmed"
    assert not message.response_metadata["abstained"]
    assert message.response_metadata["unconfirmed"] == state["unconfirmed"]
    (claim,) = state["unconfirmed"]
    assert claim["text"] == lie
    assert claim["reason"].endswith(" in no passage")
    assert message.response_metadata["sources"] == []
    figures = (await result_of(state, context))["verification"]
    assert (figures["claims"], figures["not_confirmed"]) == (1, 1)


async def test_whoever_must_not_show_unconfirmed_words_sets_strict(river: str) -> None:
    lie = "Otto Kraus of Utopia built 77 castles in 1650."
    state, _ = await _ask(river, f"{lie[:-1]} [1].", strict=True)
    assert (state["status"], state["abstained"]) == ("not_found", True)
    assert "Otto Kraus" not in state["answer"]
    assert "Otto Kraus" not in state["messages"][-1].text


async def test_a_refusal_is_no_claim_that_nothing_supports(river: str) -> None:
    state, _ = await _ask(river, "The passages do not say who built the Halden weir.")
    assert state["abstained"]
    assert unconfirmed(state) == []
    assert "Not confirmed" not in state["answer"]


async def test_a_claim_whose_number_differs_from_its_quote_is_marked(river: str) -> None:
    def wrong_year(request: Request) -> Reply:
        number = _number(request, "1899")
        return Reply(
            f"The Halden weir's abutment was rebuilt in 1898 [{number}]. Ida Marrow built the weir [{number}]."
        )

    state, _ = await _ask(river, wrong_year)
    assert "in 1898. [?]" in state["answer"]
    assert [state["verification"][name] for name in ("claims", "not_confirmed")] == [2, 1]


async def test_the_figures_of_one_turn_are_gone_in_the_next(river: str) -> None:
    compiled = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "figures"}}
    first = await compiled.ainvoke({"question": QUESTION}, config, context=Context(corpus=river))
    assert first["verification"]["claims"] == first["verification"]["quoted"] > 0
    nothing = {"question": QUESTION, "filters": {"source": "nowhere.md"}}
    second = await compiled.ainvoke(nothing, config, context=Context(corpus=river))
    assert second["abstained"]
    assert second["verification"] == {}


async def test_links_lead_to_the_page_of_a_pdf_and_the_words_of_a_page(tmp_path: Path) -> None:
    import pymupdf

    with pymupdf.open() as pdf:
        for name, year in (("Alder", 1801), ("Birch", 1802), ("Cedar", 1803)):
            pdf.new_page().insert_text((72, 72), f"The {name} bridge over the river was opened in {year} by the town.")
        pdf.save(tmp_path / "old bridges.pdf")
    (tmp_path / "tolls.html").write_text(
        "<html><body><p>The toll of the Cedar bridge was fixed at two pence for carts in the year 1811.</p></body>"
    )
    ingest([tmp_path / "old bridges.pdf", tmp_path / "tolls.html"], tmp_path / "corpus")
    context = Context(corpus=str(tmp_path / "corpus"))
    opened = await graph.ainvoke({"question": "When was the Cedar bridge opened?"}, context=context)
    link = next(citation["link"] for citation in opened["citations"] if "1803" in citation["quote"])
    assert link == f"{(tmp_path / 'old bridges.pdf').as_uri()}#page=3"
    toll = await graph.ainvoke({"question": "At how much was the toll for carts fixed?"}, context=context)
    link = next(citation["link"] for citation in toll["citations"] if "pence" in citation["quote"])
    assert link.startswith(f"{(tmp_path / 'tolls.html').as_uri()}#:~:text=The%20toll%20of%20the")


async def test_one_sentence_over_two_passages_is_confirmed_and_both_are_cited_wherever_sources_stand(
    tmp_path: Path,
) -> None:
    texts = {
        "sluice": "# The Pelican sluice\n\nThe Pelican sluice was drawn up by Ada Brix for the harbour board.",
        "people": "# Retirement\n\nAfter her retirement Ada Brix settled in Halden with her sister.",
        "mills": "# Mills\n\nThe miller Otto Lind settled in Orsova when the mill closed.",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.md").write_text(text)
    corpus = str(tmp_path / "corpus")
    ingest([tmp_path / f"{name}.md" for name in texts], corpus)
    question = "Where did the engineer who drew up the Pelican sluice settle?"
    claim = "Ada Brix drew up the Pelican sluice and settled in {}."
    with OpenAIStub(model(create=claim.format("Halden"))) as stub:
        context = Context(corpus=corpus, model="openai:stub", base_url=stub.base_url, strategy="none", verify="llm")
        state = await graph.ainvoke({"question": question}, context=context)
    assert state["answer"] == f"{claim.format('Halden')} [1][2]"
    assert [(each["marker"], each["source"], each["grade"], each["judged"]) for each in state["citations"]] == [
        (1, "people.md", "found", "entailed"), (2, "sluice.md", "found", "entailed"),
    ]  # fmt: skip
    assert state["verification"] | {"checked": ""} == {
        "claims": 1, "quoted": 0, "found": 1, "not_confirmed": 0, "checked": "",
    }  # fmt: skip
    for each in state["citations"]:
        assert each["claim"] == claim.format("Halden")
        assert each["quote"] in texts[each["source"].removesuffix(".md")]
        assert each["link"].endswith(f"#char={each['start']},{each['end']}")
    message = state["messages"][-1]
    assert [source["marker"] for source in message.response_metadata["sources"]] == [1, 2]
    (block,) = message.content_blocks
    assert [block["text"][each["start_index"] : each["end_index"]] for each in block["annotations"]] == ["[1]", "[2]"]
    assert [each["cited_text"] for each in block["annotations"]] == [each["quote"] for each in state["citations"]]
    found = await result_of(state, context)
    assert [each["marker"] for each in found["citations"]] == [1, 2]
    with OpenAIStub(model(create=claim.format("Orsova"))) as stub:
        context = Context(corpus=corpus, model="openai:stub", base_url=stub.base_url, strategy="none")
        wrong = await graph.ainvoke({"question": question}, context=context)
    assert wrong["citations"] == []
    assert wrong["status"] == "not_confirmed"
