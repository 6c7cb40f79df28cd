from __future__ import annotations

import pytest

from anabranch.agent.nodes.settings import Context
from anabranch.errors import SettingsError
from anabranch.safety.prompt_envelope import DATA
from anabranch.safety.prompt_template import PLACES, checked_prompt, filled, is_template, messages

JSON = 'Reply with {"sufficient": true} or {{context_str}} or {} or { query_str }.'


def test_what_is_put_in_is_not_looked_at_again() -> None:
    text = "a {query_str} b {0} c {context_str} d } e {"
    assert filled("<{context_str}|{query_str}>", context_str=text, query_str="{context_str}!") == (
        f"<{text}|{{context_str}}!>"
    )


def test_braces_that_are_no_placeholder_stay() -> None:
    assert not is_template(JSON)
    assert filled(JSON, context_str="x", query_str="y") == JSON
    assert checked_prompt("grade", JSON) == JSON


def test_the_name_of_the_question_may_be_short() -> None:
    assert filled("{num_queries}: {query}", query_str="q", num_queries="3") == "3: q"
    assert checked_prompt("rewrite", "{query}")


def test_an_instruction_is_the_system_message_and_a_template_the_users() -> None:
    values = {"context_str": "P", "query_str": "Q"}
    assert messages("Judge.", "usual", **values) == ("Judge.", "usual")
    assert messages("{context_str} {query_str}", "usual", **values) == (DATA, "P Q")


@pytest.mark.parametrize("step", PLACES)
@pytest.mark.parametrize("prompt", ["Beantworte {frage}", "{context_str} {context} {query_str}"])
def test_an_unknown_placeholder_is_refused_with_the_known_ones(step: str, prompt: str) -> None:
    with pytest.raises(SettingsError) as raised:
        Context(**{f"{step}_prompt": prompt})
    for name in PLACES[step]:
        assert f"{{{name}}}" in raised.value.message
    assert f"there is no placeholder {{{'frage' if 'frage' in prompt else 'con'}" in raised.value.message


@pytest.mark.parametrize(
    ("step", "prompt", "said"),
    [
        ("create", "{query_str}", "lacks {context_str}"),
        ("refine", "{context_str} {query_str}", "lacks {existing_answer}"),
        ("rewrite", "Write {num_queries} queries.", "lacks {query_str}"),
        ("reduce", "{context_str} {query_str} {context_str}", "more than once"),
    ],
)
def test_a_template_that_cannot_work_is_refused(step: str, prompt: str, said: str) -> None:
    with pytest.raises(SettingsError, match="cannot be") as raised:
        Context(**{f"{step}_prompt": prompt})
    assert said in raised.value.message


def test_every_prompt_setting_has_its_places() -> None:
    assert {name.removesuffix("_prompt") for name in Context.model_fields if name.endswith("_prompt")} == set(PLACES)
