from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.errors import CollectionError
from anabranch_evaluation.yaml_positions import Located, read_located


def read(tmp_path: Path, text: str) -> Located:
    path = tmp_path / "table.yaml"
    path.write_text(text, encoding="utf-8")
    return read_located(path)


def test_values_know_their_lines(tmp_path: Path) -> None:
    found = read(tmp_path, "# a table\na: 1\nb:\n  - x\n  - {c: 2, d: null}\n")
    assert found.value == {"a": 1, "b": ["x", {"c": 2, "d": None}]}
    assert found.line(("a",)) == 2
    assert found.line(("b", 1, "c")) == 5
    assert found.line(("b", 1, "missing")) == 5
    assert found.line(("missing",)) == 2


def test_a_value_is_replaced_and_nothing_else_is(tmp_path: Path) -> None:
    text = "\ufeff# keep\ncases:\n  - {e: null,  x: é}  # ☂\n  - e:\n    x: 'null'\n  - {e: .5}\n"
    found = read(tmp_path, text)
    changed = found.replace_values({("cases", index, "e"): f"0.{index}" for index in range(3)})
    assert changed == "# keep\ncases:\n  - {e: 0.0,  x: é}  # ☂\n  - e: 0.1\n    x: 'null'\n  - {e: 0.2}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [1", "is not YAML"),
        ("a: \x00", "is not YAML"),
        ("a: !!python/object:os.system x", "is not YAML"),
        ("a: 2020-13-99", "is not YAML"),
        ("[" * 600, "is not YAML"),
        ("a: 1\nb: 2\na: 3", "line 3: 'a' was given on line 1 already"),
        ("x:\n  a: 1\n  a: 1", "line 3"),
    ],
)
def test_what_is_no_yaml_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CollectionError, match=said):
        read(tmp_path, text)


def test_an_empty_file_and_one_that_is_not_there(tmp_path: Path) -> None:
    assert read(tmp_path, "").value is None
    with pytest.raises(CollectionError, match="cannot be read"):
        read_located(tmp_path / "missing.yaml")


def test_aliases_do_not_multiply(tmp_path: Path) -> None:
    """Ten lines that stand for a billion values are walked as ten lines."""
    levels = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10))
    assert len(read(tmp_path, f"a0: &a0 x\n{levels}\n").lines) == 11
    assert read(tmp_path, "a: &a [*a]\n").line(("a",)) == 1
