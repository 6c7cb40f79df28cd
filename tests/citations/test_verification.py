from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.citation_record import LONGEST
from anabranch.citations.claims import markers
from anabranch.citations.read_passages import PassageText
from anabranch.citations.shared_words import Aligned, SharedWords
from anabranch.citations.verification import MAX_CLAIMS, Verified, attribute, verify

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


def check_laws(checked: Verified, passages: dict[int, PassageText]) -> None:
    seen = list(dict.fromkeys(number for marker in markers(checked.answer) for number in marker.numbers))
    assert seen == list(range(1, len({record.number for record in checked.citations}) + 1))
    assert {record.marker for record in checked.citations} == set(seen)
    for record in checked.citations:
        passage = passages[record.number]
        assert record.quote == passage.text[record.start : record.end] != ""
        assert record.chunk_id == passage.id
        assert record.grade in ("quoted", "found")
        assert len(record.quote) <= LONGEST
    texts = [claim.text for claim in checked.claims]
    assert {record.claim for record in checked.citations} <= set(texts)
    assert checked.share == pytest.approx(1 - len(checked.not_confirmed) / len(texts) if texts else 0)
    assert all(0 <= claim.score <= 1 for claim in checked.claims)


def test_words_that_stand_in_a_passage_are_quoted():
    checked = verify("The efficient example shows low costs in Norway [2].", PASSAGES)
    assert checked.answer == "The efficient example shows low costs in Norway [1]."
    (record,) = checked.citations
    assert record.quote == "The eﬃcient exam-\nple shows “low costs” in Norway."
    assert (record.grade, record.number, record.marker) == ("quoted", 2, 1)


@pytest.mark.parametrize("claim", ["Revenue rose 12% in 2020 [1].", "In 2020, the revenue rose by 12 percent."])
def test_other_words_for_the_same_are_supported(claim: str):
    (record,) = verify(claim, PASSAGES).citations
    assert (record.grade, record.quote) == ("found", SENTENCES[0][1])


def test_a_claim_that_no_passage_says_is_marked():
    checked = verify("Aliens landed at Roswell in 1947 [5].", PASSAGES)
    assert checked.citations == ()
    assert checked.answer == "Aliens landed at Roswell in 1947. [?]"
    assert checked.not_confirmed == ("Aliens landed at Roswell in 1947.",)
    assert checked.claims[0].reason == "Roswell and 1947 are in no passage"


def test_the_program_finds_the_passage_whatever_the_writer_cites():
    checked = verify("Lyft was founded in 2012 [1]. The Forth Bridge opened in 1890.", PASSAGES)
    assert checked.answer == "Lyft was founded in 2012. [1] The Forth Bridge opened in 1890. [2]"
    assert [record.number for record in checked.citations] == [2, 5]


def test_citing_everything_does_not_make_everything_a_source():
    checked = verify("The Forth Bridge opened in 1890 [1][2][5][9].", PASSAGES)
    assert checked.answer == "The Forth Bridge opened in 1890 [1]."
    assert [record.number for record in checked.citations] == [5]


def test_each_clause_needs_only_its_own_numbers():
    checked = verify("Lyft was founded in 2012 [2] and the Forth Bridge opened in 1890 [5].", PASSAGES)
    assert checked.answer == "Lyft was founded in 2012 [1] and the Forth Bridge opened in 1890 [2]."


def test_links_go_first():
    checked = verify("Lyft was founded in 2012 [2](https://evil.example/?q=x).", PASSAGES)
    assert checked.answer == "Lyft was founded in 2012 [1]."


def test_a_quote_is_no_longer_than_a_reader_wants():
    long = PassageText("a", "Birds sing at dawn. " * 40 + "The tower is 324 metres tall. " + "Fish swim. " * 40)
    (record,) = verify("The tower is 324 metres tall [1].", {1: long}).citations
    assert record.quote == "The tower is 324 metres tall."


def test_a_long_sentence_copied_whole_holds():
    sentence = (
        "The board, "
        + "which met in May, in June and in July 2020 at Halden, " * 12
        + "did not approve 12 of 21 plans."
    )
    checked = verify(f"{sentence} [1]", {1: PassageText("a", f"Intro. {sentence} The 8.5 % bond fell.")})
    assert checked.not_confirmed == ()
    assert len(checked.citations[0].quote) <= LONGEST


@pytest.mark.parametrize("passages", [{}, PASSAGES])
def test_no_claims(passages: dict[int, PassageText]):
    assert verify("", passages) == Verified("", (), ())


