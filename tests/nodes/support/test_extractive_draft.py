"""What a row of a table says of itself."""

from __future__ import annotations

import pytest

from anabranch.agent.nodes.support.extractive_draft import _told_by_row
from anabranch.synthesis.statements import statements


@pytest.mark.parametrize(
    ("table", "said", "denied"),
    [
        ("| Boat | Seats | Cox needed |\n|---|---|---|\n| Eight | 8 | yes |", "Eight 8 yes Cox needed", ""),
        ("| Boat | Seats | Cox needed |\n|---|---|---|\n| Scull | 1 | no |", "Scull 1 no", "Cox needed"),
        ("| Boot | Sitze | Mit Steuermann |\n|---|---|---|\n| Achter | 8 | ja |", "Achter 8 ja Mit Steuermann", ""),
        ("| Bateau | Places | Barreur |\n|---|---|---|\n| Skiff | 1 | non |", "Skiff 1 non", "Barreur"),
    ],
)
def test_a_yes_says_what_its_column_is_called(table: str, said: str, denied: str) -> None:
    (row,) = statements(table)
    assert _told_by_row(row) == (said, denied)
