"""The workflows of CI, as far as they can be looked at here: they are YAML, and name what there is."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml

from benchmarks.installation import PYTHONS
from tests.shared_fixtures import REPOSITORY

WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))


def workflow(name: str) -> dict[str, Any]:
    return yaml.safe_load((REPOSITORY / ".github" / "workflows" / name).read_text(encoding="utf-8"))


def steps(jobs: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in jobs.values() for step in job["steps"]]


def test_tests_and_packages_are_tried_with_every_supported_python() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    supported = [each.rpartition(" ")[2] for each in project["classifiers"] if "Python :: 3" in each]
    assert list(PYTHONS) == supported
    jobs = workflow("test.yml")["jobs"]
    for name in ("test", "installation"):
        assert jobs[name]["strategy"]["matrix"]["python"] == supported, name
    # The release has them in one job.
    release = workflow("release.yml")["jobs"]["build"]
    (python,) = [step["with"] for step in release["steps"] if "setup-python" in step.get("uses", "")]
    assert sorted(python["python-version"].split()) == supported
    assert f'make installation PYTHONS="{" ".join(supported)}"' in [step.get("run") for step in release["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_only_read_unless_a_job_says_more_and_ends_in_time(path: Any) -> None:
    found = workflow(path.name)
    assert found["permissions"] == {"contents": "read"}
    assert [name for name, job in found["jobs"].items() if not job.get("timeout-minutes")] == []
    assert [
        each for each in steps(found["jobs"]) if not re.search(r"@(v\d+|release/v\d+)$", each.get("uses", "@v1"))
    ] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_what_a_workflow_makes_is_in_the_makefile(path: Any) -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, flags=re.MULTILINE))
    made = [
        words
        for step in steps(workflow(path.name)["jobs"])
        for words in re.findall(r"^make (.+)$", step.get("run", ""), re.MULTILINE)
    ]
    assert made
    assert {word for words in made for word in words.split() if re.fullmatch("[a-z-]+", word)} <= targets
