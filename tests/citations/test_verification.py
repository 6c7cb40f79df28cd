from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.citations.claims import markers
from anabranch.citations.passage_text import LONGEST, PassageText
from anabranch.citations.verification import Verified, verify

PASSAGES = {
    1: PassageText("a", "Revenue rose by 12% to $2,000 million in 2020. Operating costs did not fall."),
    2: PassageText("b", "The eﬃcient exam-\nple shows “low costs” in Norway. Lyft was founded in 2012 by Logan Green."),
    5: PassageText("c", "Bridges carry roads over rivers. The Forth Bridge opened in March 1890 in Scotland."),
}
SENTENCES = [
    (1, "Revenue rose by 12% to $2,000 million in 2020."),
    (1, "Operating costs did not fall."),
    (2, "Lyft was founded in 2012 by Logan Green."),
    (5, "Bridges carry roads over rivers."),
    (5, "The Forth Bridge opened in March 1890 in Scotland."),
]


def shown(checked: Verified) -> list[int]:
    return [number for marker in markers(checked.answer) for number in marker.numbers]


def check_laws(checked: Verified, passages: dict[int, PassageText]) -> None:
    seen = list(dict.fromkeys(shown(checked)))
    assert seen == list(range(1, len({record.number for record in checked.citations}) + 1))
    assert {record.marker for record in checked.citations} == set(seen)
    for record in checked.citations:
        passage = passages[record.number]
        assert record.quote == passage.text[record.start : record.end] != ""
        assert record.chunk_id == passage.id
        assert record.verified
        assert len(record.quote) <= LONGEST
    assert len({(record.claim, record.number) for record in checked.citations}) <= len(checked.citations)
    assert 0 <= checked.coverage <= 1
    assert 0 <= checked.precision <= 1
    assert len(checked.unsupported) <= checked.claims


def test_a_quote_that_stands_in_its_passage():
    answer = "The example was efficient, with low costs in Norway [2]."
    checked = verify(answer, {2: ['The efficient example shows "low costs" in Norway']}, PASSAGES)
    assert checked.answer == "The example was efficient, with low costs in Norway [1]."
    (record,) = checked.citations
    assert record.quote == "The eﬃcient exam-\nple shows “low costs” in Norway"
    assert not record.repaired
    assert (checked.coverage, checked.precision) == (1.0, 1.0)


def test_an_invented_quote_is_repaired_from_the_passage_it_cites():
    checked = verify("Revenue rose 12% in 2020 [1].", {1: ["Revenue soared by 12% in the year 2020"]}, PASSAGES)
    (record,) = checked.citations
    assert record.repaired
    assert record.quote == SENTENCES[0][1]


def test_a_quote_that_has_nothing_to_do_with_the_claim_does_not_verify_it():
    checked = verify("Aliens landed at Roswell [5].", {5: ["Bridges carry roads over rivers"]}, PASSAGES)
    assert checked.citations == ()
    assert checked.answer == "Aliens landed at Roswell. [?]"
    assert checked.unsupported == ("Aliens landed at Roswell.",)
    assert (checked.coverage, checked.precision) == (0.0, 0.0)


def test_a_claim_that_cites_the_wrong_passage_or_none():
    checked = verify("Lyft was founded in 2012 [1]. The Forth Bridge opened in 1890.", {}, PASSAGES)
    assert checked.answer == "Lyft was founded in 2012. [1] The Forth Bridge opened in 1890. [2]"
    assert [record.number for record in checked.citations] == [2, 5]
    assert all(record.repaired for record in checked.citations)
    assert (checked.coverage, checked.precision) == (1.0, 0.0)


def test_citing_everything_does_not_make_everything_a_source():
    checked = verify("The Forth Bridge opened in 1890 [1][2][5][9].", {}, PASSAGES)
    assert checked.answer == "The Forth Bridge opened in 1890 [1]."
    assert [record.number for record in checked.citations] == [5]
    assert checked.precision == 0.25


def test_each_clause_needs_only_its_own_numbers():
    checked = verify("Lyft was founded in 2012 [2] and the Forth Bridge opened in 1890 [5].", {}, PASSAGES)
    assert checked.answer == "Lyft was founded in 2012 [1] and the Forth Bridge opened in 1890 [2]."


def test_links_go_first():
    checked = verify("Lyft was founded in 2012 [2](https://evil.example/?q=x).", {}, PASSAGES)
    assert checked.answer == "Lyft was founded in 2012 [1]."


def test_a_long_quote_is_cut_to_what_supports_the_claim():
    passages = {
        1: PassageText("a", "Birds sing at dawn. " * 40 + "The tower is 324 metres tall. " + "Fish swim. " * 40)
    }
    checked = verify("The tower is 324 metres tall [1].", {1: [passages[1].text]}, passages)
    assert "324 metres tall" in checked.citations[0].quote
    assert len(checked.citations[0].quote) <= LONGEST
    assert not checked.citations[0].repaired


def test_a_short_sentence_copied_whole_needs_no_repair():
    passages = {1: PassageText("a", "We did it. Congratulations to all of you.")}
    checked = verify("Congratulations to all of you. [1]", {1: ["Congratulations to all of you."]}, passages)
    assert not checked.citations[0].repaired


