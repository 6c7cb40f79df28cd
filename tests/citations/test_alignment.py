"""Where a claim stands, and what no span may support, in more than one language."""

from __future__ import annotations

import pytest

from anabranch.citations.alignment import Aligned, Alignment
from anabranch.citations.passage_text import PassageText

LEASE = (
    "The boiler is serviced every October by Harlow Heating Ltd. The landlord bears the cost of this service. The "
    "deposit of £2,450 is held by Castle Deposits. The rent of £1,225 is due on the third working day of each month."
)
MIETE = (
    "Der Kessel wird jeden Oktober von Anna Berg gewartet. Der Vermieter trägt die Kosten dieser Wartung. Die Kaution "
    "von 2.450 Euro verwahrt Karl Ost. Die Miete von 1.225 Euro ist am dritten Werktag jedes Monats fällig."
)
WEIR = "The weir was built in 1850 by Ada Stern. Herons nest at the mill."
RENT = (
    "The monthly rent is £1,250, payable in advance. The rent does not include council tax, water or electricity. "
    "Broadband is included."
)
MIETZINS = (
    "Die Miete beträgt monatlich 900 Euro. Die Miete enthält Heizung, Wasser und Strom nicht. Internet ist enthalten. "
    "Wasser ist nicht enthalten."
)
BOOTE = "Filippi verlangte 24.900 Euro, Empacher 27.300 Euro und Swift 13.750 Euro."
TABLE = (
    "Results ($ million):\n\n| | 2021 | 2020 |\n|---|---|---|\n| Revenue | 3,208 | 2,365 |\n"
    "| Net loss | 1,009 | 1,752 |\n"
)


def aligned(claim: str, question: str, *texts: str, cited: tuple[int, ...] = (), label: str = "") -> Aligned:
    passages = {number: PassageText(str(number), text, label) for number, text in enumerate(texts, start=1)}
    found = Alignment(passages, question).place_claim(claim, cited)
    start, end = found.span
    assert (found.grade == "not_confirmed") is (found.number == 0)
    assert not found.number or 0 <= start < end <= len(passages[found.number].text)
    return found


def shown(found: Aligned, *texts: str) -> str:
    return texts[found.number - 1][slice(*found.span)] if found.number else ""


@pytest.mark.parametrize("cited", [(), (1,), (2,), (2, 1), (7,), (7, 2)])
def test_the_passage_that_is_cited_comes_first(cited: tuple[int, ...]) -> None:
    texts = ("It is said that the weir was built in 1850.", WEIR)
    found = aligned("The weir was built in 1850.", "", *texts, cited=cited)
    assert found.number == (2 if cited in ((2,), (2, 1), (7, 2)) else 1)


@pytest.mark.parametrize(
    ("claim", "question", "text", "span"),
    [
        (
            "October",
            "When is the boiler serviced?",
            LEASE,
            "The boiler is serviced every October by Harlow Heating Ltd.",
        ),
        ("Harlow Heating Ltd.", "Who services the boiler?", LEASE, "The boiler is serviced every October by Harlow"),
        ("£2,450", "How much is the deposit?", LEASE, "The deposit of £2,450 is held by Castle Deposits."),
        ("Oktober", "Wann wird der Kessel gewartet?", MIETE, "Der Kessel wird jeden Oktober von Anna Berg gewartet."),
        ("Anna Berg", "Wer wartet den Kessel?", MIETE, "Der Kessel wird jeden Oktober von Anna Berg gewartet."),
        ("2.450 Euro", "Wie hoch ist die Kaution?", MIETE, "Die Kaution von 2.450 Euro verwahrt Karl Ost."),
    ],
)
def test_a_short_answer_stands_where_the_question_is_spoken_of(claim: str, question: str, text: str, span: str) -> None:
    found = aligned(claim, question, WEIR, text)
    assert found.grade == "quoted"
    assert shown(found, WEIR, text).startswith(span)


