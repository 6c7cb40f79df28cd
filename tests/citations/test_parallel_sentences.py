"""Several things said alike, one after the other: each keeps what is said of it."""

from __future__ import annotations

import pytest

from tests.citations.test_alignment import aligned

ROOMS = "The kitchen has 12 square metres. The bathroom has 7 square metres. The living room has 26 square metres."
TONNEN = "Die rote Tonne wird am Montag geleert. Die blaue Tonne wird am Freitag geleert."
POUBELLES = "Les poubelles jaunes sont ramassées le mercredi. Les poubelles grises sont ramassées le lundi."
VITAMINS = "Vitamin A is found in carrots and liver. Vitamin C is found in oranges."
PLANS = "Plan A costs 20 euros and has 5 GB; plan B costs 30 euros and has 10 GB."
BINS = "Grey bins are emptied on Mondays and green bins on Thursdays."
MIETEN = "Die Miete für ein ganzes Beet steigt auf 64 Euro, die für ein halbes Beet auf 35 Euro."
CHAMBRES = "La chambre bleue coûte 68 euros la nuit et la chambre verte 82 euros."
DINER = "Le petit déjeuner est servi dans la cuisine, le dîner sous la tonnelle."
YEARS = "Revenue in 2021 was 12.4 million. Revenue in 2020 was 11.0 million."
KEYS = "Mr. Wolf repairs the boiler every September. Mrs. Lamb keeps the spare key."


@pytest.mark.parametrize(
    ("claim", "question", "text"),
    [
        ("The kitchen has 7 square metres.", "How large is the kitchen?", ROOMS),
        ("The bathroom has 26 square metres.", "How large is the bathroom?", ROOMS),
        ("7 square metres", "How large is the kitchen?", ROOMS),
        ("Die rote Tonne wird am Freitag geleert.", "Wann wird die rote Tonne geleert?", TONNEN),
        ("Freitag", "Wann wird die rote Tonne geleert?", TONNEN),
        ("Les poubelles jaunes sont ramassées le lundi.", "Quand sont ramassées les poubelles jaunes ?", POUBELLES),
        ("Vitamin A is found in oranges.", "Where is vitamin A found?", VITAMINS),
        ("oranges", "Where is vitamin A found?", VITAMINS),
        ("Plan A costs 30 euros.", "What does plan A cost?", PLANS),
        ("Plan B has 5 GB.", "How much data has plan B?", PLANS),
        ("Mondays", "When are the green bins emptied?", BINS),
        ("Green bins are emptied on Mondays.", "When are the green bins emptied?", BINS),
        ("64 Euro", "Wie hoch ist die Miete für ein halbes Beet?", MIETEN),
        ("68 euros", "Combien coûte la chambre verte ?", CHAMBRES),
        ("Le dîner est servi dans la cuisine.", "Où le dîner est-il servi ?", DINER),
        ("Revenue in 2021 was 11.0 million.", "What was revenue in 2021?", YEARS),
        ("11.0 million", "What was revenue in 2021?", YEARS),
        ("Mr. Wolf keeps the spare key.", "Who keeps the spare key?", KEYS),
    ],
)
def test_what_is_said_of_another_is_no_support(claim: str, question: str, text: str) -> None:
    assert aligned(claim, question, text).grade == "not_confirmed"


@pytest.mark.parametrize(
    ("claim", "question", "text"),
    [
        ("The kitchen has 12 square metres.", "How large is the kitchen?", ROOMS),
        ("26 square metres", "How large is the living room?", ROOMS),
        ("Die blaue Tonne wird am Freitag geleert.", "Wann wird die blaue Tonne geleert?", TONNEN),
        ("Freitag", "Wann wird die blaue Tonne geleert?", TONNEN),
        ("Le mercredi.", "Quand sont ramassées les poubelles jaunes ?", POUBELLES),
        ("Vitamin C is found in oranges.", "Where is vitamin C found?", VITAMINS),
        ("Plan B costs 30 euros.", "What does plan B cost?", PLANS),
        ("11.0 million", "What was revenue in 2020?", YEARS),
        ("Mr. Wolf.", "Who repairs the boiler?", KEYS),
        ("Thursdays", "When are the green bins emptied?", BINS),
        ("35 Euro", "Wie hoch ist die Miete für ein halbes Beet?", MIETEN),
        ("82 euros", "Combien coûte la chambre verte ?", CHAMBRES),
        ("Le petit déjeuner est servi dans la cuisine.", "Où est servi le petit déjeuner ?", DINER),
        ("£360", "What may small repairs cost in a year?", "Small repairs cost up to £90 each and £360 in any year."),
        # A sentence goes on about what was named before it.
        ("Anna Ost died in 1990.", "When did Anna Ost die?", "Anna Ost was born in 1950. She died in 1990."),
        (
            "Renovating the kitchen cost 5,000 euros.",
            "What did renovating the kitchen cost?",
            "The kitchen fan cost 120 euros. The kitchen was renovated in 2019. The work cost 5,000 euros.",
        ),
        ("The old boiler is repaired by the janitor.", "Who repairs it?", "The boiler is old. The janitor repairs it."),
    ],
)
def test_what_is_said_of_the_same_is_support(claim: str, question: str, text: str) -> None:
    assert aligned(claim, question, text).grade != "not_confirmed"


def test_a_heading_names_the_subject() -> None:
    text = "The hall has 40 square metres. It was painted last. The walls took 12 days; the floor took 3 days."
    assert aligned("12 days", "How long did the walls of the kitchen take?", text, label="Kitchen").number == 1


def test_a_table_before_the_sentences_changes_nothing() -> None:
    table = "| room | door |\n|---|---|\n" + "".join(f"| hall {at} | oak |\n" for at in range(12))
    assert aligned("7 square metres", "How large is the kitchen?", f"{table}\n{ROOMS}").grade == "not_confirmed"
    assert aligned("12 square metres", "How large is the kitchen?", f"{table}\n{ROOMS}").grade != "not_confirmed"