def test_no_claims():
    checked = verify("", {}, PASSAGES)
    assert checked == Verified("", (), (), 0, 0.0, 1.0)


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=6), st.booleans())
def test_sentences_of_the_passages_always_hold(chosen: list[tuple[int, str]], quoted: bool):
    answer = " ".join(f"{text} [{number}]" for number, text in chosen)
    quotes = {number: [text for other, text in chosen if other == number] for number in PASSAGES} if quoted else {}
    checked = verify(answer, quotes, PASSAGES)
    check_laws(checked, PASSAGES)
    assert (checked.coverage, checked.precision, checked.unsupported) == (1.0, 1.0, ())
    assert [record.quote for record in checked.citations] == [text for _, text in chosen]
    assert {record.repaired for record in checked.citations} == {not quoted}
    moved = {record.marker: PASSAGES[record.number] for record in checked.citations}
    again = verify(checked.answer, {}, moved)
    assert again.answer == checked.answer


@given(st.sampled_from(SENTENCES), st.integers(3_000, 99_999))
def test_a_number_that_is_nowhere_is_not_supported(sentence: tuple[int, str], number: int):
    claim = f"{sentence[1][:-1]}, {number} in all"
    checked = verify(f"{claim} [{sentence[0]}].", {sentence[0]: [sentence[1]]}, PASSAGES)
    assert checked.unsupported == (f"{claim}.",)
    assert checked.answer == f"{claim}. [?]"


TOKENS = [text for _, text in SENTENCES] + [
    "[1]",
    "[2, 5]",
    "[9]",
    "[?]",
    "[",
    "]",
    "1",
    ",",
    " ",
    "\n",
    "- ",
    "# ",
    "`",
    ".",
    ":",
]
ANSWERS = st.one_of(st.text(max_size=150), st.lists(st.sampled_from(TOKENS), max_size=15).map("".join))


@settings(max_examples=300)
@given(ANSWERS, st.dictionaries(st.sampled_from([1, 2, 5, 9]), st.lists(ANSWERS, max_size=2)), st.text(max_size=80))
def test_the_laws_hold_for_any_text(answer: str, quotes: dict[int, list[str]], other: str):
    passages = PASSAGES | {3: PassageText("d", other)}
    check_laws(verify(answer, quotes, passages), passages)


@pytest.mark.parametrize(
    "sentence", ["Revenue {} rose in the year 2020 and more [1-9]. ", "[1]", "a, ", "Foo bar [1] "]
)
@pytest.mark.work(10)  # quadratic work would take a minute here
def test_a_very_long_answer_survives(sentence: str):
    many = {number: PassageText(str(number), PASSAGES[1].text * 100) for number in range(1, 10)}
    answer = "".join(sentence.format(index) for index in range(50_000 // len(sentence)))
    check_laws(verify(answer, {1: ["Revenue rose by 12%"]}, many), many)


def test_a_number_in_words_that_is_nowhere_is_not_supported() -> None:
    passage = "An anabranch joins the river again downstream. Anabranches can be small or very long."
    invented = verify(
        "It is always exactly nine miles long [1].", {1: ["can be small or very long"]}, {1: PassageText("a", passage)}
    )
    assert invented.citations == ()
    assert len(invented.unsupported) == 1


@pytest.mark.parametrize("quoted", [True, False])
def test_a_long_sentence_copied_whole_holds(quoted: bool) -> None:
    sentence = (
        "The board, "
        + "which met in May, in June and in July 2020 at Halden, " * 12
        + "did not approve 12 of 21 plans."
    )
    passages = {1: PassageText("a", f"Intro. {sentence} The 8.5 % bond fell.")}
    checked = verify(f"{sentence} [1]", {1: [sentence]} if quoted else {}, passages)
    assert checked.coverage == 1
    assert len(checked.citations[0].quote) <= LONGEST


def test_a_number_of_another_sentence_is_no_support() -> None:
    text = "The Halden weir was built in 1850. The old mill near the weir was built in 1862."
    passages = {1: PassageText("a", text)}
    assert verify("The Halden weir was built in 1862 [1].", {}, passages).citations == ()
    assert verify("The Halden weir was built in 1850 [1].", {}, passages).coverage == 1


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("## The mayor was jailed in 1987\n\nCosts did not fall [1].", "## The mayor was jailed in 1987 [?]"),
        ("**Der Bürgermeister wurde 1987 verhaftet**\n\nCosts did not fall [1].", "verhaftet** [?]"),
        ("Costs did not fall [1]. Did you know that the mayor was jailed in 1987?", "jailed in 1987? [?]"),
        ("The mayor was jailed in 1987:\n- Costs did not fall [1].", "jailed in 1987: [?]\n"),
        ("Costs did not fall [1]. The mayor was jailed in 1987:", "jailed in 1987: [?]"),
    ],
)
def test_a_false_lead_is_marked_and_listed(answer: str, shown: str):
    checked = verify(answer, {}, PASSAGES, "Did the costs fall?")
    assert shown in checked.answer
    assert any("1987" in claim for claim in checked.unsupported)


def test_the_head_of_a_table_and_a_block_of_code_stay_what_they_are():
    answer = (
        "Costs did not fall [1].\n\n```cpp\nint weir = 5;\n```\n\n| Weir | Year |\n|---|---|\n| Forth | 1890 [5] |\n"
    )
    lines = verify(answer, {}, PASSAGES).answer.splitlines()
    assert lines[2:3] + lines[4:6] + lines[7:8] == ["```cpp", "```", "", "|---|---|"]
