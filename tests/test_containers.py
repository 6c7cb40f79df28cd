"""The image and the compose files, as far as they can be read without a daemon that builds and starts them."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from anabranch.cli.app import app
from anabranch_server import health_routes
from anabranch_server.services import GRACE
from scripts.requirements import requirements
from tests.dockerfiles import (
    Instruction,
    check_syntax,
    copied_sources,
    installs,
    read_environment,
    read_instructions,
    run_install,
    sent_files,
)
from tests.shared_fixtures import REPOSITORY
from tests.test_workflows import steps, workflow

EXTRAS = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
IGNORED = [line for line in (REPOSITORY / ".dockerignore").read_text().split() if line]


def _stages() -> dict[str, list[Instruction]]:
    """Each stage of the Dockerfile with the instructions of those that it stands on."""
    stages: dict[str, list[Instruction]] = {}
    name = ""
    for line in read_instructions((REPOSITORY / "Dockerfile").read_text()):
        if line.word == "FROM":
            base, _, name = line.rest.split()
            stages[name] = [*stages.get(base, [Instruction("FROM", base)])]
        elif name:
            stages[name].append(Instruction(line.word, " ".join(line.rest.split())))
    return stages


STAGES = _stages()
IMAGES = ["serve", "aegra"]


def _only(image: str, word: str) -> list[str]:
    return [rest for each, rest in STAGES[image] if each == word]


def _environment(image: str) -> dict[str, str]:
    return {name: value for line in _only(image, "ENV") for name, value in read_environment(line).items()}


def test_the_server_is_the_image_that_is_built_by_default() -> None:
    assert list(STAGES)[-1] == "serve"


@pytest.mark.parametrize("image", IMAGES)
def test_nobody_is_root(image: str) -> None:
    (made,) = [rest for rest in _only(image, "RUN") if rest.startswith("useradd")]
    assert "--uid 10001 --user-group" in made
    assert _only(image, "USER") == ["10001:10001"]
    before = [word for word, _ in STAGES[image]]
    assert "RUN" not in before[before.index("USER") :]


@pytest.mark.parametrize("image", IMAGES)
def test_what_runs_has_no_build_tools_and_no_source(image: str) -> None:
    copied = _only(image, "COPY")
    assert all(each.startswith(("--from=built", "langgraph.json", "graph")) for each in copied)
    assert _only(image, "FROM") == ["python:${PYTHON}-slim"]


@pytest.mark.parametrize("stage", ["built", "built-aegra"])
def test_packages_are_a_layer_below_the_source_in_tested_versions(stage: str) -> None:
    lines = STAGES[stage]
    source = lines.index(("COPY", ". ."))
    installs = [(at, rest) for at, (word, rest) in enumerate(lines) if word == "RUN" and "pip install" in rest]
    for at, rest in installs:
        assert ("-c constraints.txt" in rest) == (at < source)
        assert ("--no-deps ." in rest) == (at > source)


@pytest.mark.parametrize("stage", STAGES)
def test_what_is_copied_is_there_and_sent_to_the_builder(stage: str) -> None:
    assert set(copied_sources(STAGES[stage])) - {"."} <= sent_files(REPOSITORY)


@pytest.mark.parametrize("stage", ["built", "built-aegra"])
def test_the_shell_reads_the_commands_as_they_are_meant(stage: str, tmp_path: Path) -> None:
    work = tmp_path / "src"
    work.mkdir()
    copied = ["pyproject.toml", "constraints.txt", "scripts/requirements.py"]
    assert copied_sources(STAGES[stage]) == [*copied, "."]
    for each in copied:
        shutil.copy(REPOSITORY / each, work)
    arguments = read_environment(" ".join(_only(stage, "ARG")))
    calls = []
    for line in (line for line in STAGES[stage] if line.word == "RUN"):
        check_syntax(line.rest)
        if installs(line):
            calls += [call.words[1:] for call in run_install(line.rest, tmp_path, work, arguments)]
    pinned = ["install", "-c", "constraints.txt"]
    aegra = [[*pinned, "aegra-api==0.11.0"]] if stage == "built-aegra" else []
    rest = [["install", "--no-deps", "."], ["uninstall", "--yes", "pip"]]
    assert calls == [[*pinned, "-r", "requirements.txt"], *aegra, *rest]
    # Nothing but what was meant is written, and pip can read it.
    assert {each.name for each in work.iterdir()} == {"requirements.txt", *(Path(each).name for each in copied)}
    names = {Requirement(line).name for line in (work / "requirements.txt").read_text().splitlines()}
    assert names >= {Requirement(line).name for line in EXTRAS["serve"]}


@pytest.mark.parametrize("image", IMAGES)
def test_other_commands_of_an_image_can_be_read_by_the_shell(image: str) -> None:
    for command in _only(image, "RUN"):
        check_syntax(command)


def test_a_workflow_builds_every_image() -> None:
    commands = "\n".join(step.get("run", "") for step in steps({"build": workflow("image.yml")["jobs"]["build"]}))
    makefile = (REPOSITORY / "Makefile").read_text()
    (recipe,) = re.findall(r"^image:.*\n\t(.+)$", makefile, flags=re.MULTILINE)
    built = set(re.findall(r"^docker build --target (\S+)", commands, flags=re.MULTILINE))
    if "make image" in commands.splitlines() and "--target" not in recipe:
        built.add(list(STAGES)[-1])
    assert built == set(IMAGES)
    assert re.search(r"\blanggraph build --tag \S+$", commands, flags=re.MULTILINE)


@pytest.mark.parametrize("stage", ["built", "built-aegra"])
def test_nothing_can_install_packages_where_the_server_runs(stage: str) -> None:
    assert STAGES[stage][-1][1].endswith("pip uninstall --yes pip")


@pytest.mark.parametrize("each", [".venv-peers", ".venv-aegra", "notes.answers.db-wal", "dist", "Dockerfile.generated"])
def test_what_git_ignores_is_not_sent_to_the_build(each: str) -> None:
    assert any(fnmatch(each, pattern.removeprefix("**/")) for pattern in IGNORED)


def test_the_extras_of_the_image_are_pinned() -> None:
    (extras,) = [rest.removeprefix("EXTRAS=") for word, rest in STAGES["packages"] if word == "ARG"]
    lines = requirements(REPOSITORY / "pyproject.toml", extras)
    assert set(EXTRAS["serve"]) | set(EXTRAS["postgres"]) | set(EXTRAS["telemetry"]) < set(lines)
    pinned = {line.split("==")[0] for line in (REPOSITORY / "constraints.txt").read_text().splitlines()}
    assert {canonicalize_name(Requirement(line).name) for line in lines} <= pinned


@pytest.mark.parametrize("image", IMAGES)
def test_the_health_check_asks_a_path_that_there_is(image: str) -> None:
    (check,) = _only(image, "HEALTHCHECK")
    *_, program = json.loads(check[check.index("[") :])
    compile(program, "health check", "exec")
    (port, path) = re.findall(r"127\.0\.0\.1:(\d+)(/\w+)", program)[0]
    assert _only(image, "EXPOSE") == [port]
    if image == "serve":
        assert path in {route.path for route in health_routes.router.routes}


def test_the_command_is_one_that_there_is() -> None:
    (entry,), (given,) = _only("serve", "ENTRYPOINT"), _only("serve", "CMD")
    name, *options = [*json.loads(entry), *json.loads(given)][1:]
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    context = commands[name].make_context(name, options)
    assert context.params["host"] == "0.0.0.0"
    (port,) = _only("serve", "EXPOSE")
    assert context.params["port"] == int(port)


@pytest.mark.parametrize("image", IMAGES)
def test_no_secret_is_in_the_image(image: str) -> None:
    given = _environment(image)
    assert not [name for name in given if re.search("PASSWORD|SECRET|TOKEN|KEY", name)]
    assert {"auth.yaml", ".env", ".env.*", ".anabranch", ".git"} <= set(IGNORED)
    # Without the file that it names, the server does not start: it answers nobody rather than everybody.
    assert given["ANABRANCH_AUTH"] == "/run/secrets/auth.yaml"


FILES = ["compose.yaml", "compose.aegra.yaml"]


def _compose(name: str) -> Any:
    return yaml.safe_load((REPOSITORY / name).read_text())


@pytest.fixture(params=FILES)
def composed(request: pytest.FixtureRequest) -> Any:
    return _compose(request.param)


def _ours(composed: Mapping[str, Any]) -> Any:
    (found,) = [each for each in composed["services"].values() if "build" in each]
    return found


def test_everything_named_is_declared(composed: Any) -> None:
    volumes = {each.split(":")[0] for service in composed["services"].values() for each in service.get("volumes", ())}
    assert volumes == set(composed["volumes"])
    networks = {each for service in composed["services"].values() for each in service["networks"]}
    assert networks - {"default"} == set(composed["networks"])
    assert {each for service in composed["services"].values() for each in service.get("secrets", ())} == set(
        composed["secrets"]
    )
    built = [each["build"] for each in composed["services"].values() if "build" in each]
    assert all(each == "." or (each["context"] == "." and each["target"] in IMAGES) for each in built)
    for service in composed["services"].values():
        for other, condition in service.get("depends_on", {}).items():
            assert condition == {"condition": "service_healthy"}
            assert "healthcheck" in composed["services"][other]


def test_only_the_server_is_reached_and_from_this_machine_alone(composed: Any) -> None:
    for service in composed["services"].values():
        if "build" in service:
            assert all(port.startswith("127.0.0.1:") for port in service["ports"])
        else:
            assert "ports" not in service
            assert service["networks"] == ["inside"]
    assert composed["networks"]["inside"]["internal"]


def test_no_password_is_in_the_file_and_none_is_assumed(composed: Any) -> None:
    given = [
        (name, value) for each in composed["services"].values() for name, value in each.get("environment", {}).items()
    ]
    passwords = [value for name, value in given if "PASSWORD" in name]
    assert len(passwords) == 2
    assert all(re.fullmatch(r"\$\{ANABRANCH_DATABASE_PASSWORD:\?.+\}", value) for value in passwords)
    # Keys come from the environment of whoever starts it, or are left out.
    assert all(value is None for name, value in given if name.endswith("_KEY"))


def test_the_server_may_do_no_more_than_it_needs(composed: Any) -> None:
    ours = _ours(composed)
    assert ours["read_only"] and ours["cap_drop"] == ["ALL"] and "no-new-privileges:true" in ours["security_opt"]
    assert float(ours["stop_grace_period"].removesuffix("s")) > GRACE
    target = ours["build"]["target"] if isinstance(ours["build"], dict) else "serve"
    given = {**_environment(target), **ours["environment"]}
    (secret,) = ours["secrets"]
    assert given["ANABRANCH_AUTH"] == f"/run/secrets/{secret}"
    assert secret in composed["secrets"]
    # What is written is on volumes.
    mounted = [each.split(":")[1] for each in ours["volumes"]]
    assert any(given["ANABRANCH_CORPUS"].startswith(f"{each}/") for each in mounted)
    assert given["ANABRANCH_INGEST_ROOT"] in mounted
    for each in mounted:
        assert each in " ".join(_only(target, "VOLUME")).split()


def test_images_of_others_have_a_version(composed: Any) -> None:
    images = [each["image"] for each in composed["services"].values() if "build" not in each]
    assert all(re.fullmatch(r"\w+:\d+", image) for image in images)


def test_aegra_is_pinned_and_shares_its_queue() -> None:
    pin = (
        (REPOSITORY / "plugins" / "server" / "tests" / "aegra.txt").read_text().split()[-1]
    )  # the version that the tests run over
    assert any(pin in rest.split() for _, rest in STAGES["aegra"] + STAGES["built-aegra"])
    assert _ours(_compose("compose.aegra.yaml"))["environment"]["REDIS_BROKER_ENABLED"] == "true"
    (copied, graphs) = [each.split()[0] for each in _only("aegra", "COPY") if not each.startswith("--from")]
    named = [each["path"] for each in json.loads((REPOSITORY / copied).read_text())["graphs"].values()]
    assert {path.removeprefix("./").split("/")[0] for path in named} == {graphs}
