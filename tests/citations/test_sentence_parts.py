"""Two parts of a sentence: each keeps what is said of it."""

from __future__ import annotations

import pytest

from tests.citations.test_alignment import aligned

COVER = "The violin is covered worldwide; the watch is covered only in the United Kingdom."
MAJORITIES = "Satzungsänderungen brauchen eine Mehrheit von drei Vierteln, die Auflösung eine von vier Fünfteln."
POOL = "El Abono A incluye la piscina y cuesta 24 euros; el Abono B incluye el gimnasio y cuesta 37 euros."
VOTES = "Dorothy Keeble was elected chair with 19 votes; Ian Salt received 12."
THEFT = "Tell us about a loss within 30 days, and about theft or vandalism within 7 days."
GRILL = "Les barbecues à charbon sont interdits sur les balcons ; les appareils électriques sont tolérés."
FILMS = (
    'Roddy Ost (born 2 April 1930 in London) is an actor who has appeared in films such as Walt Disney\'s "The Cats", '
    'where he appeared as Edgar; "Love"; and Clint Wood\'s "White Heart", playing Thompson.'
)
ADAPTERS = "The adapter for Redis is maintained by Irena Novak, the one for Kafka by Samuel Oduya."
OFFICES = "The firm has offices in Lyon, which opened in 1998, and in Nantes, which opened in 2004."
BUEROS = "Die Firma hat Büros in Lyon, welches 1998 eröffnet wurde, und in Nantes, welches 2004 eröffnet wurde."
CANAL = "The canal was dug between 1788 and 1794 to carry coal. The lock is 31 miles from the sea."


@pytest.mark.parametrize(
    ("claim", "question", "text"),
    [
        ("The watch is covered worldwide.", "Is the watch covered abroad?", COVER),
        (
            "Yes, the watch is covered worldwide, whereas the violin is covered only in the United Kingdom.",
            "Is the watch covered abroad?",
            COVER,
        ),
        ("Eine Satzungsänderung braucht eine Mehrheit von vier Fünfteln.", "Was braucht sie?", MAJORITIES),
        ("Ian Salt was elected chair with 19 votes, ahead of Dorothy Keeble with 12.", "Who was elected chair?", VOTES),
        ("A theft must be reported within 30 days.", "How soon must a theft be reported?", THEFT),
        (
            "Oui, les barbecues à charbon sont tolérés sur les balcons, mais "
            "les appareils électriques y sont interdits.",
            "Peut-on faire un barbecue sur son balcon ?",
            GRILL,
        ),
    ],
)
def test_what_one_part_says_is_not_said_of_the_other(claim: str, question: str, text: str) -> None:
    assert aligned(claim, question, text).grade == "not_confirmed"


@pytest.mark.parametrize(
    ("claim", "question", "text"),
    [
        ("The watch is covered only in the United Kingdom.", "Is the watch covered abroad?", COVER),
        ("Satzungsänderungen brauchen drei Viertel der Mehrheit.", "Was brauchen sie?", MAJORITIES),
        ("El Abono A sale por 24 euros.", "¿Cuánto cuesta el Abono A?", POOL),
        ("Ian Salt received 12 votes.", "How many votes did Ian Salt receive?", VOTES),
        ("Dorothy Keeble was elected chair with 19 votes, and Ian Salt received 12.", "Who was elected chair?", VOTES),
        ("Theft must be reported within 7 days.", "How soon must a theft be reported?", THEFT),
        ("The office in Lyon opened in 1998.", "Where are the offices?", OFFICES),
        ("Das Büro in Lyon wurde 1998 eröffnet.", "Wo sind die Büros?", BUEROS),
        ('Roddy Ost appeared in the film "The Cats".', "In what film did Roddy Ost appear?", FILMS),
        ("Samuel Oduya", "Who maintains the adapter for Kafka?", ADAPTERS),
        ("It was dug between 1788 and 1794.", "When was the canal dug?", CANAL),
        (
            "Nobody rows alone between 1 November and 15 March.",
            "May I row alone in December?",
            "Between 1 November and 15 March, nobody rows alone.",
        ),
    ],
)
def test_what_a_part_says_of_its_own_subject_is_support(claim: str, question: str, text: str) -> None:
    assert aligned(claim, question, text).grade != "not_confirmed"
