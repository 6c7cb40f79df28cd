"""Ranges of dependencies: what the tests ran with is in them, and versions with known faults are not."""

from __future__ import annotations

import tomllib
from importlib.metadata import requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.shared_fixtures import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"].values()
REQUIRED = [Requirement(line) for line in [*PROJECT["dependencies"], *(line for lines in EXTRAS for line in lines)]]
PINNED = dict(
    line.split("==")
    for line in (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
)

# The last version that has it, and what.
HOLES = [
    ("protobuf", "5.29.4", "CVE-2025-4565: nested groups exhaust the stack"),
    ("protobuf", "6.33.4", "CVE-2026-0994: nested messages exhaust the stack"),
    ("lxml", "5.3.2", "libxml2 before 2.13.8: CVE-2025-32414, CVE-2025-32415"),
    ("lxml", "6.0.4", "CVE-2026-41066: iterparse reads local files that a document names"),
    ("filelock", "3.20.0", "CVE-2025-68146: a symbolic link in the place of the lock empties a file"),
    ("filelock", "3.20.2", "CVE-2026-22701: the same, of another kind of lock"),
    ("httpcore", "1.0.8", "CVE-2025-43859: allows an h11 that reads chunked bodies as others do not"),
    ("onnxruntime", "1.29.0", "ends the process when it loads the model that comes with us"),
    ("pymupdf", "1.27.2", "leaves Arabic letters in their presentation forms, which no search finds"),
    ("pyjwt", "2.11.0", "CVE-2026-32597: takes tokens with critical headers that it does not know"),
    ("langchain-core", "1.2.4", "CVE-2025-68664: what is loaded makes objects"),
    ("langgraph-checkpoint-sqlite", "3.0.0", "CVE-2025-67644: names in a filter of metadata are SQL"),
]
# The same of packages that come with one of ours, and that it keeps out.
HOLES_BELOW = [
    ("httpcore", "h11", "0.15.0", "CVE-2025-43859"),
    ("langgraph-checkpoint-sqlite", "langgraph-checkpoint", "2.1.2", "CVE-2025-64439: what is loaded runs code"),
]


@pytest.mark.parametrize("required", REQUIRED, ids=lambda required: required.name)
def test_what_the_tests_ran_with_is_in_range(required: Requirement) -> None:
    if required.name != "anabranch":
        assert required.specifier.contains(PINNED[canonicalize_name(required.name)])


@pytest.mark.parametrize("required", REQUIRED, ids=lambda required: required.name)
def test_every_range_has_two_ends(required: Requirement) -> None:
    if required.name != "anabranch":
        assert {each.operator for each in required.specifier} == {">=", "<"}


@pytest.mark.parametrize(("name", "version", "hole"), HOLES, ids=[hole for *_, hole in HOLES])
def test_versions_with_holes_are_out_of_range(name: str, version: str, hole: str) -> None:
    ranges = [required.specifier for required in REQUIRED if required.name == name]
    assert ranges
    assert not any(each.contains(version) for each in ranges), hole


@pytest.mark.parametrize(("ours", "name", "version", "hole"), HOLES_BELOW, ids=[hole for *_, hole in HOLES_BELOW])
def test_what_comes_with_a_dependency_has_no_holes_either(ours: str, name: str, version: str, hole: str) -> None:
    (below,) = [each for each in map(Requirement, requires(ours) or ()) if each.name == name]
    assert not below.specifier.contains(version), hole
    assert below.specifier.contains(PINNED[name])
