from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.parsing import REVISION_SCHEMA, Revision, parse_revision

PREVIOUS = "  Lyft earned $3.2 billion in 2021 [1].\n"
NEW = 'Lyft earned $3.2 billion in 2021 [1], "an increase" of 36 % [3].'
KEEP = Revision("keep", PREVIOUS)


@pytest.mark.parametrize(
    "reply",
    [
        '{"action": "keep"}',
        '{"action": "KEEP", "answer": "something else altogether [3]"}',
        '```json\n{"action": "keep"}\n```',
        'The passages add nothing, so: {"action": "keep"} is right.',
        "{'action': 'keep'}",
        '{"action": "keep", "answ',
        "keep",
        "KEEP.",
        "**Action:** keep",
        "Action: keep\nAnswer: something else altogether",
        "keep: the passages add nothing new to it",
        # LlamaIndex and LangChain take these for the new answer
        "The original answer remains.",
        "The original answer remains the same, as the new context is not useful.",
        "Given the new context, the existing answer is still correct and does not need refinement.",
        "Since the context isn't helpful, I will keep the original answer.",
        "No changes needed.",
        "No change",
        "The answer remains unchanged.",
        "I don't know.",
        "The context does not contain any further information about the revenue.",
        "I'm sorry, but I cannot answer this question.",
        '{"action": "revise", "answer": "I don\'t know."}',
        '{"action": "add", "answer": "I don\'t know."}',
        '{"action": "add", "answer": "The original answer remains valid."}',
        '{"action": "add", "answer": ""}',
        '{"action": "add"}',
        '{"action": "add", "answer": "Sales grew by a third in 20',
        json.dumps({"action": "add", "answer": "Les ventes ont augmenté d'un tiers."}),
        # what is added is there already, whatever it cites
        json.dumps({"action": "add", "answer": PREVIOUS}),
        json.dumps({"action": "add", "answer": "Lyft earned $3.2 billion in 2021 [1][3]."}),
        '{"action": "revise", "answer": "The original answer remains valid."}',
        '{"action": "revise", "answer": ""}',
        '{"action": "revise"}',
        '{"action": "revise", "answer": null}',
        '{"action": "revise", "answer": 7}',
        # half an answer must not replace a whole one
        '{"action": "revise", "answer": "Lyft earned $3.2 billion in 20',
        "NOT FOUND: growth",
        "",
        "   \n",
        "<think>What now?</think>",
        "<think>never ends",
        "ok",
        "[1]",
        # an answer that names no passage, in place of one that does: as good as a refusal in any language
        "Je ne sais pas, les passages ne le disent pas.",
        "Es tut mir leid, das geht aus den Texten nicht hervor.",
        json.dumps({"action": "revise", "answer": "La réponse reste la même qu'auparavant."}),
        "Question: How much?\n\nAnswer so far: Lyft earned $3.2 billion in 2021 [1].",
        # an echo of the prompt, of the passages, or of the answer
        '{"action": "keep" | "revise", "answer": "..."}',
        '{"action": "keep" | "add" | "revise", "answer": "... [3]"}',
        '<passage-ab12 n="1" from="x">Lyft earned money in 2019 and 2020.</passage-ab12>',
        "Answer so far: Lyft earned $3.2 billion in 2021 [1].",
        "lyft earned $3.2 billion in 2021 [1]",
        json.dumps({"action": "revise", "answer": PREVIOUS}),
    ],
)
def test_the_previous_answer_stays_byte_for_byte(reply: str):
    assert parse_revision(reply, PREVIOUS) == KEEP


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps({"action": "revise", "answer": NEW}),
        json.dumps({"action": "Revised", "answer": NEW}, indent=2),
        json.dumps({"answer": NEW}),
        "```json\n" + json.dumps({"action": "revise", "answer": NEW}) + "\n```\nDone!",
        "Here is the improved answer. " + json.dumps({"action": "revise", "answer": NEW}),
        str({"action": "revise", "answer": NEW}),
        json.dumps({"action": "revise", "answer": NEW})[:-1],
        json.dumps({"action": "revise", "answer": NEW, "quotes": {"3": ["half"]}})[:-9],
        f'{{"action": "revise", "answer": "{NEW}"}}',
        f'{{"action": "revise", "answer": "{NEW}", "quotes": {{}}}}',
        f"Action: revise\nAnswer: {NEW}",
        f"REVISE: {NEW}",
        f"<think>better</think>{NEW}",
        NEW,
    ],
)
def test_a_new_answer_replaces_it(reply: str):
    assert parse_revision(reply, PREVIOUS) == Revision("revise", NEW)


