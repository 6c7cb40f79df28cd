import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import ReadingError
from anabranch.readers.document import Document
from anabranch.readers.plain_text import paragraphs, read_text, unwrap


def read(tmp_path: Path, text: str | bytes, name: str = "notes.txt") -> Document:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    (document,) = read_text(path, name)
    return document


def test_paragraphs_end_at_blank_lines(tmp_path: Path) -> None:
    document = read(tmp_path, "One.\n\nTwo,\nstill two.\n \t\n\n\nThree.\n")
    assert [block.text for block in document.blocks] == ["One.", "Two,\nstill two.", "Three."]
    assert (document.title, document.source, document.key) == ("notes", "notes.txt", "notes.txt")
    assert document.blocks[0].page is None


def test_wrapped_lines_are_joined_and_verse_is_not() -> None:
    text = (
        "In my younger and more vulnerable years my father gave me some advice\n"
        "that I have been turning over in my mind ever since. He did not say\n"
        "any more, but we have always been unusually communicative in a reserv-\n"
        "ed way, and so on; I am reserved.\n\n"
        "  Then wear the gold hat, if that will move her;\n"
        "  If you can bounce high, bounce for her too,\n"
        "  Till she cry: Lover!\n"
    )
    prose, verse = unwrap(text)
    assert "\n" not in prose
    assert "advice that I have" in prose
    assert "in a reserved way" in prose
    assert verse.count("\n") == 2


def test_a_word_split_by_a_soft_hyphen_is_whole(tmp_path: Path) -> None:
    assert read(tmp_path, "an exam\u00ad\r\n  ple of it").blocks[0].text == "an example of it"


def test_code_and_lists_keep_their_lines() -> None:
    text = "def f(x):\n    if x:\n        return 1\n    return 2\n\n- apples\n- pears\n- a plum\n"
    assert unwrap(text) == ["def f(x):\n    if x:\n        return 1\n    return 2", "- apples\n- pears\n- a plum"]


def test_long_lines_are_paragraphs_of_their_own_width() -> None:
    text = f"{'word ' * 60}\n{'other ' * 60}"
    assert unwrap(text) == [text.rstrip()]


@given(st.lists(st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=12), min_size=1, max_size=120))
def test_unwrapping_loses_no_letter_but_hyphens(words: list[str]) -> None:
    lines, line = [], ""
    for word in words:
        if len(line) + 1 + len(word) > 60:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    found = " ".join(unwrap("\n".join([*lines, line])))
    assert [x for x in found if x.isalnum()] == [x for word in words for x in word if x.isalnum()]


@given(st.text(max_size=200))
def test_no_paragraph_is_empty(text: str) -> None:
    assert all(part.strip() for part in paragraphs(text))


@pytest.mark.parametrize(
    "line", ["Chapter I", "CHAPTER 3", "Chapter One: The Start", "Kapitel 2", "Chapter 4. The Boats", "APPENDIX B"]
)
def test_obvious_chapter_lines_are_headings(tmp_path: Path, line: str) -> None:
    head, body = read(tmp_path, f"{line}\n\nSome text.\n").blocks
    assert head.is_heading
    assert head.heading == body.heading == (line,)


@pytest.mark.parametrize(
    "line",
    ["Act 3 of the law says so.", "Chapter 11 was filed in May, and the court agreed at once.", "I", "C", "Part of it"],
)
def test_other_lines_are_not(tmp_path: Path, line: str) -> None:
    document = read(tmp_path, f"Before.\n\n{line if line != 'I' else 'II'}\n\nSome text.\n")
    assert not any(block.is_heading for block in document.blocks)


def test_parts_stand_above_chapters_and_numerals_count_on(tmp_path: Path) -> None:
    document = read(tmp_path, "PART ONE\n\nCHAPTER 1\n\na\n\nI\n\nb\n\nII\n\nc\n\nV\n\nPART TWO\n\nd\n")
    assert [(block.text, block.heading) for block in document.blocks if not block.is_heading] == [
        ("a", ("PART ONE", "CHAPTER 1")),
        ("b", ("PART ONE", "I")),
        ("c", ("PART ONE", "II")),
        ("V", ("PART ONE", "II")),
        ("d", ("PART TWO",)),
    ]


def test_restructured_text_underlines_make_headings(tmp_path: Path) -> None:
    text = "=====\nTitle\n=====\n\nIntro.\n\nSection\n-------\nBody.\n\nBelow\n~~~~~\n\nMore.\n\nNext\n----\n\nEnd.\n"
    document = read(tmp_path, text, "guide.rst")
    assert [(block.text, block.heading) for block in document.blocks if not block.is_heading] == [
        ("Intro.", ("Title",)),
        ("Body.", ("Title", "Section")),
        ("More.", ("Title", "Section", "Below")),
        ("End.", ("Title", "Next")),
    ]


def test_any_line_that_is_underlined_to_its_length_is_a_title(tmp_path: Path) -> None:
    wrapped = "\n".join(
        ["Prose of a width that is set, and is full on each of its", "lines, so that they are joined again"] * 9
    )
    title = "How do I configure different prune policies for them?"
    text = f"{title}\n{'~' * len(title)}\n\n{wrapped}\nNotes\n-----\n{wrapped}\nno title\n---\n{wrapped}"
    document = read(tmp_path, text)
    assert [block.text for block in document.blocks if block.is_heading] == [title, "Notes"]
    assert len(document.blocks) == 4


