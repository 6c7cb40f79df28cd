import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.readers.frontmatter import front_matter


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("no", "no"),
        ("true", True),
        ("'true'", "true"),
        ("12:30", "12:30"),
        ("2024-05-01", "2024-05-01"),
        ("7", 7),
        ("-7.5", -7.5),
        ("1e3", "1e3"),
        ("0x1F", "0x1F"),
        ("01234", "01234"),
        ("12345678901234567890", "12345678901234567890"),
        (".inf", ".inf"),
        ("~", None),
        ("[a, 1, {b: c}]", ["a", 1, {"b": "c"}]),
        ('"tab\\tstop \\u200b"', "tab\tstop "),
        (">\n  two\n  lines\n", "two lines\n"),
    ],
)
def test_values_mean_what_they_look_like(written: str, meant: object) -> None:
    found = front_matter(f"---\nkey: {written}\n---\nbody")
    assert (found.facts, found.body, found.unread, found.notes) == ({"key": meant}, "body", "", ())


@pytest.mark.parametrize(
    "text", ["", "body", "--- \nbody", "----\na: b\n----\nbody", " ---\na: b\n---\nbody", "---\n- a\n---\nb"]
)
def test_text_without_front_matter_is_text(text: str) -> None:
    found = front_matter(text)
    assert (found.body, found.facts, found.unread) == (text, {}, "")


def test_front_matter_may_be_empty_or_end_in_dots() -> None:
    assert front_matter("---\n---\nbody").body == "body"
    assert front_matter("---\n# a comment\n...\nbody").facts == {}


def test_twenty_levels_are_read_and_one_more_is_too_deep_however_many_facts_there_are() -> None:
    many = "".join(f"key {number}: [a, {{b: c}}]\n" for number in range(50))
    deep = "deep: " + "[" * 19 + "]" * 19
    assert len(front_matter(f"---\n{many}{deep}\n---\nbody").facts) == 51
    deeper = front_matter(f"---\ndeep: {'[' * 20}{']' * 20}\n---\nbody")
    assert "nested too deeply" in deeper.notes[0]


@pytest.mark.work(60)
@pytest.mark.parametrize("written", ["a: " + "[" * 60_000, "- " * 30_000, "{" * 60_000, "a: [" + "1," * 30_000 + "]"])
def test_hostile_front_matter_takes_seconds_at_most(written: str) -> None:
    found = front_matter(f"---\n{written}\n---\nbody")
    assert found.body == "body"


@given(st.text("ab: -[]{}#&*!|>'\"\n\t%@,?1.~\\", max_size=60))
def test_any_front_matter_gives_facts_or_text(written: str) -> None:
    found = front_matter(f"---\n{written}\n---\nbody")
    json.dumps(found.facts, allow_nan=False)
    assert found.body.endswith("body")
    assert bool(found.notes) == bool(found.notes and not found.facts)
