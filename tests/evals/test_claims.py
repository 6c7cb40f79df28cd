"""The labelled claims are what the page says of them, and the command counts what a checker makes of them."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from anabranch.citations.read_passages import PassageText
from anabranch.errors import SettingsError
from evals.claims.__main__ import PAGE, main
from evals.claims.claim_set import FOLDER, LabelledClaim, read_claims
from evals.claims.grading import GradedClaim, by_check, graded
from evals.claims.questions import read_questions
from evals.claims.wrong_twins import of_questions, twins

CLAIMS = read_claims()
WORDED = {
    "verbatim", "near_verbatim", "paraphrase", "number_form", "date_form", "short", "question_repeated", "table",
    "joined", "two_passages",
}  # fmt: skip
WRONG = {
    "number", "unit", "scale", "date", "weekday", "month", "year_column", "name", "short_twin", "code", "negation",
    "antonym", "role", "quantifier", "order", "condition", "comparative",
}  # fmt: skip
CLASSES = {
    "supported": WORDED,
    "contradicted": WRONG,
    "not_said": {"addition", "overstated", "question_figure", "refusal"},
}


def claim(text: str, answer: str, passage: str, language: str = "en", question: str = "Who?") -> LabelledClaim:
    return LabelledClaim(
        "c", language, question, (PassageText("p", passage),), text, "supported", "short", "dev", answer
    )


def cells(page: str, name: str) -> list[list[str]]:
    """Return the cells of a table, without its heading."""
    found = re.search(rf"<!-- {name} -->(.*?)<!-- /{name} -->", page, flags=re.DOTALL)
    assert found
    lines = [line for line in found[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def accepting(text: str, passages: Sequence[PassageText], question: str) -> list[GradedClaim]:
    """Take everything: as quoted where it stands in a passage."""
    stands = any(text in passage.text for passage in passages)
    return [GradedClaim("quoted" if stands else "found", (passages[0].text,))]


def test_there_are_enough_claims_of_every_label_and_class() -> None:
    assert len(CLAIMS) >= 600
    assert len({row.id for row in CLAIMS}) == len(CLAIMS)
    assert {label: {row.kind for row in CLAIMS if row.label == label} for label in CLASSES} == CLASSES
    counts = Counter(row.label for row in CLAIMS)
    assert min(counts["supported"], counts["contradicted"]) > 0.4 * len(CLAIMS)
    assert counts["not_said"] >= 50
    by_split = Counter(row.split for row in CLAIMS)
    assert min(by_split["dev"], by_split["test"]) > 0.4 * len(CLAIMS)


def test_five_languages_have_claims_of_every_label_in_both_splits() -> None:
    for language in ("en", "de", "fr", "es", "it"):
        for split in ("dev", "test"):
            some = [row.label for row in CLAIMS if (row.language, row.split) == (language, split)]
            assert len(some) >= 30
            assert set(some) == set(CLASSES)


def test_no_passage_is_in_both_splits_and_each_is_used() -> None:
    splits = defaultdict(set)
    for row in CLAIMS:
        assert 1 <= len(row.passages) <= 4
        for passage in row.passages:
            splits[passage.id].add(row.split)
    assert all(len(found) == 1 for found in splits.values())
    lines = (FOLDER / "passages.jsonl").read_text("utf-8").splitlines()
    assert sorted(splits) == sorted(json.loads(line)["id"] for line in lines)


def test_no_claim_is_made_twice_of_a_question_with_different_labels() -> None:
    labels = defaultdict(set)
    for row in CLAIMS:
        labels[row.passages, row.question, row.claim].add(row.label)
    assert all(len(found) == 1 for found in labels.values())


def test_verbatim_claims_stand_in_a_passage() -> None:
    verbatim = [row for row in CLAIMS if row.kind == "verbatim"]
    assert all(any(row.claim in passage.text for passage in row.passages) for row in verbatim)


def test_a_short_twin_is_made_of_words_of_the_passages() -> None:
    for row in CLAIMS:
        if row.kind == "short_twin":
            text = " ".join(passage.text for passage in row.passages).casefold()
            words = re.findall(r"\w{3,}|\d+", row.claim.casefold())
            assert any(word in text for word in words), row.id


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"label": "true"}, "unknown label"),
        ({"passages": ["nowhere"]}, "nowhere"),
        ({"answer": "Bern"}, "answer"),
        ({"more": 1}, "more"),
    ],
)
def test_a_line_that_is_no_claim_is_named(record: dict[str, object], said: str, tmp_path: Path) -> None:
    right = {
        "id": "a-1", "language": "en", "question": "Who?", "passages": ["p"], "claim": "Ada.", "label": "supported",
        "class": "short", "split": "dev",
    }  # fmt: skip
    (tmp_path / "passages.jsonl").write_text('{"id": "p", "label": "", "text": "Ada."}\n')
    (tmp_path / "claims.jsonl").write_text(json.dumps(right) + "\n")
    assert read_claims(tmp_path)[0].claim == "Ada."
    (tmp_path / "claims.jsonl").write_text(json.dumps(right | record) + "\n")
    with pytest.raises(SettingsError, match=f"a-1.*{said}"):
        read_claims(tmp_path)


def test_twins_are_wrong_and_the_same_ones_always() -> None:
    made = twins(CLAIMS)
    assert made == twins(read_claims())
    assert len(made) >= 400
    claims = {row.id: row for row in CLAIMS}
    for twin in made:
        row = claims[twin.id.rpartition("-twin")[0]]
        assert twin.claim != row.claim
        assert twin.answer in twin.claim
        assert any(twin.answer in passage.text for passage in twin.passages)
    assert {twin.kind.split(", ")[0] for twin in made} == {"name", "figure", "code"}
    assert {twin.language for twin in made} >= {"en", "de", "fr", "es", "it", "ar", "ja", "zh"}


def test_a_twin_is_no_other_spelling_of_the_right_figure() -> None:
    row = claim("It costs 18 400 euros.", "18 400", "It costs 18.400 euros, the other 21.500 euros.")
    assert [twin.claim for twin in twins([row])] == ["It costs 21.500 euros."]


def test_figures_are_swapped_for_such_of_their_size_and_years_for_years() -> None:
    text = "In 1911 it had 40 beds, 35 nurses and 12,000 guests; in 1930 at 9:45 it burned."
    (twin,) = twins([claim("It had 40 beds.", "40", text)])
    assert twin.claim == "It had 35 beds."
    (twin,) = twins([claim("That was in 1911.", "1911", text)])
    assert twin.claim == "That was in 1930."


def test_names_are_found_where_every_noun_has_a_capital_and_where_sentences_begin() -> None:
    english = "Payments were made by Ada Stern. The clerk was Bo Lind; Mr Carl Ost left in May. Nobody knew."
    assert {twin.claim for twin in twins([claim("Ada Stern", "Ada Stern", english)])} == {"Bo Lind", "Carl Ost"}
    german = (
        "Hier leitet Ada Stern das Haus. Der Keller, den die Firma, der er dient, baute. Die Prüfung macht Bo Lind."
    )
    assert [twin.claim for twin in twins([claim("Ada Stern", "Ada Stern", german, "de")])] == ["Bo Lind"]


def test_questions_give_short_answers_and_sentences(tmp_path: Path) -> None:
    document, questions = tmp_path / "weir.md", tmp_path / "questions.jsonl"
    document.write_text("The weir was rebuilt by Ada Stern. It cost 900 pounds.\n\nThe mill was bought by Bo Lind.\n")
    record = {"id": "q", "doc": "weir", "text": "Who rebuilt the weir?", "answer": "Ada Stern"}
    questions.write_text(json.dumps(record | {"evidence_regex": "Ada Stern"}) + "\n")
    right = of_questions(read_questions(questions, [document]), [document])
    assert [row.claim for row in right] == ["Ada Stern", "The weir was rebuilt by Ada Stern."]
    assert [twin.claim for twin in twins(right)] == ["Bo Lind", "The weir was rebuilt by Bo Lind."]


def test_the_checker_as_it_is_grades_words_as_quoted_and_what_is_not_said_as_not_confirmed() -> None:
    passages = [PassageText("p", "The boiler is serviced every October by the plumber. The tenant pays.")]
    question = "When is the boiler serviced?"
    (whole,) = by_check("The boiler is serviced every October by the plumber.", passages, question)
    assert whole == ("quoted", (passages[0].text[:52],))
    assert [each.grade for each in by_check("It was painted green in 1934.", passages, question)] == ["not_confirmed"]


def test_an_answer_has_the_lowest_grade_of_what_it_claims() -> None:
    row = claim("Ada", "", "Ada came.")
    found = [GradedClaim("found", ("Ada came.",)), GradedClaim("quoted", ("Ada came.",))]
    assert graded(row, lambda *given: found) == "found"
    assert graded(row, lambda *given: [*found, GradedClaim("not_confirmed", ())]) == "not_confirmed"
    assert graded(row, lambda *given: []) == "not_confirmed"


def test_the_command_writes_what_the_checker_said(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    truth = {(row.claim, row.question): row.label for row in CLAIMS}

    def knows(text: str, passages: Sequence[PassageText], question: str) -> list[GradedClaim]:
        held = truth.get((text, question)) == "supported"
        return [GradedClaim("found", (passages[0].text,)) if held else GradedClaim("not_confirmed", ())]

    assert main(["--write", str(page)], checkers={"lexical": knows}) == 0
    written = page.read_text("utf-8")
    for check, _, _, _, precision, recall, *_ in cells(written, "claims-checks"):
        assert (check, precision, recall) == ("lexical", "1.00", "1.00")
    assert {row[0]: row[3] == "0" for row in cells(written, "claims-classes") if row[0] != "supported"}
    assert all(row[3].startswith("0 of ") for row in cells(written, "claims-twins"))

    checkers = {"lexical": accepting, "never": lambda *given: [GradedClaim("not_confirmed", ())]}
    assert main(["--write", str(page)], checkers=checkers) == 0
    written = page.read_text("utf-8")
    supported = sum(row.label == "supported" for row in CLAIMS)
    found = {(row[0], row[2]): row for row in cells(written, "claims-checks")}
    assert set(found) == {("lexical", "dev"), ("lexical", "test"), ("never", "dev"), ("never", "test")}
    assert sum(int(found["lexical", split][3]) for split in ("dev", "test")) == len(CLAIMS)
    assert found["lexical", "dev"][5] == "1.00"
    assert found["never", "dev"][3:6] == ["0", "-", "0.00"]
    verbatim = next(row for row in cells(written, "claims-classes") if row[1] == "verbatim")
    assert verbatim[2:] == [verbatim[2], verbatim[2], "0", "0", "0", "0", verbatim[2]]
    assert sum(int(row[2]) for row in cells(written, "claims-classes") if row[0] == "supported") == supported


def test_what_was_judged_wrongly_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--show", "weekday", "--split", "test"], checkers={"lexical": accepting}) == 0
    shown = capsys.readouterr().out
    expected = [row for row in CLAIMS if row.kind == "weekday" and row.split == "test"]
    assert all(f"{row.id} (contradicted, weekday; lexical: found)" in shown for row in expected)
    assert shown.count("<- ") == len(expected)


def test_a_page_has_both_splits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["--split", "dev", "--write", str(tmp_path / "page.md")])
    assert refused.value.code == 2
    assert "both splits" in capsys.readouterr().err
