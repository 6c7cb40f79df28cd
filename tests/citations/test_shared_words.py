"""Which sentences support a claim by the words that they share, in more than one language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.citations.citation_record import LONGEST
from anabranch.citations.read_passages import PassageText
from anabranch.citations.shared_words import LONGEST_NEAREST, MAX_CLAIM, TOO_LONG, Aligned, SharedWords

LEASE = (
    "The boiler is serviced every October by Harlow Heating Ltd. The landlord bears the cost of this service. The "
    "deposit of £2,450 is held by Castle Deposits. The rent of £1,225 is due on the third working day of each month."
)
MIETE = (
    "Der Kessel wird jeden Oktober von Anna Berg gewartet. Der Vermieter trägt die Kosten dieser Wartung. Die Kaution "
    "von 2.450 Euro verwahrt Karl Ost. Die Miete von 1.225 Euro ist am dritten Werktag jedes Monats fällig."
)
WEIR = "The weir was built in 1850 by Ada Stern. Herons nest at the mill."
TABLE = (
    "Results ($ million):\n\n| | 2021 | 2020 |\n|---|---|---|\n| Revenue | 3,208 | 2,365 |\n"
    "| Net loss | 1,009 | 1,752 |\n"
)
FERRIES = " ".join(f"Ferry {name} calls at Dunmore on Mondays." for name in ("Alma", "Berta", "Cora", "Dora", "Etta"))


def place(claim: str, question: str, *texts: str, cited: tuple[int, ...] = (), label: str = "") -> Aligned:
    passages = {number: PassageText(str(number), text, label) for number, text in enumerate(texts, start=1)}
    found = SharedWords(passages, question).place_claim(claim, cited)
    assert (found.grade == "not_confirmed") is (not found.places)
    for number, start, end in found.places:
        assert 0 <= start < end <= len(passages[number].text)
        assert end - start <= LONGEST
    return found


def words(found: Aligned, *texts: str) -> list[str]:
    return [texts[number - 1][start:end] for number, start, end in found.places]


@pytest.mark.parametrize("cited", [(), (1,), (2,), (2, 1), (7,), (7, 2)])
def test_of_equal_passages_the_cited_one_comes_first(cited: tuple[int, ...]) -> None:
    texts = ("The weir was built in 1850.", "The weir was built in 1850.")
    for claim in ("The weir was built in 1850.", "In 1850 the weir was built."):
        (found,) = place(claim, "", *texts, cited=cited).places
        assert found.number == (2 if cited in ((2,), (7, 2)) else 1)


@pytest.mark.parametrize(
    ("claim", "question", "text", "span"),
    [
        (
            "Harlow Heating Ltd services the boiler in October.",
            "Who services the boiler?",
            LEASE,
            "The boiler is serviced every October by Harlow Heating Ltd.",
        ),
        (
            "The service costs what the landlord bears.",
            "Who bears the cost?",
            LEASE,
            "The landlord bears the cost of this service.",
        ),
        (
            "Anna Berg wartet den Kessel im Oktober.",
            "Wer wartet den Kessel?",
            MIETE,
            "Der Kessel wird jeden Oktober von Anna Berg gewartet.",
        ),
        # The numbers of the table's row, with the names of its columns.
        (
            "The net loss was $1,009 in 2021.",
            "What was the net loss in 2021?",
            TABLE,
            "| Net loss | 1,009 | 1,752 |",
        ),
        # Two sentences in a row.
        (
            "Herons nest at the mill, whose weir Ada Stern built in 1850.",
            "Who built the weir?",
            WEIR,
            WEIR,
        ),
    ],
)
def test_other_words_in_another_order_are_found(claim: str, question: str, text: str, span: str) -> None:
    found = place(claim, question, "Boats were sold in May.", text)
    assert found.grade == "found"
    assert words(found, "", text) == [span]


@pytest.mark.parametrize(
    ("claim", "question", "text", "reason"),
    [
        (
            "The deposit of £2,550 is held by Castle Deposits.",
            "How much is the deposit?",
            LEASE,
            "2,550 is in no passage",
        ),
        ("Die Kaution von 2.550 Euro verwahrt Karl Ost.", "Wie hoch ist die Kaution?", MIETE, "2.550 is in no passage"),
        ("The weir of model HX-200 was built by Ada Stern in 1850.", "Who?", WEIR, "HX-200 is in no passage"),
        ("The weir was bought from Bo Lind.", "Who sold the weir?", WEIR, "Bo and Lind are in no passage"),
        ("The mill was painted green by the new tenants.", "Who painted the mill?", WEIR, ""),
        # A small number may stand as a word.
        ("It has 3 gates and no roof or walls.", "What does it have?", "It has three doors.", ""),
        # A passage has more sentences than are compared.
        ("It was 77 m high and green.", "How high was it?", "Yes.\n\n" * 500 + "Over 77 m.", ""),
    ],
)
def test_a_reason_is_a_fact(claim: str, question: str, text: str, reason: str) -> None:
    found = place(claim, question, text)
    assert (found.grade, found.reason) == ("not_confirmed", reason)


@pytest.mark.parametrize(
    ("question", "claim", "reason"),
    [
        ("Who bought the mill in 1912?", "The mill was bought in 1912 by the Olsen family.", "1912 is in no passage"),
        ("Who bought the mill AB-77?", "The mill AB-77 was bought by the Olsen family.", "AB-77 is in no passage"),
        ("Wer bekam 5.000 Euro?", "The Olsen family bought the mill for 5.000 euros.", "5.000 is in no passage"),
        ("Who bought the mill in 1890?", "The mill was bought in 1890 by the Olsen family.", ""),
    ],
)
def test_a_number_that_only_the_question_gives_is_not_confirmed(question: str, claim: str, reason: str) -> None:
    found = place(claim, question, "The mill at Halden was bought by the Olsen family.", "Since 1890 it is closed.")
    assert (bool(found.places), found.reason) == (not reason, reason)


@pytest.mark.parametrize(("label", "held"), [("Annual report 2021", True), ("Annual report 2020", False), ("", False)])
def test_a_label_says_what_its_passage_is_about(label: str, held: bool) -> None:
    found = place("In 2021 revenue rose by 12 %.", "By how much did it rise?", "Revenue rose by 12 %.", label=label)
    assert (found.grade != "not_confirmed") is held


@pytest.mark.parametrize(
    ("asked", "held"), [("Which harbour does the ferry Alma call at?", True), ("Which harbour?", False)]
)
def test_words_of_the_question_may_stand_elsewhere_in_the_passage(asked: str, held: bool) -> None:
    text = f"The ferry Alma is blue. It is old. {'It is sold. ' * 4}It calls at Dunmore on Mondays."
    found = place("The ferry Alma calls at Dunmore.", asked, text, FERRIES.replace("Dunmore", "Cork"))
    assert bool(found.places) is held


@pytest.mark.parametrize(
    ("question", "first", "second", "claim", "wrong", "elsewhere"),
    [
        (
            "Where did the engineer of the Pelican sluice settle?",
            "The Pelican sluice was drawn up by Ada Brix, who worked for the harbour board until 1887.",
            "After her retirement Ada Brix settled in Halden with her sister.",
            "Ada Brix drew up the Pelican sluice and settled in Halden.",
            "Ada Brix drew up the Pelican sluice and settled in Orsova.",
            "Otto Lind settled in Orsova when the mill closed.",
        ),
        (
            "Wie viele Einwohner hat die Stadt der Brauerei Ternhof?",
            "Die Brauerei Ternhof steht seit 1790 in Aldersberg am Fluss Unz.",
            "Aldersberg hat 4310 Einwohner und einen Bahnhof.",
            "Die Brauerei Ternhof steht in Aldersberg, das 4310 Einwohner hat.",
            "Die Brauerei Ternhof steht in Aldersberg, das 9120 Einwohner hat.",
            "Quellstadt hat 9120 Einwohner.",
        ),
    ],
)
def test_two_passages_with_a_bridge_support_a_claim_together(
    question: str, first: str, second: str, claim: str, wrong: str, elsewhere: str
) -> None:
    texts = (elsewhere, FERRIES, second, first)
    found = place(claim, question, *texts)
    assert (found.grade, words(found, *texts)) == ("found", [first, second])
    assert place(wrong, question, *texts).grade == "not_confirmed"
    # Without the bridge, two passages are about two things.
    assert place(claim, question, elsewhere, FERRIES, second.replace("Ada Brix", "Eva Ost"), first).grade == (
        "found" if "Aldersberg" in claim else "not_confirmed"
    )


def test_a_word_of_the_question_elsewhere_in_a_passage_is_no_bridge() -> None:
    asked = "How many new queens did the colonies with and without flower strips produce?"
    claim = "Colonies on farms with flower strips produced an average of 22.5 new queens, the others 12.4."
    texts = (
        "Colonies with flower strips weighed more. They had 1.8 times as many new queens (22.5 against 12.4).",
        "The allotments, where strips of flower beds feed colonies, are let. Few are left. It is so. The average wait "
        "of farms is now 19 months.",
    )
    assert place(claim, asked, *texts).grade == "not_confirmed"
    # Where the sentence has such a word itself, it is one.
    there = texts[1].replace("average wait of", "average wait for strips of")
    assert [each.number for each in place(claim, asked, texts[0], there).places] == [1, 2]


def test_two_short_files_support_a_claim_together() -> None:
    texts = ("The Pelican sluice was drawn up by Ada Brix.", "Ada Brix settled in Halden in 1890.")
    asked = "Where did the engineer of the Pelican sluice settle?"
    found = place("Ada Brix drew up the Pelican sluice and settled in Halden.", asked, *texts)
    assert words(found, *texts) == [*texts]
    assert not place("Ada Brix drew up the Pelican sluice and settled in Bergen.", asked, *texts).places


def test_the_nearest_words_share_the_rarest_ones_and_are_few() -> None:
    texts = ("The weir is old. The weir is green. The weir is wide.", "It was opened in May by Ada Ost. It is long.")
    assert place("The weir was painted by Ost.", "Who did?", *texts).nearest == "It was opened in May by Ada Ost."
    assert place("Zebras graze.", "Who sold it?", *texts).nearest == ""
    assert place("The weir is old.", "", *texts).nearest == ""
    long = f"It {'went on and on ' * 18}until the weir was sold to Ada Ost{' and so on' * 8}."
    nearest = place("Ada Ost repainted the bridge in blue.", "Who painted it?", long).nearest
    assert len(nearest) <= LONGEST_NEAREST
    assert "the weir was sold to Ada Ost" in nearest


@pytest.mark.parametrize("texts", [(), ("",), ("", WEIR), (" \n",)])
def test_without_passages_nothing_is_found(texts: tuple[str, ...]) -> None:
    assert place("Pigs fly in May 1990.", "Do pigs fly?", *texts).grade == "not_confirmed"
    assert place("", "", *texts).grade == "not_confirmed"


def test_a_claim_that_is_too_long_is_not_read() -> None:
    assert place("a " * MAX_CLAIM, "", WEIR) == TOO_LONG


@pytest.mark.parametrize(
    ("claim", "quote", "text", "held"),
    [
        ("Ada Stern erected it in 1850.", "The weir was built in 1850 by Ada Stern", WEIR, True),
        ("Ada Stern erected it in 1851.", "The weir was built in 1850 by Ada Stern", WEIR, False),
        ("Ada Stern erected it in 1850.", "The weir was erected by Ada Stern", WEIR, False),
        ("Anna Berg pflegt ihn im Oktober.", "Der Kessel wird jeden Oktober von Anna Berg gewartet", MIETE, True),
    ],
)
def test_a_quote_that_somebody_gives_has_to_stand_there(claim: str, quote: str, text: str, held: bool) -> None:
    found = SharedWords({4: PassageText("a", text)}).place_quote(claim, quote)
    assert (found.grade == "found") is held
    assert all(quote in text[start:end] for _, start, end in found.places)
    assert bool(found.places) is held


def test_a_judge_reads_the_nearest_places_a_row_below_its_header() -> None:
    passages = {1: PassageText("a", WEIR), 2: PassageText("b", TABLE), 3: PassageText("c", LEASE)}
    found = SharedWords(passages, "What was the net loss in 2020?")
    (first, *others) = found.find_nearest("The net loss was 1,752.")
    assert found.read_place(first) == "| | 2021 | 2020 |\n| Net loss | 1,009 | 1,752 |"
    assert len(others) == 1
    assert found.find_nearest("The net loss was 1,752.", [first])[0] == first


TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from([*LEASE.split(), "|", "\n", "\n\n", ". ", "12", "A" * 500])).map(" ".join),
)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_places_are_words_of_the_passages(claim: str, question: str, one: str, other: str) -> None:
    found = place(claim, question, one, other, label=question)
    assert 0 <= found.score <= 1
    assert len({each.number for each in found.places}) == len(found.places) <= 2
    assert len(found.nearest) <= LONGEST_NEAREST


@given(TEXTS)
def test_sentences_cover_a_passage_without_its_blanks(text: str) -> None:
    read = PassageText("a", text).sentences
    assert "".join("".join(text[each.start : each.end].split()) for each in read) == "".join(text.split())
    assert all(each.end - each.start <= LONGEST for each in read)
