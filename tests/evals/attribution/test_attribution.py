"""Benchmarks are read as their authors publish them, and the command prints how well the check does on them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anabranch.errors import SettingsError
from evals.attribution.__main__ import main
from evals.attribution.benchmarks import AttributedClaim, read_benchmarks, read_scores
from evals.attribution.scoring import (
    Scored,
    area,
    balanced_accuracy,
    by_check,
    by_claim_alone,
    by_others,
    by_shared_words,
    scored,
)

WEIR = "The weir was built by Ida Marrow in 1850. It was rebuilt in 1899 after a flood."
WICE = [
    ("w1", "supported", "Ida Marrow built the weir in 1850.", ["Nothing is said here."]),
    ("w1", "supported", "Ida Marrow built the weir in 1850.", WEIR.split(". ")),
    ("w2", "partially_supported", "Otto Kraus built the weir in 1850.", WEIR.split(". ")),
]
BEGIN = [
    (WEIR, "Tell me of the weir!", "The weir was rebuilt in 1899.", "Fully attributable"),
    (WEIR, "Tell me of the weir!", 'The "weir" was blown up in 1944.', "Not fully attributable"),
    (WEIR, "I like it.", "That is nice.", "Generic"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        {"label": label, "claim": claim, "evidence": evidence, "meta": {"id": name}}
        for name, label, claim, evidence in WICE
    ]
    (tmp_path / "wice").mkdir()
    (tmp_path / "wice" / "claim-test.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    head = "model_name\tdata_source\tknowledge\tmessage\tresponse\tbegin_label\n"
    lines = ["\t".join(("t5", "wow", *row)) + "\n" for row in BEGIN]
    (tmp_path / "begin_dev_wow.tsv").write_text(head + "".join(lines), "utf-8")
    return tmp_path


def test_both_benchmarks_are_read(folder: Path) -> None:
    claims = read_benchmarks(folder)
    assert [(each.set, each.is_supported) for each in claims] == [
        ("BEGIN dev wow", True), ("BEGIN dev wow", False), ("WiCE test", True), ("WiCE test", True),
        ("WiCE test", False),
    ]  # fmt: skip
    assert claims[1].claim == 'The "weir" was blown up in 1944.'
    assert claims[1].question == "Tell me of the weir!"
    assert claims[3].evidence == "\n".join(WEIR.split(". "))


def test_a_claim_counts_by_its_best_evidence(folder: Path) -> None:
    found = scored([each for each in read_benchmarks(folder) if each.set == "WiCE test"], by_check)
    assert [(name, each.accepted) for name, each in found.items()] == [("w1", True), ("w2", False)]
    assert found["w1"].score > found["w2"].score


def test_the_baseline_of_the_claim_alone_never_looks_at_the_evidence() -> None:
    def claim(evidence: str) -> AttributedClaim:
        return AttributedClaim("c", "s", "Ida built it.", evidence, "", is_supported=True)

    assert by_claim_alone(claim(WEIR)) == by_claim_alone(claim(""))
    assert by_shared_words(claim("Ida built it, they say."))[0] == 1.0
    assert by_shared_words(claim(""))[0] == 0.0


def test_area_and_balanced_accuracy() -> None:
    found = [
        Scored("s", is_supported, score, accepted)
        for is_supported, score, accepted in [
            (True, 0.9, True), (True, 0.4, False), (False, 0.5, True), (False, 0.1, False), (False, 0.2, False),
            (False, 0.3, False),
        ]
    ]  # fmt: skip
    assert area(found) == pytest.approx(7 / 8)
    assert balanced_accuracy(found) == pytest.approx((1 / 2 + 3 / 4) / 2)
    assert (area(found[:2]), balanced_accuracy(found[:2])) == (None, None)


def test_scores_of_others_are_compared_on_their_claims(folder: Path) -> None:
    (folder / "big-model").mkdir()
    (folder / "big-model" / "test.entailment_score.json").write_text('{"w1": 0.9, "other": 0.1}')
    scores = read_scores(folder)
    assert scores == {"big-model": {"w1": 0.9, "other": 0.1}}
    found = by_others(read_benchmarks(folder), scores["big-model"], 0.5)
    assert list(found.values()) == [Scored("WiCE test", is_supported=True, score=0.9, accepted=True)]


def test_the_command_writes_its_table(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "big-model").mkdir()
    (folder / "big-model" / "test.entailment_score.json").write_text('{"w1": 0.9, "w2": 0.1}')
    page = tmp_path / "page.md"
    page.write_text("before\n\n<!-- attribution -->\n<!-- /attribution -->\n\nafter\n", "utf-8")
    assert main([str(folder), "--write", str(page)]) == 0
    written = page.read_text("utf-8")
    assert "| WiCE test | Anabranch | 1 | 1 | 1.00 | 1.00 | 1 of 1 | 0 of 1 |" in written
    assert "| WiCE test, 2 of them | big-model | 1 | 1 | 1.00 | 1.00 | 1 of 1 | 0 of 1 |" in written
    assert "| BEGIN dev wow | length of the claim alone |" in written
    assert "Claims of public benchmarks" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.jsonl", "{"), ("a.jsonl", '{"claim": 3}\n'), ("begin_x.tsv", "a\tb\n1\t2\n"), ("readme.txt", "nothing")],
)
def test_what_is_no_benchmark_is_said_with_its_name(
    name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text)
    assert main([str(tmp_path)]) == 2
    said = " ".join(capsys.readouterr().out.split())
    assert (name in said) or name == "readme.txt"
    assert "evals/attribution.md" in said


def test_scores_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.entailment_score.json").write_text("[1, 2]")
    with pytest.raises(SettingsError, match="entailment_score"):
        read_scores(tmp_path)
