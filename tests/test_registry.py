"""Extensions are found by name, those of an installed package too."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.errors import SettingsError
from anabranch.registry import Registry


def installed(folder: Path, *lines: str, group: str = "anabranch.rerankers") -> None:
    """Put a package with entry points where Python looks for packages."""
    (folder / "other-1.0.dist-info").mkdir()
    (folder / "other-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (folder / "other-1.0.dist-info/entry_points.txt").write_text("\n".join([f"[{group}]", *lines]))


@pytest.fixture
def rerankers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry[type]:
    installed(tmp_path, "mine = fractions:Fraction", "gone = no_such_package:Thing", "decimal = fractions:Fraction")
    monkeypatch.syspath_prepend(tmp_path)
    return Registry("reranker", {"decimal": "decimal:Decimal"})


def test_what_is_built_in_and_what_is_installed_is_found(rerankers: Registry[type]) -> None:
    assert rerankers.names == ("decimal", "gone", "mine")
    assert rerankers.get("mine").__name__ == "Fraction"
    assert "mine" in rerankers
    assert "other" not in rerankers


def test_nobody_replaces_what_is_built_in(rerankers: Registry[type]) -> None:
    assert rerankers.get("decimal").__name__ == "Decimal"


def test_an_unknown_name_is_refused_with_the_nearest(rerankers: Registry[type]) -> None:
    with pytest.raises(SettingsError, match="no reranker 'min'") as caught:
        rerankers.get("min")
    assert caught.value.hint == "Did you mean 'mine'? Known: decimal, gone, mine."


def test_a_package_that_cannot_be_imported_is_named(rerankers: Registry[type]) -> None:
    with pytest.raises(SettingsError, match=r"'gone' \(no_such_package:Thing\) cannot be imported"):
        rerankers.get("gone")


def test_a_package_that_breaks_while_it_is_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_package.py").write_text("raise RuntimeError('no licence')")
    installed(tmp_path, "mine = broken_package:Thing")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SettingsError, match=r"'mine' .* cannot be imported: no licence"):
        Registry[type]("reranker", {}).get("mine")


def test_kinds_of_two_words_have_a_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "mine = fractions:Fraction", group="anabranch.synthesis_modes")
    monkeypatch.syspath_prepend(tmp_path)
    modes: Registry[type] = Registry("synthesis mode", {})
    assert modes.names == ("mine",)