@pytest.mark.parametrize(
    ("claim", "question", "text"),
    [
        ("Castle Deposits", "When do herons nest at the mill?", f"{LEASE} {WEIR}"),
        ("Harlow Heating Ltd", "Who built the weir?", f"{LEASE} {WEIR}"),
        ("Karl Ost", "Wer baute das Wehr?", f"Das Wehr baute Ada Stern. Es hält gut. Reiher nisten dort. {MIETE}"),
        (
            "Astrid",
            "Who will succeed Henrik Dahl?",
            "The Astrid was sold in June. Henrik Dahl will be succeeded by Bo Ost.",
        ),
        (
            "Astrid",
            "Chi succede a Henrik Dahl?",
            "La nave Astrid fu venduta in giugno. A Henrik Dahl succede Bo Ost.",
        ),
        ("November", "When is the boiler serviced?", LEASE),
        ("Dezember", "Wann wird der Kessel gewartet?", MIETE),
    ],
)
def test_a_short_answer_that_stands_elsewhere_is_none(claim: str, question: str, text: str) -> None:
    assert aligned(claim, question, text).grade == "not_confirmed"


@pytest.mark.parametrize(
    ("claim", "question", "text"),
    [
        ("Harlow Heating Ltd services the boiler in October.", "Who services the boiler?", LEASE),
        ("The cost of the service is borne by the landlord.", "Who bears the cost?", LEASE),
        ("The rent is 1,225 pounds.", "How much is the rent?", LEASE),
        ("Anna Berg wartet den Kessel im Oktober.", "Wer wartet den Kessel?", MIETE),
        ("Die Kosten der Wartung trägt der Vermieter.", "Wer trägt die Kosten?", MIETE),
    ],
)
def test_other_words_in_another_order(claim: str, question: str, text: str) -> None:
    assert aligned(claim, question, text).grade == "found"


@pytest.mark.parametrize(
    ("claim", "question", "text"),
    [
        ("The boiler is serviced every November by Harlow Heating Ltd.", "When is the boiler serviced?", LEASE),
        ("The boiler is not serviced every October by Harlow Heating Ltd.", "When is the boiler serviced?", LEASE),
        ("The tenant bears the cost of this service.", "Who bears the cost?", LEASE),
        ("The deposit of £1,225 is held by Castle Deposits.", "How much is the deposit?", LEASE),
        ("The deposit of €2,450 is held by Castle Deposits.", "How much is the deposit?", LEASE),
        ("Der Kessel wird jeden November von Anna Berg gewartet.", "Wann wird der Kessel gewartet?", MIETE),
        ("Der Kessel wird nicht jeden Oktober von Anna Berg gewartet.", "Wann wird der Kessel gewartet?", MIETE),
        ("Der Mieter trägt die Kosten dieser Wartung.", "Wer trägt die Kosten?", MIETE),
        ("Die Kaution von 2.450 Dollar verwahrt Karl Ost.", "Wie hoch ist die Kaution?", MIETE),
    ],
)
def test_a_wrong_twin_is_refused(claim: str, question: str, text: str) -> None:
    assert aligned(claim, question, text).grade == "not_confirmed"


@pytest.mark.parametrize(
    ("claim", "question", "text", "held"),
    [
        ("Revenue rose by 12 %.", "By how much did revenue rise in 2021?", "Revenue rose by 12 % in 2021.", True),
        ("Revenue rose by 12 %.", "By how much did revenue rise in 2019?", "Revenue rose by 12 % in 2021.", False),
        ("Der Umsatz stieg um 12 %.", "Um wie viel stieg der Umsatz 2021?", "Der Umsatz stieg 2021 um 12 %.", True),
        ("Der Umsatz stieg um 12 %.", "Um wie viel stieg der Umsatz 2019?", "Der Umsatz stieg 2021 um 12 %.", False),
        ("Ada Stern", "Which engineer built the weir of the HX-200 mill?", WEIR, False),
        ("Ada Stern", "Welche Person baute das Wehr der HX-200?", "Das Wehr wurde gebaut von Ada Stern.", False),
        # "US" may be spelt out, and "3-letter" says no more than "3 letters".
        ("Ada Stern", "Which engineer from the US built the weir?", WEIR, True),
        ("Ada Stern", "Welche Person aus den US baute das Wehr?", "Das Wehr wurde gebaut von Ada Stern.", True),
        ("Ada", "What is the 3-letter first name of the engineer who built the weir?", WEIR, True),
        ("The weir was built by the US engineer Ada Stern.", "Which US engineer built the weir?", WEIR, True),
    ],
)
def test_every_figure_and_code_of_the_question_is_needed(claim: str, question: str, text: str, held: bool) -> None:
    assert (aligned(claim, question, text).grade != "not_confirmed") is held


