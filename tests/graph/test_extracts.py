"""Answers without a chat model over the graph: what stands in the documents, as it stands there, or nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from anabranch.agent.nodes.settings import Context
from anabranch.ingestion.pipeline import ingest
from anabranch.synthesis.verbatim_text import VERBATIM, WEAK_MATCH
from tests.graph.inside import graph

GUIDE = """# The Halden mill

The Halden mill stands by the weir. It was built in 1897 by the engineer Ida Marrow, who came from Vesle.

## Staff

The mill has had many workers, and its workers like the river. At the end of 1921 it had 4,453 workers in three yards.

## Results

The results of the mill are told in thousands of crowns:

|  | 1921 | 1920 |
|---|---|---|
| Net loss | 1,009 | 1,752 |
| Revenue from flour | 3,208 | 2,364 |

## Remove a lock

A lock that is no longer needed is removed with this command:

```sh
weir remove OLD_LOCK
weir list
```

## Wheels

The mill has three kinds of wheels:

- The great wheel turns the stone.
- The small wheel lifts the water.
- The spare wheel stands in the yard.

See the section on staff above for more about wheels and workers of the mill.
"""
OTHER = "# Herons\n\nHerons nest in the meadow every spring. In 1921 there were 12 herons, and that is all.\n"
SATZUNG = (
    "# Satzung\n\nDas Wehr in Halden wurde 1897 von der Ingenieurin Ida Marrow gebaut. Zwölf Reiher nisten am Ufer. "
    "Siehe auch Abschnitt 3 der Satzung.\n\nTabelle 1: Ergebnis der Mühle in Kronen\n\n"
    "|  | 1921 | 1920 |\n|---|---|---|\n| Kosten der Mühle | 1.649 | 1.447 |\n| Umsatz | 3.208 | 2.364 |\n"
)


@pytest.fixture(scope="module")
def mill(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A guide with prose, a table, a list and code; a note on herons; and a text in German."""
    folder = tmp_path_factory.mktemp("mill")
    for name, text in (("mill.md", GUIDE), ("herons.md", OTHER), ("satzung.md", SATZUNG)):
        (folder / "docs").mkdir(exist_ok=True)
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    ingest([folder / "docs"], folder / "corpus")
    return str(folder / "corpus")


async def _turn(question: str, corpus: str, **settings: Any) -> dict[str, Any]:
    return await graph.ainvoke({"question": question}, context=Context(corpus=corpus, **settings))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How many workers does the mill have?", r"it had 4,453 workers in three yards\. \[1\]"),
        ("When was the Halden mill built?", r"built in 1897"),
        ("Who built the Halden mill?", r"Ida Marrow"),
        (
            "What was the net loss of the mill in 1921?",
            r"\|  \| 1921 \| 1920.*\|\n\| --- .*\n\| Net loss \| 1,009 \| 1,752 \[\d\] \|",
        ),
        ("How do I remove a lock?", r"command: \[1\]\n\n```\nweir remove OLD_LOCK\nweir list\n```"),
        (
            "What are the kinds of wheels of the mill?",
            r"wheels:\n\n- The great wheel turns the stone\. \[\d\]\n- The small",
        ),
        (
            "Wie hoch war der Umsatz der Mühle im Jahr 1921?",
            r"\|  \| 1921 \| 1920.*\|\n\| --- .*\n\| Umsatz \| 3\.208 \| 2\.364 \[\d\] \|",
        ),
        (
            "Wann wurde das Wehr in Halden gebaut?",
            r"Das Wehr in Halden wurde 1897 von der Ingenieurin Ida Marrow gebaut\.",
        ),
    ],
)
async def test_the_answer_is_what_is_asked_for_as_it_stands(question: str, said: str, mill: str) -> None:
    state = await _turn(question, mill)
    assert not state["abstained"]
    assert re.search(said, state["answer"]), state["answer"]
    assert "herons" not in state["answer"]
    assert "See the section" not in state["answer"]
    figures = state["verification"]
    # The head of a table is no statement of the passage, but part of each of its rows.
    grades = [each["grade"] for each in state["citations"] if not re.fullmatch(r"[\d |]+", each["claim"])]
    assert set(grades) == {"quoted"}, (state["answer"], state["citations"])
    assert figures["unsupported"] == 0


