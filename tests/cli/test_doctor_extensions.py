"""Extensions of other packages, found by their metadata as pip leaves it."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

from anabranch.cli.installation_checks import EXTENSIONS, extension_checks
from anabranch.registry import Registry, is_ours
from tests.cli.conftest import Run
from tests.cli.test_doctor_command import checks


def installed(folder: Path, package: str, points: str, module: str) -> None:
    """Write what an installed package consists of."""
    (folder / f"{package}.py").write_text(module, encoding="utf-8")
    metadata = folder / f"{package}-1.5.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(points, encoding="utf-8")


def test_without_other_packages_there_is_one_line() -> None:
    assert [(check.name, check.status) for check in extension_checks()] == [("extensions", "off")]


def test_each_kind_is_found_by_the_group_that_its_registry_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = "".join(f"[anabranch.{kind}]\nmine = riverlib:Mine\n" for kind in EXTENSIONS)
    installed(tmp_path, "riverlib", points, "class Mine: pass")
    monkeypatch.syspath_prepend(str(tmp_path))
    (check,) = extension_checks()
    assert check.status == "ok"
    assert check.said.split("; ") == [f"{kind}: mine from riverlib 1.5" for kind in EXTENSIONS]
    for kind in ("retriever", "reranker", "embedder", "reader", "store", "synthesis mode", "command", "source"):
        registry: Registry[object] = Registry(kind, {})
        assert registry.group.removeprefix("anabranch.") in EXTENSIONS
        ours = {entry.name for entry in entry_points(group=registry.group) if is_ours(entry)}
        assert set(registry.names) - ours == {"mine"}


@pytest.mark.parametrize("module", ["import nothing_of_this_name", "raise SystemError('worn out')", "pass", "("])
def test_a_package_that_cannot_be_imported_has_a_line_of_its_own_and_ends_nothing(
    run: Run, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    installed(tmp_path, "brokenlib", "[anabranch.retrievers]\nbad = brokenlib:Bad\n", module)
    installed(tmp_path, "soundlib", "[anabranch.rerankers]\ngood = soundlib:Good\n", "class Good: pass")
    monkeypatch.syspath_prepend(str(tmp_path))
    result = run("doctor", "--corpus", corpus, "--json")
    assert result.exit_code == 0
    found = checks(result)
    assert found["extension"]["status"] == "note"
    assert "retrievers: bad from brokenlib 1.5 (brokenlib:Bad) cannot be imported" in found["extension"]["said"]
    assert found["extensions"]["said"] == "rerankers: good from soundlib 1.5"