@pytest.mark.parametrize(("label", "held"), [("Annual report 2021", True), ("Annual report 2020", False), ("", False)])
def test_what_a_label_says_counts(label: str, held: bool) -> None:
    found = aligned(
        "Revenue rose by 12 %.", "By how much did revenue rise in 2021?", "Revenue rose by 12 %.", label=label
    )
    assert (found.grade != "not_confirmed") is held


@pytest.mark.parametrize(
    ("claim", "question", "held"),
    [
        ("$1,009 million", "What was the net loss in 2021?", True),
        ("The net loss was $1,009 million.", "What was the net loss in 2021?", True),
        ("The net loss in 2020 was $1,752 million.", "What was the net loss in 2020?", True),
        ("$1,009 million", "What was the net loss in 2020?", False),
        ("The net loss in 2020 was $1,009 million.", "What was the net loss in 2020?", False),
        ("The net loss in 2021 was $3,208 million.", "What was the net loss in 2021?", False),
        ("1,009", "What was the net loss in 2021?", True),
        ("1,009", "What was the net loss in 2020?", False),
        ("1,009", "What was the net loss in 2019?", False),
    ],
)
def test_a_row_of_a_table_with_its_column(claim: str, question: str, held: bool) -> None:
    found = aligned(claim, question, TABLE)
    assert (found.grade != "not_confirmed") is held
    assert not held or shown(found, TABLE) == "| Net loss | 1,009 | 1,752 |"


@pytest.mark.parametrize(
    ("claim", "quote", "text", "held"),
    [
        ("Ada Stern erected it in 1850.", "The weir was built in 1850 by Ada Stern", WEIR, True),
        ("Ada Stern erected it in 1851.", "The weir was built in 1850 by Ada Stern", WEIR, False),
        ("Bo Lind erected it.", "The weir was built in 1850 by Ada Stern", WEIR, False),
        ("Ada Stern never erected it.", "The weir was built in 1850 by Ada Stern", WEIR, False),
        ("Ada Stern erected it in 1850.", "The weir was erected by Ada Stern", WEIR, False),
        ("Anna Berg pflegt ihn im Oktober.", "Der Kessel wird jeden Oktober von Anna Berg gewartet", MIETE, True),
        ("Anna Berg pflegt ihn im Mai.", "Der Kessel wird jeden Oktober von Anna Berg gewartet", MIETE, False),
    ],
)
def test_words_that_somebody_gives_for_a_claim(claim: str, quote: str, text: str, held: bool) -> None:
    found = Alignment({4: PassageText("a", text)}).place_quote(claim, quote)
    assert (found.grade == "found") is held
    assert not held or quote in text[slice(*found.span)]


def test_what_no_passage_has_is_named() -> None:
    said = "The weir was built in 1862 by Bo Lind, not by Ada Ost."
    assert aligned(said, "Who built the weir?", WEIR).reason == "1862, Bo Lind and Ost are in no passage"
    said = "Das Wehr baute im März 1862 nicht Ada Stern, sondern Bo Lind."
    found = aligned(said, "Wer baute das Wehr?", "Das Wehr baute Ada Stern.")
    assert found.reason == "März 1862 and Bo Lind are in no passage"


@pytest.mark.parametrize(
    ("claim", "text", "reason"),
    [
        ("It costs £24.90.", "It costs €24.90.", "£24.90 is in no passage"),
        ("It costs 24,90 € a day.", "It costs a lot.", "24,90 € is in no passage"),
        ("It takes 15 %.", "It takes 150 %.", "15 % is in no passage"),
        # What stands there of something else is there.
        ("It takes 5 weeks.", "It takes 5 days.", ""),
        ("It sank.", "It floats.", ""),
        # The name of the question, too.
        ("The Ostrand weir is high.", "The weir is wide.", "Ostrand is in no passage"),
        # A passage has more sentences than are compared.
        ("It was 77 m.", "Yes.\n\n" * 500 + "It was 77 m, not in 1850 but later.", ""),
    ],
)
def test_a_reason_is_a_fact(claim: str, text: str, reason: str) -> None:
    found = aligned(claim, "How high is the Ostrand weir, and what does it cost or take?", text)
    assert (found.grade, found.reason) == ("not_confirmed", reason)