async def test_the_result_says_what_it_is(mill: str) -> None:
    state = await _turn("When was the Halden mill built?", mill)
    assert state["verification"]["checked"] == VERBATIM
    assert state["messages"][-1].response_metadata["verification"]["checked"] == VERBATIM


async def test_a_refusal_says_nothing_of_how_an_answer_was_written(mill: str) -> None:
    state = await _turn("What is the weight of the Halden wheel?", mill)
    assert (state["abstained"], state["route"]["name"]) == (True, "compose")
    assert state["verification"]["checked"] == ""


@pytest.mark.parametrize(
    ("question", "heading", "said"),
    [
        ("Which submarine paid fees?", "3. Fees", "Each ship pays nine crowns for a night."),
        ("Welches U-Boot zahlt Gebühren?", "3. Gebühren", "Jedes Schiff zahlt neun Kronen für die Nacht."),
    ],
)
async def test_the_nearest_passages_are_shown_by_what_they_say(
    question: str, heading: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "harbour.txt").write_text(f"{heading}\n\n{said}\n", encoding="utf-8")
    ingest([tmp_path / "harbour.txt"], tmp_path / "corpus")
    state = await _turn(question, str(tmp_path / "corpus"))
    assert state["abstained"]
    assert f"- harbour.txt: {said}" in state["answer"].splitlines()


async def test_the_result_says_which_words_of_the_question_were_not_found(mill: str) -> None:
    state = await _turn("When was the Halden mill built and painted?", mill)
    assert "1897" in state["answer"]
    assert state["verification"]["checked"].endswith(". Not in the passages found: painted")


async def test_a_question_that_no_statement_is_about_is_not_answered(mill: str) -> None:
    question = "What is the favourite colour of the king of Halden?"
    assert (await _turn(question, mill))["abstained"]
    state = await _turn(question, mill, grade="none")
    assert not state["abstained"]
    assert state["verification"]["checked"].startswith(WEAK_MATCH)


async def test_a_weak_match_that_does_not_name_the_quantity_is_no_answer(mill: str) -> None:
    state = await graph.ainvoke({"question": "What is the weight of the Halden wheel?"}, context=Context(corpus=mill))
    assert state["abstained"], state["answer"]
    state = await graph.ainvoke({"question": "What was the net loss in 1921?"}, context=Context(corpus=mill))
    assert "1,009" in state["answer"]


@pytest.mark.parametrize(("question", "answered"), [
    ("What was the revenue from flour in 1920?", True),
    ("What was the revenue from flour in 1924?", False),
    ("Wie hoch war der Umsatz der Mühle im Jahr 1920?", True),
    ("Wie hoch war der Umsatz der Mühle im Jahr 1924?", False),
    ("How many workers did the mill in Halden have at the end of 1921?", True),
    ("How many workers did the mill in Sandvik have at the end of 1921?", False),
])  # fmt: skip
async def test_what_is_said_of_another_year_or_place_is_no_answer(question: str, answered: bool, mill: str) -> None:
    assert (await _turn(question, mill))["abstained"] is not answered
    assert not (await _turn(question, mill, grade="none"))["abstained"]


