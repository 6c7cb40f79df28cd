from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.parsing import EvidenceVerdict, parse_verdict
from anabranch.parsing.evidence_verdict import MAX_MISSING


@pytest.mark.parametrize(
    "reply",
    [
        '{"sufficient": true, "missing": ""}',
        '```json\n{"sufficient": "yes"}\n```',
        "{'sufficient': True, 'missing': None}",
        '{"sufficient": true, "missing": "half a sen',
        '{sufficient: true, missing: ""}',
        "Yes.",
        "yes, passage 2 holds the answer",
        "**Yes**",
        "Sufficient: yes",
        "The passages contain enough information.",
        "<think>No?</think>Yes",
    ],
)
def test_enough(reply: str):
    assert parse_verdict(reply) == EvidenceVerdict(True)


@pytest.mark.parametrize(
    "reply",
    [
        '{"sufficient": false, "missing": "the revenue of 2019"}',
        '{"sufficient": "no", "missing": ["the revenue of 2019"]}',
        '{"Sufficient": false, "Missing": "the revenue of 2019"',
        "{'sufficient': False, 'missing': 'the revenue of 2019'}",
        '{sufficient: false, missing: "the revenue of 2019"}',
        "No. Missing: the revenue of 2019",
        "Insufficient.\nMissing: the revenue of 2019",
        "No, the revenue of 2019",
        "Sufficient: no\n**Missing:** the revenue of 2019",
    ],
)
def test_not_enough(reply: str):
    assert parse_verdict(reply) == EvidenceVerdict(False, "the revenue of 2019")


def test_prose_says_both():
    verdict = parse_verdict("The passages do not contain the revenue of 2019.")
    assert verdict == EvidenceVerdict(False, "The passages do not contain the revenue of 2019.")


@pytest.mark.parametrize("reply", ["", "Hm.", '{"score": 3}', '{"sufficient": "perhaps"}', "[1]"])
def test_nothing_said(reply: str):
    assert parse_verdict(reply) == EvidenceVerdict(None)


@pytest.mark.parametrize("missing", ["", "none", "Nothing.", "N/A", "null", "-"])
def test_nothing_missing(missing: str):
    assert parse_verdict(f'{{"sufficient": false, "missing": "{missing}"}}') == EvidenceVerdict(False, "")


@given(st.text())
def test_any_text_gives_a_verdict(reply: str):
    verdict = parse_verdict(reply)
    assert verdict.sufficient in (True, False, None)
    assert len(verdict.missing) <= MAX_MISSING
    assert verdict.sufficient is False or verdict.missing == ""