def test_the_nearest_words_are_those_that_share_the_rarest_ones() -> None:
    texts = ("The weir is old. The weir is green. The weir is wide.", "It was opened in May by Ada Ost. It is long.")
    assert aligned("The weir was painted by Ost.", "Who did?", *texts).nearest == "It was opened in May by Ada Ost."
    assert aligned("Zebras graze.", "Who sold it?", *texts).nearest == ""
    # A number is shared where it is the same one.
    numbers = ("It has 12 doors. It has 120 windows.",)
    assert aligned("Zebras ate 120 apples.", "Who ate?", *numbers).nearest == "It has 120 windows."
    assert aligned("Zebras ate 1,200 apples.", "Who ate?", *numbers).nearest == ""
    assert aligned("The weir is old.", "", *texts).nearest == ""


def test_the_nearest_words_are_few_and_hold_what_is_shared() -> None:
    text = f"It {'went on and on ' * 20}until the weir was sold to Ada Ost{' and so on' * 30}."
    nearest = aligned("Ada Ost repainted the weir in blue.", "Who painted it?", text).nearest
    assert len(nearest) <= 200
    assert "the weir was sold to Ada Ost" in nearest


@pytest.mark.parametrize("texts", [(), ("",), ("", WEIR), (" \n",)])
def test_without_passages_nothing_is_held(texts: tuple[str, ...]) -> None:
    assert aligned("Pigs fly in May 1990.", "Do pigs fly?", *texts).grade == "not_confirmed"
    assert aligned("", "", *texts).grade == "not_confirmed"


@pytest.mark.parametrize(
    ("claim", "question", "text", "held"),
    [
        (
            'The mill in the song "A Man Without Love" was built by Ada Stern.',
            'Who built the mill in the song "A Man Without Love"?',
            "Ada Stern built the mill of the song. A man found love there.",
            True,
        ),
        (
            "Die Mühle aus „Ein Mann Ohne Liebe“ wurde von Ada Stern gebaut.",
            "Wer baute die Mühle aus „Ein Mann Ohne Liebe“?",
            "Die Mühle wurde von Ada Stern gebaut.",
            True,
        ),
        # Whatever is no title is denied.
        ("The mill without a wheel was built by Ada Stern.", "Who built the mill without a wheel?", WEIR, False),
        ("The weir was not built by Ada Stern.", 'Who did not build the weir of "A Man Without Love"?', WEIR, False),
    ],
)
def test_what_a_title_denies_is_no_denial(claim: str, question: str, text: str, held: bool) -> None:
    assert (aligned(claim, question, text).grade != "not_confirmed") is held


LEADER = "The current leader of the opposition is Wina Kiiza Odongo of the Forum for Democratic Change."
CHEF = "Actuellement le chef de l'opposition est Wina Kiiza Odongo du Forum Pour le Changement Démocratique."


@pytest.mark.parametrize(
    ("claim", "question", "text", "label", "held"),
    [
        (
            "The leader of the opposition in Uganda is Wina Kiiza Odongo of the Forum for Democratic Change.",
            "Who is the leader of the opposition in the country of Buyende?",
            LEADER,
            "Opposition in Uganda",
            True,
        ),
        (
            "The leader of the opposition in Uganda is Wina Kiiza Odongo of the Forum for Democratic Change.",
            "Who is the leader of the opposition in the country of Buyende?",
            LEADER,
            "Opposition in Kenya",
            False,
        ),
        # An answer has to stand in the sentence itself.
        (
            "The current leader of the opposition is Uganda.",
            "Who is the leader of the opposition?",
            LEADER,
            "Opposition in Uganda",
            False,
        ),
        (
            "Le chef de l'opposition en Ouganda est Wina Kiiza Odongo du Forum Pour le Changement.",
            "Qui est le chef de l'opposition dans le pays de Buyende ?",
            CHEF,
            "Politique en Ouganda",
            True,
        ),
        (
            "Le chef de l'opposition en Ouganda est Wina Kiiza Odongo du Forum Pour le Changement.",
            "Qui est le chef de l'opposition dans le pays de Buyende ?",
            CHEF,
            "Politique au Kenya",
            False,
        ),
    ],
)
def test_what_a_passage_is_headed_by_need_not_be_named(
    claim: str, question: str, text: str, label: str, held: bool
) -> None:
    assert (aligned(claim, question, text, label=label).grade != "not_confirmed") is held