RENT = (
    "# Rent\n\nThe rent of the flat does not include council tax, water or electricity. Broadband is included.\n\n"
    "# Keys\n\nThe tenant holds two keys of the flat and one of the cellar. A lost key is replaced by the landlord.\n"
)
BRIEF = (
    "Ihr Stromverbrauch im Jahr 2024 betrug 2.318 Kilowattstunden. Der Zähler wird im Herbst ersetzt.\n"
    "Das Guthaben von 86,42 Euro werden wir Ihnen bis zum 30. April auf Ihr Konto überweisen.\n"
)
RESERVES = (
    "# Reserves\n\n| Reserve | Hectares | Warden |\n|---|---|---|\n| Saltings | 540 | Peter Hallam |\n"
    "| Hare Down | 175 | Greta Lind |\n\nA bird hide is built at Saltings, where the reserve is widest.\n"
)


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> str:
    """English documents, a few more than a German one, whose stop words their analyser keeps."""
    folder = tmp_path_factory.mktemp("letters")
    for name, text in (("rent.md", RENT), ("mill.md", GUIDE), ("brief.txt", BRIEF), ("reserves.md", RESERVES)):
        (folder / "docs").mkdir(exist_ok=True)
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    ingest([folder / "docs"], folder / "corpus")
    return str(folder / "corpus")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        # A sentence without another word than the question's tells that it is so.
        ("Is broadband included in the rent?", "Broadband is included."),
        # Stop words of the question are no evidence against a passage in its language.
        ("Wie hoch war der Stromverbrauch 2024?", "betrug 2.318 Kilowattstunden."),
        # What was searched for with another letter is evidence with that letter.
        ("Wann wird das Guthaben überwiesen?", "bis zum 30. April"),
        ("Who replaces a lost keyy?", "replaced by the landlord."),
        # A row that has all words of the question is better than prose with some of them.
        ("Who is the warden of Saltings?", "| Saltings | 540 | Peter Hallam [1] |"),
    ],
)
async def test_an_answer_is_told_by_the_words_that_were_searched_for(question: str, said: str, letters: str) -> None:
    state = await _turn(question, letters)
    assert said in state["answer"]
    assert not state["abstained"]


async def test_the_names_of_columns_alone_make_no_row_an_answer(letters: str) -> None:
    assert "| 540 |" not in (await _turn("Which reserve has a warden?", letters, grade="none"))["answer"]


HOUSE = (
    "# The house\n\nThe deposit is 2,400 euros. The heating costs are too high this year.\n\n"
    "| Person | Role |\n|---|---|\n| Anna Keller | Chair |\n| Jim Mass | Treasurer |\n\n"
    "# Questions\n\nHow do I cancel my lease?\n\n"
    "Write a letter to the office. It has to be there before the end of November.\n\n"
    "Where can I park? Behind the hall, next to the red barn.\n\n"
)
HAUS = (
    "# Das Haus\n\nDie Kaution von 2.940 Euro wird nach dem Auszug zurückgezahlt. Die Kosten der Heizung sind in "
    "diesem Jahr zu hoch, und die Fenster sind es auch.\n\n"
    "| Person | Amt |\n|---|---|\n| Anna Keller | Vorsitz |\n| Jürgen Maß | Kassenwart |\n\n"
    "# Fragen\n\nWie kündige ich meinen Vertrag?\n\n"
    "Man schreibt dem Büro einen Brief. Er muss bis Ende November da sein.\n\n"
    "Wo kann ich parken? Hinter der Halle, gleich bei der roten Scheune.\n\n"
)
CASA = "# La casa\n\nEl tren cuesta 42 euros por persona. La cuota de la casa es de 85 euros al mes para cada piso.\n"


@pytest.fixture(scope="module", params=["en", "de", "es"])
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("house")
    (folder / "house.md").write_text({"en": HOUSE, "de": HAUS, "es": CASA}[request.param], encoding="utf-8")
    ingest([folder / "house.md"], folder / "corpus")
    return request.param, str(folder / "corpus")


ASKED = {
    "en": [
        ("How high is the deposit?", "The deposit is 2,400 euros. [1]"),
        ("Who is the treasurer?", "| Person | Role |\n| --- | --- |\n| Jim Mass | Treasurer [1] |"),
        (
            "How do I cancel my lease?",
            "Write a letter to the office. [1] It has to be there before the end of November. [1]",
        ),
        ("Where can I park?", "Behind the hall, next to the red barn. [1]"),
        ("WHERE CAN I PARK?", "Behind the hall, next to the red barn. [1]"),
    ],
    "de": [
        ("Wie hoch ist die Kaution?", "Die Kaution von 2.940 Euro wird nach dem Auszug zurückgezahlt. [1]"),
        ("Wer ist der Kassenwart?", "| Person | Amt |\n| --- | --- |\n| Jürgen Maß | Kassenwart [1] |"),
        (
            "Wie kündige ich meinen Vertrag?",
            "Man schreibt dem Büro einen Brief. [1] Er muss bis Ende November da sein. [1]",
        ),
        ("Wo kann ich parken?", "Hinter der Halle, gleich bei der roten Scheune. [1]"),
    ],
    "es": [("¿Cuánto cuesta el tren?", "El tren cuesta 42 euros por persona. [1]")],
}


