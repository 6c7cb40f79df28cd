"""What a question names has to stand in what was found."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anabranch.synthesis.named_subject import named_subject

REPORT = ("Revenue was $3,208 million.", "Item 7 > Results for 2021 and 2020", "", "lyft_2021_10k.pdf")


@pytest.mark.parametrize(("question", "texts", "named"), [
    ("What was Lyft's revenue in 2021?", REPORT, True),
    ("What was Lyft's revenue in 2024?", REPORT, False),
    ("What was Uber's revenue in 2021?", REPORT, False),
    ("How many layers does GPT-5 have?", ("GPT-4 has more layers than GPT-3.5.",), False),
    ("How many layers does GPT-4 have?", ("GPT 4 has more layers.",), True),
    ("What did Llama 3 cost to train?", ("Llama 2 was trained on 3 clusters.",), False),
    ("What did Llama 2 cost to train?", ("Llama-2 was trained on 3 clusters.",), True),
    ("What did Llama 2 cost to train?", ("It cost a lot.", "", "", "reports/llama2.pdf"), True),
    ("Does the pump HX200 leak?", ("The HX-200 is tight.",), True),
    ("Are histones degraded by a Rad53-dependent mechanism?", ("They are degraded by RAD53.",), True),
    ("Does it not require VPS9a?", ("VPS9 alone is enough.",), False),
    ("When was the tower built? <img src=y onerror=alert(3)>", ("The tower was built in 1900.",), True),
    # One of the names is enough.
    ("Why did Daisy marry Tom Buchanan?", ("Daisy was sad. She married him in June.",), True),
    ("Why did Daisy marry Tom Buchanan?", ("She married him in June.",), False),
    # A quantity, an ordinal and a month may be written in other words, and the first word is no name.
    ("How many of the 3 pumps leak since March 5?", ("Two of the three pumps leak.",), True),
    ("Where is the key?", ("Under the mat.",), True),
    # In German every noun has a capital: one alone is no name.
    ("Wie viele Angestellte hat die Firma?", ("Wir beschäftigen 40 Leute.",), True),
    ("Wie hoch war der Umsatz im Jahr 2019?", ("Der Umsatz stieg 2021 um 3 %.",), False),
    ("Combien d'habitants avait Lyon en 2019 ?", ("En 2019, Lyon comptait 522 000 habitants.",), True),
    ("Combien d'habitants avait Lyon en 2019 ?", ("En 2019, Nantes comptait 320 000 habitants.",), False),
    ("Сколько жителей было в Казани в 2019 году?", ("В 2021 году в Казани было больше.",), False),
    # A period is written in many ways; its year is not.
    ("What was the revenue in FY2021?", REPORT, True),
    ("What was the revenue in FY2019?", REPORT, False),
    ("How many riders were there in Q4 2021?", REPORT, True),
    ("How many riders were there in Q4 2019?", REPORT, False),
    ("How many riders were there in Q4?", REPORT, False),
    ("Wie hoch war der Umsatz im Quartal 4 2021?", ("Der Umsatz stieg im vierten Quartal 2021.",), True),
    # Of words that all have a capital, none is a name.
    ("HOW MUCH IS THE RENT?", ("It is 850 pounds.",), True),
    ("IS ROOM 5 FREE?", ("One room is.",), True),
    ("WHAT DID GPT-5 COST?", ("GPT-4 was cheap.",), False),
    ("СКОЛЬКО СТОИТ АРЕНДА?", ("Восемьсот рублей.",), True),
    ("2019年的收入是多少？", ("2021年的收入是三千万。",), False),
    ("2019年的收入是多少？", ("2019年的收入是三千万。",), True),
    ("公司 Lyft 的收入是多少？", ("Lyft的收入是三千万。",), True),
    ("公司 Lyft 的收入是多少？", ("Uber的收入是三千万。",), False),
    ("GPT-4的上下文有多长？", ("GPT4的上下文是八千个词元。",), True),
    ("GPT-5的上下文有多长？", ("GPT4的上下文是八千个词元。",), False),
])  # fmt: skip
def test_what_is_named_is_looked_for(question: str, texts: tuple[str, ...], *, named: bool) -> None:
    subject = named_subject(question)
    assert (subject.is_numbered_in(texts) and subject.is_named_in(texts)) is named


@pytest.mark.parametrize(("question", "language"), [
    ("¿Cuánto cuesta el tren?", "spanish"), ("Hola. Dígame: ¿Cuánto cuesta el tren?", "spanish"),
    ("Bonjour, Combien coûte le train ?", "french"), ("Well, Who pays?", "english"),
])  # fmt: skip
def test_a_word_that_asks_is_no_name(question: str, language: str) -> None:
    assert not named_subject(question, language).names


def test_a_short_question_is_read_in_the_language_of_the_passages() -> None:
    assert named_subject("Wo liegt Halden Mühle?", "german").names == {("halden",), ("muhle",)}
    assert not named_subject("Wo liegt der Schlüssel?", "german").names


@example("a’2 5")
@given(st.text(st.sampled_from("aO'’2９²-_. A5年ß"), max_size=30))
def test_a_question_is_about_what_it_names_itself(question: str) -> None:
    subject = named_subject(question)
    assert subject.is_numbered_in([question])
    assert subject.is_named_in([question])