@pytest.mark.parametrize(
    ("claim", "question", "text", "held"),
    [
        ("Yes, broadband is included in the rent.", "Is broadband included in the rent?", RENT, True),
        ("No, water is not included in the rent.", "Is water included in the rent?", RENT, True),
        ("Yes, water is included in the rent.", "Is water included in the rent?", RENT, False),
        ("Ja, Internet ist in der Miete enthalten.", "Ist Internet in der Miete enthalten?", MIETZINS, True),
        ("Nein, Wasser ist nicht enthalten.", "Ist Wasser in der Miete enthalten?", MIETZINS, True),
        ("Ja, Wasser ist in der Miete enthalten.", "Ist Wasser in der Miete enthalten?", MIETZINS, False),
    ],
)
def test_what_one_sentence_denies_is_not_what_the_next_one_says(
    claim: str, question: str, text: str, held: bool
) -> None:
    assert (aligned(claim, question, text).grade != "not_confirmed") is held


@pytest.mark.parametrize(
    ("claim", "question", "text", "held"),
    [
        ("The rent is £1,250 a year.", "How much is the rent?", RENT, False),
        ("The rent is £1,250 a month.", "How much is the rent?", RENT, True),
        ("It runs for 18 months.", "How long does it run?", "It runs for 18 months, at 900 a year.", True),
        ("Die Miete beträgt 900 Euro im Jahr.", "Wie hoch ist die Miete?", MIETZINS, False),
        ("Die Miete beträgt 900 Euro im Monat.", "Wie hoch ist die Miete?", MIETZINS, True),
        ("Le loyer est de 900 euros par an.", "Quel est le loyer ?", "Le loyer mensuel est de 900 euros.", False),
        ("Le loyer est de 900 euros par mois.", "Quel est le loyer ?", "Le loyer mensuel est de 900 euros.", True),
    ],
)  # fmt: skip
def test_what_is_paid_by_the_month_is_not_paid_by_the_year(claim: str, question: str, text: str, held: bool) -> None:
    assert (aligned(claim, question, text).grade != "not_confirmed") is held


@pytest.mark.parametrize(
    ("claim", "question", "text", "held"),
    [
        ("Bo paid 5 euros.", "How much did Bo pay?", "Ada paid 5 euros, Bo 7 euros and Cem 9.", False),
        ("Bo paid 7 euros.", "How much did Bo pay?", "Ada paid 5 euros, Bo 7 euros and Cem 9.", True),
        ("Oslo sent 24 boats.", "Who sent what?", "24 boats came from Bergen and 31 boats from Oslo.", False),
        ("Swift verlangte 27.300 Euro.", "Wie viel verlangte Swift?", BOOTE, False),
        ("Swift verlangte 13.750 Euro.", "Wie viel verlangte Swift?", BOOTE, True),
        ("Swift got 5 boats.", "How many did Swift get?", "Filippi sold 5 boats to Swift and 7 to Empacher.", True),
    ],
)
def test_a_number_of_a_list_belongs_to_its_own_name(claim: str, question: str, text: str, held: bool) -> None:
    assert (aligned(claim, question, text).grade != "not_confirmed") is held


@pytest.mark.parametrize(
    ("claim", "question", "text"),
    [
        (
            "The drug lowers blood pressure in adults.",
            "What does the drug do?",
            "There is no evidence that the drug lowers blood pressure in adults.",
        ),
        (
            "Refunds are given for tickets bought online.",
            "Are refunds given?",
            "No refunds are given for tickets bought online.",
        ),
        (
            "Alle Mitglieder zahlen den vollen Beitrag von 72 Euro.",
            "Wer zahlt den Beitrag?",
            "Nicht alle Mitglieder zahlen den vollen Beitrag von 72 Euro.",
        ),
        (
            "Les billets achetés en ligne sont remboursés.",
            "Les billets sont-ils remboursés ?",
            "Personne ne croit que les billets achetés en ligne sont remboursés.",
        ),
        (
            "The drug lowers blood pressure.",
            "What does the drug do?",
            "Nobody says that the drug lowers blood pressure.",
        ),
    ],
)
def test_words_that_stand_in_a_denial_are_no_support(claim: str, question: str, text: str) -> None:
    assert aligned(claim, question, text).grade == "not_confirmed"