@pytest.mark.parametrize(
    ("answer", "claimed"),
    [
        ("The passages do not say so.", []),
        ("Die Passagen sagen nicht, wer es baute.", []),
        ("I don't know. The passages do not mention it.", []),
        ("The passages do not say where in Norway Lyft was founded by Logan Green.", []),
        ("The passages do not say when. Lyft was founded in 2012 [2].", ["Lyft was founded in 2012."]),
        ("Aliens landed at Roswell. The passages do not say when.", ["Aliens landed at Roswell."]),
        ("Aliens landed at Roswell.", ["Aliens landed at Roswell."]),
    ],
)
def test_a_refusal_is_no_claim(answer: str, claimed: list[str]):
    assert [claim.text for claim in verify(answer, PASSAGES).claims] == claimed


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=6), st.booleans())
def test_sentences_of_the_passages_always_hold(chosen: list[tuple[int, str]], cited: bool):
    answer = " ".join(f"{text} [{number}]" if cited else text for number, text in chosen)
    checked = verify(answer, PASSAGES)
    check_laws(checked, PASSAGES)
    assert checked.not_confirmed == ()
    assert [(record.quote, record.grade) for record in checked.citations] == [(text, "quoted") for _, text in chosen]
    moved = {record.marker: PASSAGES[record.number] for record in checked.citations}
    assert verify(checked.answer, moved).answer == checked.answer


@given(st.sampled_from(SENTENCES), st.integers(3_000, 99_999))
def test_a_number_that_is_nowhere_is_not_supported(sentence: tuple[int, str], number: int):
    claim = f"{sentence[1][:-1]}, {number} in all"
    checked = verify(f"{claim} [{sentence[0]}].", PASSAGES)
    assert checked.not_confirmed == (f"{claim}.",)
    assert checked.answer == f"{claim}. [?]"
    assert checked.claims[0].reason == f"{number} is in no passage"


TOKENS = [text for _, text in SENTENCES] + [
    "[1]", "[2, 5]", "[9]", "[?]", "[", "]", "1", ",", " ", "\n", "- ", "# ", "`", "```\n", "| a | 1 |\n", ".", ":",
    "No.",
]  # fmt: skip
ANSWERS = st.one_of(st.text(max_size=150), st.lists(st.sampled_from(TOKENS), max_size=15).map("".join))


@given(ANSWERS, ANSWERS, st.text(max_size=60))
def test_the_laws_hold_for_any_text(answer: str, other: str, question: str):
    passages = PASSAGES | {3: PassageText("d", other, question)}
    check_laws(verify(answer, passages, question), passages)


@given(ANSWERS, st.dictionaries(st.integers(0, 3), ANSWERS))
def test_quotes_that_somebody_gives_change_only_what_they_support(answer: str, words: dict[int, str]):
    attribution = attribute(answer, PASSAGES)
    inside = {at: quote for at, quote in words.items() if at < len(attribution.found)}
    quoted = attribution.place_quotes(inside)
    check_laws(quoted.set_markers(), PASSAGES)
    changed = {at for at, pair in enumerate(quoted.found) if pair != attribution.found[at]}
    assert changed <= set(inside)
    assert all(quoted.found[at][1].places for at in changed)


def test_what_was_judged_otherwise_is_shown_so():
    attribution = attribute("Lyft was founded in 2012. Costs did not fall.", PASSAGES)
    assert attribution.unplaced == []
    refused = attribution.replace_alignments({0: Aligned("not_confirmed")})
    assert refused.unplaced == [(0, "Lyft was founded in 2012.")]
    assert refused.set_markers().answer == "Lyft was founded in 2012. [?] Costs did not fall. [1]"


LONG = ["Revenue {} rose in the year 2020 and more [1-9]. ", "[1]", "a, ", "- Halden {}\n"]
ASKED = "By how much did revenue rise in Norway?"
LONG_TOO = [("Foo bar [1] ", ASKED), ("Norway. ", ASKED), (LONG[0], "")]


# Without a question there is only less to do.
@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        *((each, ASKED) for each in LONG),
        *(pytest.param(*each, marks=pytest.mark.exhaustive) for each in LONG_TOO),
    ],
)
@pytest.mark.work(10)  # quadratic work would take a minute here
def test_a_very_long_answer_survives(sentence: str, question: str):
    many = {number: PassageText(str(number), PASSAGES[1].text * 100) for number in range(1, 10)}
    answer = "".join(sentence.format(index) for index in range(50_000 // len(sentence)))
    checked = verify(answer, many, question)
    check_laws(checked, many)
    assert len(checked.claims) - len(checked.not_confirmed) <= MAX_CLAIMS


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
    checked = verify(answer, PASSAGES, "Did the costs fall?")
    assert shown in checked.answer
    assert any("1987" in claim for claim in checked.not_confirmed)


def test_the_head_of_a_table_and_a_block_of_code_stay_what_they_are():
    answer = (
        "Costs did not fall [1].\n\n```cpp\nint weir = 5;\n```\n\n| Weir | Year |\n|---|---|\n| Forth | 1890 [5] |\n"
    )
    lines = verify(answer, PASSAGES).answer.splitlines()
    assert lines[2:5] == ["```cpp", "int weir = 5;", "```"]
    assert lines[6:8] == ["| Weir | Year |", "|---|---|"]


def test_a_claim_that_is_repeated_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    place_claim = SharedWords.place_claim

    def counted(self: SharedWords, claim: str, cited: Sequence[int] = ()) -> Aligned:
        asked.append(claim)
        return place_claim(self, claim, cited)

    monkeypatch.setattr(SharedWords, "place_claim", counted)
    found = attribute(f"{SENTENCES[0][1]} " * 100, PASSAGES)
    assert len(found.set_markers().claims) == 100
    assert len(asked) == 1
