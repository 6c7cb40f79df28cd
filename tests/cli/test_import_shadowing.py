from __future__ import annotations

import sys
from pathlib import Path

import anabranch
from anabranch.cli.import_shadowing import shadows

OURS = str(Path(anabranch.__file__).parent.parent)


def other(folder: Path, name: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text("")
    return folder


def test_this_environment_has_none() -> None:
    assert list(shadows()) == []


def test_a_package_before_ours_hides_it(tmp_path: Path) -> None:
    other(tmp_path, "graph")
    assert list(shadows([str(tmp_path), OURS])) == [("graph", str(tmp_path / "graph"), True)]


def test_a_package_after_ours_is_hidden_by_it(tmp_path: Path) -> None:
    other(tmp_path, "nodes")
    assert list(shadows([OURS, str(tmp_path)])) == [("nodes", str(tmp_path / "nodes"), False)]


def test_a_module_counts_and_a_bare_folder_does_not(tmp_path: Path) -> None:
    (tmp_path / "prompts.py").write_text("")
    (tmp_path / "graph").mkdir()
    assert list(shadows([str(tmp_path), OURS])) == [("prompts", str(tmp_path / "prompts.py"), True)]


def test_the_module_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "prompts.py").write_text("raise SystemError")
    list(shadows([str(tmp_path), OURS]))
    assert not str(sys.modules.get("prompts", "")).startswith(str(tmp_path))