@pytest.mark.parametrize(
    ("claim", "question", "text"),
    [
        (
            "The bridge was closed in May.",
            "When was it closed?",
            "The ferry did not run and the bridge was closed in May.",
        ),
        ("The bridge was closed in May.", "When was it closed?", "Nobody was hurt, the bridge was closed in May."),
        ("1990", "When did the pool open?", "The pool opened not in 1985 but in 1990."),
        (
            "Die Brücke wurde im Mai gesperrt.",
            "Wann wurde sie gesperrt?",
            "Die Fähre fuhr nicht und die Brücke wurde im Mai gesperrt.",
        ),
    ],
)
def test_a_denial_reaches_no_farther_than_its_clause(claim: str, question: str, text: str) -> None:
    assert aligned(claim, question, text).grade != "not_confirmed"


@pytest.mark.parametrize(
    ("claim", "question", "text", "holds"),
    [
        ("The shop closes at 18:30.", "When does the shop close?", "The shop is open from 9:30 to 18:00.", False),
        ("9:00 to 18:30", "When is the shop open?", "The shop is open from 9:30 to 18:00 on weekdays.", False),
        ("The last bus leaves at 10:40 pm.", "When is the last bus?", "The last bus leaves at 22:40.", True),
        ("The last bus leaves at 10:40 am.", "When is the last bus?", "The last bus leaves at 10:40 pm.", False),
        ("Der Laden öffnet um 9:30 Uhr.", "Wann öffnet der Laden?", "Der Laden öffnet um 9.30 Uhr.", True),
        ("Le magasin ouvre à 9:30.", "Quand ouvre le magasin ?", "Le magasin ouvre à 9h30.", True),
        ("Le magasin ouvre à 9h00.", "Quand ouvre le magasin ?", "Le magasin ouvre à 9h30.", False),
        ("Growth was 2.5% in 2020.", "What was growth in 2020?", "Growth was -2.5% in 2020 and 3.1% in 2021.", False),
        ("Growth was -2.5% in 2020.", "What was growth in 2020?", "Growth was -2.5% in 2020 and 3.1% in 2021.", True),
        ("Sales fell by 2.5% in 2020.", "How did sales develop?", "Sales: -2.5% in 2020, 3.1% in 2021.", True),
        ("Es waren 5 °C am Montag.", "Wie kalt war es am Montag?", "Am Montag waren es −5 °C.", False),
        ("5 °C", "What was it on Monday?", "It was -5 °C on Monday.", False),
        ("Net income was -1,009 million.", "What was net income?", "Net income was (1,009) million.", True),
        ("It takes 5 to 10 days.", "How long does it take?", "It takes 5-10 days.", True),
        ("It takes 5 to 12 days.", "How long does it take?", "It takes 5–10 days.", False),
        ("About 25 people came.", "How many people came?", "About twenty-five people came.", True),
        ("25 Gäste", "Wie viele kamen zum Fest?", "Zum Fest kamen fünfundzwanzig Gäste, die lange blieben.", True),
        ("Le départ est à 10:30.", "Quand est le départ ?", "Le départ est à 10 h 30, le repas à midi.", True),
        ("The boat leaves at 19:15.", "When does the boat leave?", "The boat leaves at 7.15 pm.", True),
        ("The boat leaves at 7.15 am.", "When does the boat leave?", "The boat leaves at 7.15 pm.", False),
        ("It runs from November to March.", "When does it run?", "It runs from March to November.", False),
        ("Der Preis stieg von 7 auf 6 Euro.", "Wie stieg der Preis?", "Der Preis stieg von 6 auf 7 Euro.", False),
        ("Bo and 6 others paid 7.", "Who paid?", "6 others and Bo paid 7.", True),
        ("Plan A costs 30 euros.", "What does plan A cost?", "Plan B costs 30 euros.", False),
        ("9", "How many floors has building A?", "Building B has 9 floors, a roof and a hall.", False),
        ("Le plan A coûte 30 euros.", "Combien coûte le plan A ?", "Le plan B coûte 30 euros.", False),
        ("The spare key is with Mrs. Fox.", "Who keeps the spare key?", "Mrs. Lamb keeps the spare key.", False),
        ("Die Heizung wartet Frau Dr. Fuchs.", "Wer wartet die Heizung?", "Die Heizung wartet Frau Dr. Lamm.", False),
        (
            "Keys stand in .env and .env.local is ignored.",
            "Where?",
            "Keys stand in .env and .env.local is ignored.",
            True,
        ),
        (
            "Fermé : lundi ; mardi.",
            "Quand est-ce fermé ?",
            "Le musée est ouvert le dimanche et les jours de fête. Fermé : lundi ; mardi.",
            True,
        ),
    ],
)
def test_times_signs_ranges_letters_and_names(claim: str, question: str, text: str, holds: bool) -> None:
    assert (aligned(claim, question, text).grade != "not_confirmed") is holds