MORE = "Sales grew by a third [3]."


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps({"action": "add", "answer": MORE}),
        json.dumps({"action": "Add", "answer": MORE}, indent=2),
        json.dumps({"action": "append", "answer": f"  {MORE}\n"}),
        # a model that repeats the answer before what it adds
        json.dumps({"action": "add", "answer": f"{PREVIOUS.strip()} {MORE}"}),
        "```json\n" + json.dumps({"action": "add", "answer": MORE}) + "\n```",
        f'{{"action": "add", "answer": "{MORE}"}}',
        json.dumps({"action": "add", "answer": MORE})[:-1],
        json.dumps({"Action": "ADD", "Answer": MORE}),
        json.dumps({"action": "add", "answer": [MORE]}),
        json.dumps({"action": "keep and add", "answer": MORE}),
        json.dumps({"action": "add", "answer": f"{MORE} {MORE} [3]."}),
        json.dumps({"action": "add", "answer": f"... {MORE}"}),
        f"Action: add\nAnswer: {MORE}",
        f"ADD: {MORE}",
        f"add - {MORE}",
        f"**Added:** {MORE}",
        f"Addition: {MORE}",
        # it does not say what it is, and leaves out what the answer cites
        MORE,
        json.dumps({"answer": MORE}),
        json.dumps({"action": "update", "answer": MORE}),
        json.dumps({"decision": "add", "answer": MORE}),
        json.dumps({"action": "hinzufügen", "answer": MORE}),
    ],
)
def test_what_is_added_follows_an_answer_that_stays_as_it_is(reply: str):
    assert parse_revision(reply, PREVIOUS) == Revision("add", f"{PREVIOUS.rstrip()} {MORE}")


def test_quotes_with_unescaped_marks_do_not_lose_what_is_added():
    reply = '{"action": "add", "answer": "He called it "a third" more [3].", "quotes": {"3": ["a third"]}}'
    assert parse_revision(reply, PREVIOUS) == Revision("add", f'{PREVIOUS.rstrip()} He called it "a third" more [3].')


def test_a_list_goes_on_below():
    listed = "- Lyft earned $3.2 billion [1].\n- It lost $1 billion [2]."
    reply = json.dumps({"action": "add", "answer": "- Sales grew by a third [3].", "quotes": {"3": ["a third"]}})
    assert parse_revision(reply, listed) == Revision("add", f"{listed}\n- Sales grew by a third [3].", {3: ["a third"]})


@pytest.mark.parametrize(
    ("previous", "addition", "expected"),
    [
        ("A stands [1].", "- B stands [3].\n- C stands [4].", "A stands [1].\n\n- B stands [3].\n- C stands [4]."),
        ("- A stands [1].", "- B stands [3].", "- A stands [1].\n- B stands [3]."),
        ("| a | b |\n|---|---|\n| 1 | 2 [1] |", "| 3 | 4 [3] |", "| a | b |\n|---|---|\n| 1 | 2 [1] |\n| 3 | 4 [3] |"),
        ("One.\n\nTwo [1].", "Three stand [3].", "One.\n\nTwo [1].\n\nThree stand [3]."),
        ("A stands [1]", "B stands too [3].", "A stands [1]\nB stands too [3]."),
        ("他在这里。[1]", "她也在这里。 [3]", "他在这里。[1] 她也在这里。 [3]"),
        # the sign, a word around it, or a mark makes another sentence
        (
            "Growth was -5 percent [1].",
            "Growth was 5 percent [3].",
            "Growth was -5 percent [1]. Growth was 5 percent [3].",
        ),
        (
            "It is not true that sales grew [1].",
            "Sales grew [3].",
            "It is not true that sales grew [1]. Sales grew [3].",
        ),
        # markers behind the stop stay with their sentence, or go with it
        ("A is big. [1] B is small. [2]", "A is big. [1] C is red. [3]", "A is big. [1] B is small. [2] C is red. [3]"),
    ],
)
def test_additions_go_where_they_belong(previous: str, addition: str, expected: str):
    reply = json.dumps({"action": "add", "answer": addition})
    assert parse_revision(reply, previous) == Revision("add", expected)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("A stands [1]. C stands [3].", Revision("add", "A stands [1]. B stands [2]. C stands [3].")),
        ("C stands by A [1][3].", Revision("add", "A stands [1]. B stands [2]. C stands by A [1][3].")),
        ("A and B stand [1][2], C does [3].", Revision("revise", "A and B stand [1][2], C does [3].")),
        ("Revise: A stands [1]. C stands [3].", Revision("revise", "A stands [1]. C stands [3].")),
    ],
)
def test_a_reply_that_does_not_say_what_it_is_loses_nothing(reply: str, expected: Revision):
    assert parse_revision(reply, "A stands [1]. B stands [2].") == expected