def test_encoding_and_hidden_letters_are_noted(tmp_path: Path) -> None:
    document = read(tmp_path, ("Viele schöne Grüße aus Köln über die Brücke. " * 5).encode("cp1252"))
    assert "schöne Grüße" in document.blocks[0].text
    assert document.notes
    assert read(tmp_path, "pay\u200bload").notes == ("invisible characters were removed (1)",)


@pytest.mark.parametrize(("data", "reason"), [(b" \n\n\t", "empty"), (b"\x7fELF\x02\x01\x00", "broken")])
def test_what_is_no_text_says_so(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(ReadingError) as caught:
        read(tmp_path, data)
    assert caught.value.reason == reason


def test_gatsby(shared: Path) -> None:
    (document,) = read_text(shared / "data/seeds/gatsby.txt", "gatsby.txt")
    chapters = [block.text for block in document.blocks if block.is_heading]
    assert chapters == ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"]
    assert any("at eighty a month, but at the last minute" in block.text for block in document.blocks)
    assert document.blocks[-1].heading == ("IX",)
    assert document.blocks[-1].text.startswith("So we beat on")


LINES = {
    "log": [
        f"2024-03-12 09:{n:02}:03,126 INFO  app.worker[{1000 + n}] job {47514 + n} finished in 992 ms"
        for n in range(20)
    ],
    "prices": [f"Item {n:03} pump model X{n} costs {703 + n} euros" for n in range(20)],
    "Preise": [f"Артикул {n:03} насос модель X{n} стоит {703 + n} евро" for n in range(20)],
    "chat": [
        "[12.03.24, 09:06:03] Ada Weber: Wann kommst du heute nach Hause?",
        "[12.03.24, 09:06:40] Ben Weber: Um sechs, und ich bringe Brot mit.",
        "[12.03.24, 09:07:11] Ada Weber: Gut, der Schlüssel liegt beim Nachbarn.",
    ],
    "minutes": [
        "Present: Ada Weber, Ben Holt, Carla Neri, Dan Ode",
        "Absent: Eva Lund, Finn Moe, Greta Oak, Hans Pohl",
        "Chair: Ben Holt, who opened the meeting at nine",
    ],
    "протокол": [
        "Присутствуют: Анна Вебер, Борис Хольт, Клара Нери",
        "Отсутствуют: Ева Лунд, Фёдор Мо, Грета Дуб, Иван Пол",
        "Председатель: Борис Хольт, открыл собрание в девять",
    ],
    "poem": [
        "Wer reitet so spät durch Nacht und Wind?",
        "Es ist der Vater mit seinem Kind;",
        "Er hat den Knaben wohl in dem Arm,",
        "Er faßt ihn sicher, er hält ihn warm.",
    ],
}


@pytest.mark.parametrize("kind", LINES)
def test_lines_that_begin_alike_are_not_glued(tmp_path: Path, kind: str) -> None:
    (block,) = read(tmp_path, "\n".join(LINES[kind])).blocks
    assert block.text.split("\n") == LINES[kind]
    assert block.is_preformatted


PROSE = {
    "English": "The board heard that the crane had been out of order since the storm of March, and that the repair "
    "would cost more than the insurance was going to pay. It was agreed that the harbour master asks for two more "
    "offers before the next meeting: nothing is signed until then, and the old crane stays where it is for now.",
    "German": "Der Vorstand hörte, dass der Kran seit dem Sturm im März außer Betrieb ist und dass die Reparatur mehr "
    "kosten wird, als die Versicherung zahlen will. Es wurde beschlossen, dass der Hafenmeister bis zur nächsten "
    "Sitzung am 12. Mai zwei weitere Angebote einholt: Bis dahin wird nichts unterschrieben, und der alte Kran bleibt.",
    "Russian": "Правление узнало, что кран не работает со времени мартовской бури и что ремонт обойдётся дороже, чем "
    "собирается заплатить страховая компания. Было решено, что начальник порта запросит ещё два предложения до "
    "следующего собрания: до тех пор ничего не подписывается, а старый кран остаётся на своём месте.",
    "Hindi": "समिति ने सुना कि मार्च के तूफान के बाद से क्रेन बंद पड़ी है और मरम्मत पर उतना खर्च आएगा जितना बीमा कंपनी देने को तैयार "
    "नहीं है। तय हुआ कि बंदरगाह का प्रमुख अगली बैठक तक दो और प्रस्ताव मँगवाएगा और तब तक किसी कागज पर हस्ताक्षर नहीं होंगे।",
}


@pytest.mark.parametrize("language", PROSE)
def test_prose_of_a_fixed_width_is_made_whole_in_any_script(tmp_path: Path, language: str) -> None:
    text = PROSE[language]
    (block,) = read(tmp_path, textwrap.fill(text, 68)).blocks
    assert block.text == text
    assert not block.is_preformatted


def test_an_entry_takes_its_wrapped_lines_and_the_next_one_begins_anew() -> None:
    text = (
        "1. The harbour master asks for two more offers before the meeting that\n"
        "follows, and reports on both of them to the board and the insurance co\n"
        "2. The old crane stays where it is until the new one has been paid for\n"
        "and has been tested by the surveyor."
    )
    (found,) = unwrap(text)
    assert found.split("\n")[1].startswith("2. The old crane")
    assert found.count("\n") == 1


def test_a_log_keeps_its_lines_whatever_they_begin_with(tmp_path: Path) -> None:
    lines = [f"the worker of the weir has taken job {n} and has finished it at once" for n in range(1000, 1020)]
    (block,) = read(tmp_path, "\n".join(lines), "app.log").blocks
    assert block.text.split("\n") == lines
    assert block.is_preformatted