ROWED = "| Group | 2022 | 2023 |\n|---|---|---|\n| Youth | 8,760 | 7,905 |\n| Adults | 31,420 | 34,085 |\n"
WINTER = (
    "Life jackets hang in the hall. Between 1 November and 15 March, nobody rows alone. A single scull has one seat."
)
HIVER = "Les gilets sont dans le hall. Entre le 1er novembre et le 15 mars, personne ne rame seul."


@pytest.mark.parametrize(
    ("claim", "question", "text", "holds"),
    [
        ("In 2023, the youth section rowed 7,905 km.", "How many kilometres did the youth row in 2023?", ROWED, True),
        ("In 2023, the youth section rowed 8,760 km.", "How many kilometres did the youth row in 2023?", ROWED, False),
        ("The path is 5 km long.", "How long is the path?", "The path of 5 benches is long.", False),
        ("Der Weg ist 5 km lang.", "Wie lang ist der Weg?", "Der Weg ist fünf Kilometer lang.", True),
        ("Le billet coûte 5 EUR.", "Combien coûte le billet ?", "Le billet coûte 5 euros.", True),
        ("Le billet coûte 5 EUR.", "Combien coûte le billet ?", "Le billet coûte 5 dollars.", False),
        ("Nobody rows alone between 1 November and 15 March.", "May I row alone in December?", WINTER, True),
        ("Nobody rows alone between 1 November and 15 March.", "May I row alone in June?", WINTER, False),
        ("Nobody rows alone in November.", "May I row alone in December?", WINTER, False),
        ("Personne ne rame seul du 1er novembre au 15 mars.", "Peut-on ramer seul en janvier ?", HIVER, True),
        ("Personne ne rame seul du 1er novembre au 15 mars.", "Peut-on ramer seul en mai ?", HIVER, False),
    ],
)
def test_symbols_of_units_and_months_within_a_range(claim: str, question: str, text: str, holds: bool) -> None:
    assert (aligned(claim, question, text).grade != "not_confirmed") is holds


@pytest.mark.parametrize(
    ("claim", "question", "text", "holds"),
    [
        (
            "The boats made of wood are the Heron and Old Margaret.",
            "Which boats are made of wood?",
            'Wooden boats ("Heron" and "Old Margaret") hang in a hall. Oars lie below. Wood is what it is made of.',
            True,
        ),
        (
            "The boats made of wood are the Heron and Old Margaret.",
            "Which boats are made of wood?",
            'Racing boats ("Heron" and "Old Margaret") hang in a hall. Oars lie below. Wood is what it is made of.',
            False,
        ),
        (
            "Le barche fatte di legno sono la Heron e la Old Margaret.",
            "Quali barche sono fatte di legno?",
            'Le barche legnose ("Heron" e "Old Margaret") stanno in sala. I remi no. Le porte sono fatte di legno.',
            True,
        ),
    ],
)
def test_a_word_of_the_question_may_have_another_ending(claim: str, question: str, text: str, holds: bool) -> None:
    assert (aligned(claim, question, text).grade != "not_confirmed") is holds


HOUSE = (
    "Dogs are allowed on the lawn. They are not allowed on the pontoon. The stove is not going to be repaired. The "
    "board wants to buy a used stove. Unworn vests can be returned within 21 days. Printed vests cannot be returned."
)
HAUS = (
    "Hunde sind auf der Wiese erlaubt. Sie sind auf dem Steg nicht erlaubt. Der Ofen wird nicht repariert. Der "
    "Vorstand will einen gebrauchten Ofen kaufen. Ungetragene Westen können 21 Tage lang umgetauscht werden. Bedruckte "
    "Westen können nicht umgetauscht werden."
)


