"""Extensions are found by name, those of an installed package too."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.errors import MissingExtraError, SettingsError
from anabranch.registry import Registry


def installed(folder: Path, *lines: str, group: str = "anabranch.toys", name: str = "other") -> None:
    """Put a package with entry points where Python looks for packages."""
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]))


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry[type]:
    installed(tmp_path, "mine = fractions:Fraction", "gone = no_such_package:Thing", "decimal = fractions:Fraction")
    monkeypatch.syspath_prepend(tmp_path)
    return Registry("toy", {"decimal": "decimal:Decimal"})


def test_what_is_built_in_and_what_is_installed_is_found(toys: Registry[type]) -> None:
    assert toys.names == ("decimal", "gone", "mine")
    assert toys.get("mine").__name__ == "Fraction"
    assert "mine" in toys
    assert "other" not in toys


def test_nobody_replaces_what_is_built_in(toys: Registry[type]) -> None:
    assert toys.get("decimal").__name__ == "Decimal"


def test_an_unknown_name_is_refused_with_the_nearest(toys: Registry[type]) -> None:
    with pytest.raises(SettingsError, match="no toy 'min'") as caught:
        toys.get("min")
    assert caught.value.hint == "Did you mean 'mine'? Known: decimal, gone, mine."


def test_a_package_that_cannot_be_imported_is_named(toys: Registry[type]) -> None:
    with pytest.raises(SettingsError, match=r"'gone' \(no_such_package:Thing\) cannot be imported"):
        toys.get("gone")


def test_a_package_that_breaks_while_it_is_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_package.py").write_text("raise RuntimeError('no licence')")
    installed(tmp_path, "mine = broken_package:Thing")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SettingsError, match=r"'mine' .* cannot be imported: no licence"):
        Registry[type]("toy", {}).get("mine")


def test_kinds_of_two_words_have_a_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "mine = fractions:Fraction", group="anabranch.synthesis_modes")
    monkeypatch.syspath_prepend(tmp_path)
    modes: Registry[type] = Registry("synthesis mode", {})
    assert modes.names == ("mine",)


@pytest.mark.parametrize("first", ["anabranch", "other"])
def test_nobody_replaces_what_one_of_our_plugins_adds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    for name, place in {"anabranch": "decimal:Decimal [serve]", "other": "fractions:Fraction"}.items():
        installed(tmp_path / name, f"mine = {place}", name=name)
    for name in sorted(("anabranch", "other"), key=lambda name: name == first):
        monkeypatch.syspath_prepend(tmp_path / name)  # the last one is looked at first
    assert Registry[type]("toy", {}).get("mine").__name__ == "Decimal"


def test_a_plugin_that_is_absent_is_named_by_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half_package.py").write_text("import no_such_library")
    (tmp_path / "broken_package.py").write_text("import anabranch.no_such_module")
    places = ("gone = no_such_package:Thing [mcp]", "half = half_package:Thing [s3]", "broken = broken_package:X [s3]")
    installed(tmp_path, *places)
    monkeypatch.syspath_prepend(tmp_path)
    registry: Registry[type] = Registry("toy", {})
    for name, extra in {"gone": "mcp", "half": "s3"}.items():
        with pytest.raises(MissingExtraError, match=f"The toy '{name}' needs") as caught:
            registry.get(name)
        assert caught.value.hint == f"Install it: pip install 'anabranch[{extra}]'"
    with pytest.raises(SettingsError, match=r"'broken' .* cannot be imported: No module named 'anabranch.no_such"):
        registry.get("broken")
