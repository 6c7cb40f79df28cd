from __future__ import annotations

import pytest

from anabranch.citations.claims import claims
from anabranch.citations.markers import mark


@pytest.mark.parametrize(
    ("answer", "supporting", "marked"),
    [
        ("Revenue rose [7]. Costs fell. [3]", [[7], [3]], "Revenue rose [1]. Costs fell. [2]"),
        ("Revenue rose [7][3].", [[3]], "Revenue rose [1]."),
        ("Revenue rose [3, 3] [3].", [[3]], "Revenue rose [1]."),
        ("Revenue rose [3] [7].", [[7]], "Revenue rose [1]."),
        ("Revenue rose.", [[3]], "Revenue rose. [1]"),
        ("Revenue rose [9]. Costs fell.", [[3], []], "Revenue rose. [1] Costs fell. [?]"),
        ("Revenue rose [9], said Smith.", [[]], "Revenue rose, said Smith. [?]"),
        ("Revenue rose.[9]Costs fell.[9]", [[], [9]], "Revenue rose. [?]Costs fell.[1]"),
        ("Revenue rose. [?]", [[]], "Revenue rose. [?]"),
        ("- [3] Revenue rose", [[3]], "- [1] Revenue rose"),
        ("And so. [3] Revenue rose. [3] And so. [4]", [[3]], "And so. [1] Revenue rose. [1] And so."),
        ("| Revenue rose |\n", [[3]], "| Revenue rose [1] |\n"),
        ("Revenue rose [7].", [[3, 7]], "Revenue rose [1]. [2]"),
        ("Revenue rose.", [[3, 7]], "Revenue rose. [1][2]"),
        ("Revenue rose [3][9][7].", [[3, 7]], "Revenue rose [1][2]."),
        ("Revenue rose [[9]2].", [[3]], "Revenue rose (2). [1]"),
    ],
)
def test_markers_are_set_anew_and_words_stay(answer: str, supporting: list[list[int]], marked: str):
    found = claims(answer)
    assert len(found) == len(supporting)
    text, order = mark(answer, list(zip(found, supporting, strict=True)))
    assert text == marked
    assert set(order) == {number for numbers in supporting for number in numbers}