@pytest.mark.parametrize(
    ("claim", "question", "text", "holds"),
    [
        ("Yes, dogs are allowed on the pontoon.", "Are dogs allowed on the pontoon?", HOUSE, False),
        ("Dogs are allowed on the pontoon.", "Are dogs allowed on the pontoon?", HOUSE, False),
        ("No, dogs are not allowed on the pontoon.", "Are dogs allowed on the pontoon?", HOUSE, True),
        ("Yes, dogs are allowed on the lawn.", "Are dogs allowed on the lawn?", HOUSE, True),
        ("No, dogs are not allowed on the lawn.", "Are dogs allowed on the lawn?", HOUSE, False),
        ("Yes, the stove was repaired.", "Was the stove repaired?", HOUSE, False),
        ("No, the stove is not going to be repaired.", "Was the stove repaired?", HOUSE, True),
        ("No, printed vests cannot be returned.", "Can printed vests be returned?", HOUSE, True),
        ("Ja, Hunde sind auf dem Steg erlaubt.", "Sind Hunde auf dem Steg erlaubt?", HAUS, False),
        ("Nein, Hunde sind auf dem Steg nicht erlaubt.", "Sind Hunde auf dem Steg erlaubt?", HAUS, True),
        ("Ja, Hunde sind auf der Wiese erlaubt.", "Sind Hunde auf der Wiese erlaubt?", HAUS, True),
        ("Ja, der Ofen wird repariert.", "Wird der Ofen repariert?", HAUS, False),
        ("Nein, der Ofen wird nicht repariert.", "Wird der Ofen repariert?", HAUS, True),
    ],
)
def test_an_answer_of_yes_or_no_is_about_all_that_was_asked(claim: str, question: str, text: str, holds: bool) -> None:
    assert (aligned(claim, question, text).grade != "not_confirmed") is holds


@pytest.mark.parametrize(
    ("claim", "question", "text"),
    [
        (
            "The annual fee for adults is 12 euros a night.",
            "What is the annual fee for adults?",
            "Guests pay 12 euros a night.",
        ),
        (
            "Der Jahresbeitrag für Erwachsene beträgt 12 Euro pro Nacht.",
            "Wie hoch ist der Jahresbeitrag für Erwachsene?",
            "Gäste zahlen 12 Euro pro Nacht.",
        ),
    ],
)
def test_a_price_of_something_else_is_none_of_what_was_asked(claim: str, question: str, text: str) -> None:
    fee = "312 euros: annual fee, adults." if "euros" in text else "312 Euro: Jahresbeitrag, Erwachsene."
    assert aligned(claim, question, text, fee).grade == "not_confirmed"
    assert aligned("12", text, text).grade != "not_confirmed"


@pytest.mark.parametrize(("one", "other"), [("weir", "mill"), ("heron", "owl"), ("brook", "lake"), ("barn", "inn")])
def test_of_many_sentences_with_as_many_words_the_first_are_compared(one: str, other: str) -> None:
    # The order of a set of words differs between processes: each of the two may be looked up first.
    for first, second in ((one, other), (other, one)):
        found = f"The {first} was repaired in 1931 by Ada Stern."
        texts = (
            found,
            *(f"A {first} and {n} men." for n in range(70)),
            *(f"A {second} and {n} men." for n in range(70)),
        )
        assert aligned(f"Ada Stern repaired the {first} and the {second} in 1931.", "", *texts).number == 1


@pytest.mark.parametrize(
    ("claim", "question", "text"),
    [
        (
            "Yes, you can return goods within 14 days.",
            "Can I send something back if I do not like it?",
            "Goods can be returned within 14 days.",
        ),
        (
            "Ja, das Frühstück ist im Preis enthalten.",
            "Bekomme ich im Hotel Frühstück ohne Aufpreis?",
            "Das Frühstück ist im Preis enthalten.",
        ),
        (
            "However, the pool closes at 10 pm on Sundays.",
            "How late can I swim in the evening at the weekend?",
            "The pool closes at 10 pm on Sundays.",
        ),
    ],
)
def test_a_reply_need_not_have_words_that_nobody_has(claim: str, question: str, text: str) -> None:
    assert aligned(claim, question, text).grade != "not_confirmed"
