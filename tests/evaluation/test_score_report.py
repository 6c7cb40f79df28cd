from __future__ import annotations

import pytest

from tests.evaluation.reports import report


def test_means_comparisons_checks_and_margins() -> None:
    found = report()
    here, there = found.collections
    assert here.scored["old"].means == {"nDCG@10": pytest.approx(0.63093, abs=1e-5), "RR@10": 0.5}
    assert (here.scored["new"].low, here.scored["new"].high) == (1.0, 1.0)
    (against,) = here.comparisons
    assert (against.configuration, against.won, against.lost, against.p) == ("new", 4, 0, 2 / 16)
    assert there.comparisons[0].lost == 4
    assert [check.verdict for check in found.checks] == ["ok", "drift", "not here"]
    assert [(check.on, check.verdict) for check in found.margins] == [("here", "missed"), ("there", "missed")]
    assert found.everywhere("RR@10") == {"old": 0.75, "new": 0.75}
    assert found.configurations == ["old", "new"]


def test_remarks_of_the_collection_and_of_the_runs() -> None:
    here, there = report().collections
    assert list(here.remarks()) == [
        "one | thing",
        "1 query cannot be searched for, with a score of 0, such as 'q3': It has no letter",
        "new: 2 queries degraded: rerank: it was down",
    ]
    assert list(there.remarks()) == []
