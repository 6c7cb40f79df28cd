from __future__ import annotations

import pytest

from anabranch.citations.lead_in import without_lead_in
from tests.citations.test_alignment import aligned

ROWED = "In 2023 the youth rowed 7,905 kilometres, and Grete Voss counted them."


@pytest.mark.parametrize(
    ("lead_in", "rest"),
    [
        ("According to the information provided in the second passage, ", "the youth rowed 7,905 kilometres."),
        ("Based on the information provided, ", "the youth rowed 7,905 kilometres."),
        ("According to the passages, ", "the youth rowed 7,905 kilometres."),
        ("According to passage 2, ", "the youth rowed 7,905 kilometres."),
        ("Based on passages 1 and 3: ", "12 boats were sold."),
        ("Laut den Passagen ", "ruderte die Jugend 7.905 Kilometer."),
        ("Laut Text ", "12 Boote wurden verkauft."),
        ("Dem Text zufolge ", "ruderte die Jugend 7.905 Kilometer."),
        ("Den bereitgestellten Informationen nach ", "ruderte die Jugend 7.905 Kilometer."),
        ("Selon les passages, ", "les jeunes ont ramé 7 905 kilomètres."),
        ("D'après les informations fournies dans le texte, ", "les jeunes ont ramé 7 905 kilomètres."),
        ("Según el texto, ", "los jóvenes remaron 7.905 kilómetros."),
        ("De acuerdo con la información proporcionada, ", "los jóvenes remaron 7.905 kilómetros."),
        ("Secondo il testo, ", "i giovani hanno remato per 7.905 chilometri."),
        ("In base alle informazioni fornite nel testo, ", "i giovani hanno remato per 7.905 chilometri."),
        ("De acordo com o texto, ", "os jovens remaram 7.905 quilômetros."),
        ("Volgens de tekst ", "roeide de jeugd 7.905 kilometer."),
        ("Verilen metinlere göre ", "gençler 7.905 kilometre kürek çekti."),
        ("Согласно тексту, ", "молодёжь прошла 7905 километров."),
        ("", "According to Grete Voss, the youth rowed 7,905 kilometres."),
        ("", "According to the treasurer, the youth rowed 7,905 kilometres."),
        ("", "Based on a novel, the film was shot in 2023."),
        ("", "Laut Grete Voss ruderte die Jugend 7.905 Kilometer."),
        ("", "Nach dem Krieg wurde das Haus gebaut."),
        ("", "Der Text wurde nach 1945 geschrieben."),
        ("", "Selon le trésorier, les jeunes ont ramé 7 905 kilomètres."),
        ("", "Según la tesorera, los jóvenes remaron 7.905 kilómetros."),
        ("", "Secondo il tesoriere, i giovani hanno remato per 7.905 chilometri."),
        ("", "According to the passages."),
        ("", "The text is of 2023."),
        ("", ""),
    ],
)
def test_what_only_names_the_passages_is_no_part_of_a_claim(lead_in: str, rest: str) -> None:
    assert without_lead_in(lead_in + rest) == rest


def test_words_that_say_more_of_the_sources_stay() -> None:
    assert without_lead_in("According to information from the treasurer, it rose.") == "from the treasurer, it rose."
    assert without_lead_in("Nach Angaben von Grete Voss stieg es.") == "von Grete Voss stieg es."


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        (
            "According to the information provided in the second passage, the youth rowed 7,905 kilometres in 2023.",
            True,
        ),
        (
            "According to the information provided in the second passage, the youth rowed 7,906 kilometres in 2023.",
            False,
        ),
        ("According to Pavel Dubrovin, the youth rowed 7,905 kilometres in 2023.", False),
    ],
)
def test_a_claim_is_looked_for_without_its_lead_in(claim: str, holds: bool) -> None:
    found = aligned(claim, "How many kilometres did the youth row in 2023?", ROWED)
    assert (found.grade != "not_confirmed") is holds
