from pathlib import Path

import pytest

from anabranch.readers.document import Block, Document
from anabranch_readers.pdf import read_pdf
from benchmarks.reading import planted, scores
from benchmarks.reading.pdfium import PageReference, squeezed

ASKED = scores.Question(("Llama 1", "65B"), ("MMLU",), "63.4")
HEAD = "| Model | Size | Code | MMLU |\n"


@pytest.mark.parametrize(
    ("leaf", "is_answer"),
    [
        (f"{HEAD}| Llama 1 | 65B | 30.7 | 63.4 |", True),
        (f"{HEAD}| Llama 2 | 65B | 30.7 | 63.4 |", False),
        (f"{HEAD}| Llama 1 | 65B | 63.4 | 30.7 |", False),
        ("| Llama 1 | 65B | 30.7 | 63.4 |", False),
        ("Model: Llama 1\nSize: 65B\nMMLU: 63.4", True),
        ("Model: Llama 1\nSize: 65B\nCode: 63.4", False),
    ],
)
def test_a_leaf_answers_with_the_value_in_its_row_and_column(leaf: str, is_answer: bool) -> None:
    assert scores.answers(leaf, ASKED) is is_answer


def test_a_page_read_across_its_columns_is_garbled() -> None:
    joints = tuple(squeezed(f"one two three four {at} five six seven eight") for at in range(8))
    pages = [PageReference(number, "", ("someprosehere",), joints) for number in (1, 2)]
    whole = Document("a", "a", (Block("Some prose here " + " ".join(joints), page=1),))
    across = Document("a", "a", (Block("some prose, here " + " ".join(joints[:5]), page=2),))
    good, bad = scores.Score(), scores.Score()
    scores.of_text(whole, pages, good)
    scores.of_text(across, pages, bad)
    assert (good.joints, good.garbled, good.snippets, good.right_page) == ([16, 16], [0, 2], [2, 2], [2, 2])
    assert (bad.joints, bad.garbled, bad.bad_pages, bad.right_page) == ([10, 16], [2, 2], [1, 2], [1, 2])
    good.add(bad)
    assert (good.joints, good.garbled, good.bad_pages) == ([26, 32], [2, 4], [1, 2])


def test_hidden_words_leak_to_a_reader_that_takes_all(tmp_path: Path) -> None:
    planted.write_planted(tmp_path / "planted.pdf")
    (document,) = read_pdf(tmp_path / "planted.pdf", "planted.pdf")
    assert planted.leaked(document) == []
    assert planted.leaked(Document("a", "a", (Block(" ".join(planted.PLANTED)),))) == [*planted.PLANTED]


def test_every_question_asks_for_something() -> None:
    for name, asked in scores.questions().items():
        assert name.endswith(".pdf")
        assert asked
        assert all(question.row and question.column and question.value for question in asked)