def test_what_is_added_to_nothing_is_the_answer():
    assert parse_revision(json.dumps({"action": "add", "answer": MORE}), "") == Revision("revise", MORE)


def test_a_reply_held_to_the_schema_is_read():
    asked = {"action": "revise", "answer": NEW, "quotes": [{"n": 3, "quote": "an increase of 36%"}]}
    assert set(asked) == set(REVISION_SCHEMA["required"]) == set(REVISION_SCHEMA["properties"])
    assert parse_revision(json.dumps(asked), PREVIOUS) == Revision("revise", NEW, {3: ["an increase of 36%"]})
    assert parse_revision('{"action": "keep", "answer": "", "quotes": []}', PREVIOUS) == KEEP


def test_quotes_come_with_it():
    wanted = Revision("revise", NEW, {3: ["an increase of 36%"]})
    assert (
        parse_revision(json.dumps({"action": "revise", "answer": NEW, "quotes": {"3": "an increase of 36%"}}), "")
        == wanted
    )
    assert parse_revision(f'{NEW}\nQUOTES:\n[3] "an increase of 36%"', PREVIOUS) == wanted


@pytest.mark.parametrize(
    "answer",
    [
        "There was no change in revenue between 2020 and 2021 [3].",
        "Paris [2].",
        "The 2019 figure is not given in the passages, but 2021 saw $3.2 billion [3].",
        "Members keep their rights when the contract ends [4].",
    ],
)
def test_answers_with_words_of_keeping_are_answers(answer: str):
    assert parse_revision(answer, PREVIOUS) == Revision("add", f"{PREVIOUS.rstrip()} {answer}")
    assert parse_revision(f"Revised: {answer}", PREVIOUS) == Revision("revise", answer)


def test_any_answer_is_better_than_none():
    assert parse_revision("42", "") == Revision("revise", "42")
    assert parse_revision("I don't know.", "") == Revision("keep", "")


@given(st.text(), st.text())
def test_any_reply_gives_a_decision(reply: str, previous: str):
    revision = parse_revision(reply, previous)
    assert revision.action in ("keep", "add", "revise")
    assert revision.action != "keep" or revision == Revision("keep", previous)
    assert revision.action != "add" or revision.answer.startswith(previous.rstrip())


@given(st.text(), st.text(min_size=1), st.sampled_from(["add", "Add to it", "append", "extend"]))
def test_whatever_is_added_nothing_of_the_answer_is_lost(addition: str, previous: str, action: str):
    revision = parse_revision(json.dumps({"action": action, "answer": addition}), previous)
    assert revision.action in (("add", "keep") if previous.strip() else ("revise", "keep"))
    assert revision.answer.startswith(previous.rstrip())


@pytest.mark.parametrize(
    "piece", ['{"action": "revise", "answer": "', "keep ", "no change ", '"answer": "x" ', "the original answer ", "{'"]
)
def test_work_is_bounded(piece: str):
    started = time.process_time()
    parse_revision('{"action": "revise" ' + piece * (100_000 // len(piece)), PREVIOUS)
    parse_revision(piece * (100_000 // len(piece)), PREVIOUS)
    assert time.process_time() - started < 1.5
