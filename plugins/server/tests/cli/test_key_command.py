"""`anabranch key new`: a key that is shown once, and lines that a server reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch_server.identity import identity_of
from tests.cli.conftest import Run


async def test_the_lines_make_a_file_and_the_key_opens_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [
        run("key", "new", "--identity", name, "--access", "hr", "--access", "a: b", "--role", "ingest", "--tenant", "t")
        for name in ("Žaneta", "- yes: no")
    ]
    (tmp_path / "auth.yaml").write_text("keys:\n" + "".join(result.stdout for result in made), encoding="utf-8")
    monkeypatch.setenv("ANABRANCH_AUTH", str(tmp_path / "auth.yaml"))
    for result, name in zip(made, ("Žaneta", "- yes: no"), strict=True):
        (key,) = [word for word in result.stderr.split() if word.startswith("anabranch_")]
        assert key not in result.stdout
        user = await identity_of([("authorization", f"Bearer {key}")])
        assert (user.identity, user.tenant, user.access, user.roles) == (name, "t", ("hr", "a: b"), {"ingest"})


@pytest.mark.parametrize(
    "wrong", [["--identity", ""], ["--identity", "a", "--role", "king"], ["--identity", "a", "--tenant", "../b"]]
)
def test_what_no_file_may_say_is_no_key(run: Run, wrong: list[str]) -> None:
    result = run("key", "new", *wrong)
    assert result.exit_code == 2
    assert "anabranch_" not in result.stdout + result.stderr


def test_the_command_line_asks_as_the_operator(
    run: Run, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "auth.yaml").write_text("keys: []")
    monkeypatch.setenv("ANABRANCH_AUTH", str(tmp_path / "auth.yaml"))
    assert run("ingest", documents, "--corpus", tmp_path / "c", "--access", "family").exit_code == 0
    question = ("ask", "When was the boiler serviced?", "--corpus", tmp_path / "c")
    assert "3 March 2024" in run(*question, "--set", 'access=["family"]').stdout
    assert "3 March 2024" not in run(*question).stdout
    # Which does not make a file right that is wrong.
    assert "names nobody" in run("doctor", "--corpus", tmp_path / "c").stdout
