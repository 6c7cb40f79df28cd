from __future__ import annotations

import sys

import pytest

from anabranch.errors import MissingExtraError
from anabranch.evaluation.optional_dependencies import LIBRARIES, require_libraries


def test_they_are_installed_here() -> None:
    require_libraries()


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_missing_one_is_said_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'anabranch\[eval\]'"):
        require_libraries()
