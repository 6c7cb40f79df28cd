"""OpenAI's own client against `anabranch serve`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from openai import APIStatusError, NotFoundError, OpenAI

from anabranch.ingestion.pipeline import ingest
from anabranch_server.chat_completions import message_of
from plugins.server.tests.serve_process import serving
from tests.shared_fixtures import REPOSITORY

pytestmark = [pytest.mark.loopback, pytest.mark.slow]

QUESTION = {"role": "user", "content": "Who built the Halden weir?"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAI]:
    home = tmp_path_factory.mktemp("openai")
    shutil.copytree(REPOSITORY / "tests" / "samples", home / "samples")
    ingest([home / "samples"], home / "corpus")
    with serving(home) as server, OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as found:
        yield found


def test_there_is_one_model(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["anabranch"]
    assert client.models.retrieve("anabranch").id == "anabranch"
    with pytest.raises(NotFoundError, match="no model 'gpt-5'"):
        client.models.retrieve("gpt-5")


@pytest.mark.parametrize("stream", [False, True])
def test_another_model_is_refused_with_the_name_of_the_one(client: OpenAI, stream: bool) -> None:
    with pytest.raises(NotFoundError) as refused:
        client.chat.completions.create(model="gpt-4o", messages=[QUESTION], stream=stream)
    assert (refused.value.status_code, refused.value.code, refused.value.param) == (404, "model_not_found", "model")
    assert "There is no model 'gpt-4o'. This server has the model 'anabranch'." in str(refused.value)
    with pytest.raises(NotFoundError, match="There is no model 'gpt-4o'"):
        client.models.retrieve("gpt-4o")


def test_an_answer_has_its_sources_in_the_text_and_as_annotations(client: OpenAI) -> None:
    reply = client.chat.completions.create(
        model="anabranch", messages=[{"role": "system", "content": "Rhyme."}, QUESTION]
    )
    message = reply.choices[0].message
    assert "Ida Marrow" in message.content
    (first, *_) = message.annotations
    marker = message.content[first.url_citation.start_index : first.url_citation.end_index]
    assert marker.startswith("[")
    assert "Ida Marrow" in first.url_citation.quote
    assert reply.usage.total_tokens == 0  # no model was asked
    assert message.content.startswith(f"No chat model: the passages that match best.\n\n{marker} ")


def test_a_stream_says_its_steps_first_and_then_the_same_answer(client: OpenAI) -> None:
    whole = client.chat.completions.create(model="anabranch", messages=[QUESTION]).choices[0].message.content
    chunks = list(client.chat.completions.create(model="anabranch", messages=[QUESTION], stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == whole
    steps = [getattr(chunk.choices[0].delta, "reasoning_content", "") or "" for chunk in chunks]
    assert "retrieve" in "".join(steps)
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert all(chunk.usage is None for chunk in chunks)


def test_a_stream_tells_its_tokens_to_who_asks_for_them(client: OpenAI) -> None:
    told = {"stream": True, "stream_options": {"include_usage": True}}
    *_, before, last = client.chat.completions.create(model="anabranch", messages=[QUESTION], **told)
    assert before.choices[0].finish_reason == "stop"
    assert (last.choices, last.usage.total_tokens) == ([], 0)


def test_what_chat_programs_send_besides_breaks_nothing(client: OpenAI) -> None:
    """Open WebUI and LibreChat send options of models, tools, and requests for titles, each one long prompt."""
    task = "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n" + (
        '### Output:\nJSON format: { "title": "your concise title here" }\n### Chat History:\n<chat_history>\n'
        f"USER: {QUESTION['content']}\nASSISTANT: Ida Marrow. [1]\n</chat_history>"
    )
    options = {"temperature": 0.1, "max_tokens": 1000, "stop": ["\n\n"], "user": "u", "presence_penalty": 0, "n": 1}
    reply = client.chat.completions.create(model="anabranch", messages=[{"role": "user", "content": task}], **options)
    assert reply.choices[0].message.content
    assert reply.choices[0].finish_reason == "stop"
    tool = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object", "properties": {}}}}
    reply = client.chat.completions.create(model="anabranch", messages=[QUESTION], tools=[tool], tool_choice="auto")
    assert "Ida Marrow" in reply.choices[0].message.content


def test_a_conversation_is_understood(client: OpenAI) -> None:
    asked = [QUESTION, {"role": "assistant", "content": "Ida Marrow did."}]
    parts = [{"type": "text", "text": "When did she rebuild the abutment?"}]
    reply = client.chat.completions.create(model="anabranch", messages=[*asked, {"role": "user", "content": parts}])
    assert "1899" in reply.choices[0].message.content


def test_what_cannot_be_answered_says_why(client: OpenAI) -> None:
    for context, word in (({"top_k": 0}, "top_k"), ({"topk": 3}, "topk")):
        with pytest.raises(APIStatusError, match=word):
            client.chat.completions.create(model="anabranch", messages=[QUESTION], extra_body={"context": context})
    with pytest.raises(APIStatusError, match="n: "):
        client.chat.completions.create(model="anabranch", messages=[QUESTION], n=2)
    with pytest.raises(APIStatusError, match="messages"):
        client.chat.completions.create(model="anabranch", messages=[])
    with pytest.raises(APIStatusError, match="its body: "):
        client.post("/chat/completions", body="no object", cast_to=object)
    with pytest.raises(NotFoundError) as refused:
        client.embeddings.create(model="anabranch", input="Who built the weir?")
    assert refused.value.body == {"message": "Not Found", "type": "RequestError", "param": None, "code": None}


def test_a_claim_without_a_marker_and_an_abstention_have_no_annotation() -> None:
    cited = {"marker": 2, "title": "Weirs", "heading": "Halden", "page": 3, "link": "", "quote": "q", "grade": "quoted"}
    assert message_of({"answer": "It was Ida Marrow.", "citations": [cited]}) == {
        "content": "It was Ida Marrow.\n\n[2] Weirs, Halden, p. 3",
        "annotations": [],
    }
    assert message_of({"answer": "I did not find it.", "citations": []}) == {
        "content": "I did not find it.",
        "annotations": [],
    }


def test_each_place_of_a_marker_is_named_once() -> None:
    cited = {"marker": 1, "title": "Report", "heading": "Plans", "page": 3, "link": "", "quote": "q", "grade": "quoted"}
    given = [{**cited, "marker": 2}, cited, {**cited, "heading": "Pets", "page": 4}, {**cited, "quote": "another"}]
    content = message_of({"answer": "It grew.", "citations": given})["content"]
    assert content == "It grew.\n\n[1] Report, Plans, p. 3\n[1] Report, Pets, p. 4\n[2] Report, Plans, p. 3"


def test_passages_that_are_shown_whole_are_not_listed_once_more() -> None:
    cited = {"marker": 1, "title": "Report", "heading": "Plans", "page": 3, "link": "", "quote": "q", "grade": "quoted"}
    answer = "No chat model.\n\n[1] Report, p. 3\n\nIt grew."
    composed = {"answer": answer, "citations": [cited], "route": {"name": "compose", "reasons": []}}
    assert message_of(composed)["content"] == answer
    assert message_of({**composed, "route": {"name": "create", "reasons": []}})["content"].endswith(
        "[1] Report, Plans, p. 3"
    )


def test_a_filter_from_the_question_is_told_below_the_answer() -> None:
    told = message_of({"answer": "Four weeks.", "inferred_filter": "kind = contract"})["content"]
    assert told == "Four weeks.\n\nSearched only: kind = contract (`infer_filter: false` searches all)."
