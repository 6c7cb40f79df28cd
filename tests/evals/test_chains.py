"""Made questions have one answer each; the scripts know what they say they know; the command keeps what it has."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from anabranch.agent.prompts import CHAIN_FORM, FOLLOW, REWRITE
from anabranch.safety.prompt_envelope import new_nonce, wrap
from evals.chains import one_sentence
from evals.chains.__main__ import PAGE, main
from evals.chains.gold_passages import GoldCollection, GoldQuestion, evenly, read_gold_passages
from evals.chains.measuring import Measured
from evals.chains.oracle import Oracle
from evals.chains.report import CHAIN, ONE, tables
from evals.chains.scripted_model import WorldReader
from evals.chains.worlds import KINDS, World, make_world
from tests.servers.openai_stub import OpenAIStub

PLANNING = REWRITE["multi"] + CHAIN_FORM


def shown(texts: list[str], asked: str) -> str:
    passages = wrap([(number, "", text) for number, text in enumerate(texts, start=1)], new_nonce())
    return f"{passages}\n\nQuestion: {asked}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [10, 60, 300])
def test_each_made_question_has_its_passages_and_one_answer(kind: str, count: int) -> None:
    world = make_world(kind, count)
    assert len(world.questions) == min(count, 40)
    assert len(set(world.documents)) == len(world.documents)
    assert len({question.text for question in world.questions}) == len(world.questions)
    for question in world.questions:
        assert set(question.gold) <= set(world.documents)
        assert question.key in question.answer
        # No other last passage tells the same of the same value.
        assert sum(question.key in other.answer for other in world.questions) == 1
        # The question shares no name with its last passage.
        names = re.findall(r"\b[A-Z]\w+", question.text)[1:]
        assert not [
            name for name in names if re.search(rf"\b{name} (bridge|lighthouse|library|station)", question.gold[-1])
        ]
        values = [re.search(r"designed by (\w+ \w+)|number (\d+) since", question.gold[0])]
        assert all(match and (match[1] or match[2]) in question.gold[1] for match in values)
    assert make_world(kind, count) == world


def test_a_false_bridge_names_others() -> None:
    plain, world = make_world("two steps", 60), make_world("a false bridge", 60)
    added = set(world.documents) - set(plain.documents)
    assert world.questions == plain.questions
    assert len(added) == 80
    assert all(sum(question.thing in text for text in added) == 2 for question in world.questions)


def test_the_reader_says_nothing_that_it_is_not_shown() -> None:
    world: World = make_world("two steps", 20)
    question, reader = world.questions[3], WorldReader(world)
    asked, person = f"Who designed the {question.thing}?", question.answer.split(" lived")[0]
    assert question.plan in reader(PLANNING, question.text)
    assert reader(FOLLOW, shown(list(question.gold), asked)) == person
    assert reader(FOLLOW, shown([question.gold[1], world.questions[4].gold[0]], asked)) == "None"
    assert reader("Answer.", shown(list(question.gold), question.text)) == question.answer
    for gold in question.gold:
        assert "do not tell" in reader("Answer.", shown([gold], question.text))


ROWS = {
    "a": ("Ashby bridge", "The Ashby bridge was designed by Mira Solano."),
    "b": ("Mira Solano (engineer)", "Mira Solano was born in Bonn."),
    "c": ("Bonn", "Bonn lies on the Rhine."),
    "d": ("Rhine", "The Rhine is a river."),
}


def collection(*questions: GoldQuestion) -> GoldCollection:
    return GoldCollection("made", Path("none"), ROWS, questions)


def test_the_oracle_names_what_a_shown_gold_passage_shares_with_one_that_is_not() -> None:
    question = GoldQuestion("q", "On which river is the birthplace of the designer?", ("Rhine",), ("a", "b", "c"))
    oracle = Oracle(collection(question))
    assert oracle(PLANNING, question.text).count("THEN: ") == 2
    assert oracle(REWRITE["multi"], question.text) == "None"
    texts = {key: text for key, (_, text) in ROWS.items()}
    assert oracle(FOLLOW, shown([texts["a"], texts["d"]], question.text)) == "Mira Solano"
    assert oracle(FOLLOW, shown([texts["b"]], question.text)) == "Mira Solano\nBonn"
    assert oracle(FOLLOW, shown([texts["a"], texts["b"]], question.text)) == "Bonn"
    assert oracle(FOLLOW, shown([texts["d"]], question.text)) == "None"
    assert oracle(FOLLOW, shown(list(texts.values()), question.text)) == "None"


def test_the_oracle_plans_nothing_where_the_question_has_all_names() -> None:
    question = GoldQuestion("q", "Was Mira Solano, who designed the Ashby bridge, born in Bonn?", ("yes",), ("a", "b"))
    assert Oracle(collection(question))(PLANNING, question.text) == "None"


def results(way: str, found: str) -> list[Measured]:
    """Return results of questions, `x` where all passages were found."""
    return [Measured("chains-recall", "made", str(at), way, found=each == "x") for at, each in enumerate(found)]


def test_a_row_tells_what_each_way_found_alone() -> None:
    (table,) = tables([*results(ONE, "xx---"), *results(CHAIN, "x-xx-")])
    assert dict(zip(table.columns[:9], table.rows[0], strict=False)) == {
        "collection": "made", "questions": "5", "one search: all passages among 24": "2", "calls": "0.0",
        "planned": "0", "searched further": "0", "chain: all passages among 24": "3",
        "found by the chain alone": "2", "by one search alone": "1",
    }  # fmt: skip


def test_few_questions_are_spread_evenly() -> None:
    questions = [GoldQuestion(str(at), "?", (), ()) for at in range(100)]
    assert [each.id for each in evenly(questions, 4)] == ["0", "25", "50", "75"]
    assert evenly(questions, None) == evenly(questions, 200) == questions


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "musique"
    folder.mkdir(parents=True)
    rows = [{"id": key, "title": title, "text": text} for key, (title, text) in ROWS.items()]
    (folder / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    asked = [
        {"id": "q", "text": "Where was the designer of the Ashby bridge born?", "answer": "Bonn", "answers": ["Bonn"]}
    ]
    (folder / "queries.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in asked))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\nq\tb\t1\n")
    return tmp_path / "data"


def test_a_collection_is_read_with_its_answers(data: Path) -> None:
    found = read_gold_passages(data / "musique")
    assert found.questions == (
        GoldQuestion("q", "Where was the designer of the Ashby bridge born?", ("Bonn",), ("a", "b")),
    )
    assert found.documents["c"] == ROWS["c"]


def rows_of(page: str, name: str) -> list[list[str]]:
    found = re.search(rf"<!-- {name} -->(.*?)<!-- /{name} -->", page, re.DOTALL)
    assert found
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in found[1].splitlines() if line[:2] == "| "
    ][1:]


def test_the_command_writes_what_the_scripts_found(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    few = ["--look-alikes", "30", "--limit", "2", "--data", str(data), "--home", str(tmp_path / "home")]
    assert main([*few, "--write", str(page)]) == 0
    text = page.read_text("utf-8")
    made = rows_of(text, "chains-made")
    assert [row[0] for row in made] == [f"{kind}, 30 look-alikes" for kind in KINDS]
    assert all((row[1], row[5], row[6]) == ("2", "2", "2") for row in made)
    (recall,) = rows_of(text, "chains-recall")
    assert recall[:3] == ["musique", "1", "1"]
    assert "hotpotqa is left out" in capsys.readouterr().out


@pytest.mark.loopback
def test_a_real_model_is_asked_once_for_what_is_kept(data: Path, tmp_path: Path) -> None:
    page, kept = tmp_path / "page.md", tmp_path / "kept.jsonl"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    with OpenAIStub("Mira Solano was born in Bonn.") as stub:
        options = [
            "--base-url", stub.base_url, "--data", str(data), "--home", str(tmp_path / "home"), "--kept", str(kept),
            "--look-alikes", "12", "--limit", "1", "--kinds", "two steps", "--systems", ONE, CHAIN,
            "--write", str(page),
        ]  # fmt: skip
        assert main(options) == 0
        asked = len(stub.calls)
        assert main(options) == 0
        assert len(stub.calls) == asked > 0
    text = page.read_text("utf-8")
    assert [row[0] for row in rows_of(text, "chains-made-model")] == ["two steps, 12 look-alikes"]
    assert [row[:2] for row in rows_of(text, "chains-answers-model")] == [[ONE, "1 of 1"], [CHAIN, "1 of 1"]]


def test_what_is_missing_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "musique").mkdir()
    assert main(["--parts", "recall", "--data", str(tmp_path)]) == 2
    assert "queries.jsonl" in capsys.readouterr().out


def test_an_answer_in_one_sentence_is_checked_with_the_right_value_and_two_wrong_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # So few are shown that a value is left which stands in none of them.
    monkeypatch.setattr(one_sentence, "SHOWN", 4)
    people = (("Ada Brix", "weir", "Halden"), ("Otto Lind", "mill", "Orsova"), ("Eva Ost", "lock", "Marle"))
    built = {f"{thing} 1": ("", f"The {thing} was built by {name}.") for name, thing, _ in people}
    settled = {f"{thing} 2": ("", f"{name} settled in {place}.") for name, thing, place in people}
    questions = tuple(
        GoldQuestion(thing, f"Where did {name} settle, who built the {thing}?", (place,), (f"{thing} 1", f"{thing} 2"))
        for name, thing, place in people
    )
    collection = GoldCollection("small", Path("none"), built | settled, questions)
    answers = list(one_sentence.make_sentences(collection))
    assert [each.claim.rpartition(": ")[2] for each in answers[:3]] == ["Halden.", "Orsova.", "Marle."]
    for each in answers:
        texts = " ".join(text for _, text in each.passages)
        assert (each.claim.rpartition(": ")[2] in texts) is (each.value != one_sentence.NOWHERE)
    assert one_sentence.check_sentences({"small": answers}).rows == (
        ("small", "right", "3", "0", "3"),
        ("small", "of another passage", "3", "0", "0"),
        ("small", "of no passage", "3", "0", "0"),
    )


def test_the_written_answers_are_what_the_page_says() -> None:
    answers = one_sentence.read_written()
    assert len(answers) == 30
    for each in answers:
        texts = [text for _, text in each.passages]
        assert len(texts) == len(set(texts)) == 24
    rows = [list(row) for row in one_sentence.check_sentences({"written for this": answers}).rows]
    assert rows_of(PAGE.read_text("utf-8"), "chains-sentences")[:3] == rows
    assert int(rows[0][3]) + int(rows[0][4]) >= 8