async def test_what_asks_how_much_and_what_stands_over_an_answer_lead_to_it(house: tuple[str, str]) -> None:
    language, corpus = house
    answers = [(await _turn(question, corpus))["answer"] for question, _ in ASKED[language]]
    assert answers == [answer for _, answer in ASKED[language]]


LENDING = """# Boats to lend

The archive is copied every night. To restore a volume from the copy, ask the keeper.

| Name | Material | Year |
|---|---|---|
| Heron | Oak | 1988 |
| Grebe | Carbon | 2016 |
| Margaret | Oak | 1971 |

Notice is to be given six weeks before the end of the year.
"""


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Which boats are made of oak?", r"\| Heron \| Oak .*\n\| Margaret \| Oak "),
        ("How long is the notice period?", r"six weeks"),
    ],
)
async def test_words_that_any_question_may_have_need_not_be_in_the_answer(
    question: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "boats.md").write_text(LENDING, encoding="utf-8")
    ingest([tmp_path / "boats.md"], tmp_path / "corpus")
    state = await _turn(question, str(tmp_path / "corpus"))
    assert not state["abstained"]
    assert re.search(said, state["answer"]), state["answer"]


HIRE = """Boat type,Seats,Deposit,Cox needed
Single scull,1,50,no
Eight,8,200,yes
Coxless pair,2,80,no
Gig,5,60,yes
"""


@pytest.mark.parametrize(
    ("question", "rows", "others"),
    [
        ("Which boats need a cox?", r"\| Eight \| 8 .*\n\| Gig \| 5 ", "scull|pair"),
        ("Which boat type needs a cox, and what is its deposit?", r"\| Eight \| 8 .*\n\| Gig \| 5 ", "scull|pair"),
    ],
)
async def test_a_yes_in_a_column_says_of_its_row_what_the_column_is_called(
    question: str, rows: str, others: str, tmp_path: Path
) -> None:
    (tmp_path / "hire.csv").write_text(HIRE, encoding="utf-8")
    (tmp_path / "notes.md").write_text("I need someone who has a licence. The boats are in the hall.", encoding="utf-8")
    ingest([tmp_path / "hire.csv", tmp_path / "notes.md"], tmp_path / "corpus")
    state = await _turn(question, str(tmp_path / "corpus"))
    assert re.search(rows, state["answer"]), state["answer"]
    assert not re.search(others, state["answer"]), state["answer"]


BAND = (
    "# Open day\n\nThe open day on 4 May 2024 brought 310 visitors. The brass band of Tarrow played for two hours. "
    "The band has found a new hall. Ask the boatman to register it. Call 112 and say the number on the bank.\n"
)
CHOIR = "\n# Choir\n\nThe choir of Tarrow was founded in 1904. The phone number of the choir is 0170 4456.\n"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("When was the brass band founded?", ""),
        ("What is the phone number of the boatman?", ""),
        ("When was the choir of Tarrow founded?", "founded in 1904"),
        ("What is the phone number of the choir?", "0170 4456"),
    ],
)
async def test_english_a_date_or_a_number_that_is_not_there_is_not_replaced_by_something_else(
    question: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "days.md").write_text(BAND + (CHOIR if said else ""), encoding="utf-8")
    ingest([tmp_path / "days.md"], tmp_path / "corpus")
    state = await _turn(question, str(tmp_path / "corpus"))
    assert state["abstained"] == (not said)
    assert said in state["answer"]


async def test_english_a_reason_is_given_where_it_is_asked_why(tmp_path: Path) -> None:
    text = (
        "# June\n\nMarlow finished the work. The work of Marlow was paid.\n\nThey took Marlow because Hydro was late.\n"
    )
    (tmp_path / "june.md").write_text(text, encoding="utf-8")
    ingest([tmp_path / "june.md"], tmp_path / "corpus")
    state = await _turn("Why did they choose Marlow?", str(tmp_path / "corpus"))
    assert "because Hydro was late" in state["answer"]
