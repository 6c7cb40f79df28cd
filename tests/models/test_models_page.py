"""Each model that the page on models names in a command is spelled so that a client can be made of it."""

from __future__ import annotations

import re
import shlex
from importlib.util import find_spec
from itertools import pairwise

import pytest
from langchain_core.language_models import BaseChatModel

from anabranch.models.providers import ChatSettings, new_client
from tests.shared_fixtures import REPOSITORY

PAGE = (REPOSITORY / "docs" / "models.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^anabranch ask .* --model (?!auto).*$", PAGE, re.MULTILINE)
PACKAGES = {"google_genai": "langchain_google_genai"}
KEYS = re.findall(r"\b([A-Z_]+_API_KEY)\b", PAGE)


def test_every_provider_of_the_page_has_a_command() -> None:
    named = {shlex.split(command)[shlex.split(command).index("--model") + 1].split(":")[0] for command in COMMANDS}
    assert {"openai", "azure_openai", "anthropic", "openrouter", "google_genai", "ollama", "qwen3"} <= named


@pytest.mark.parametrize("command", COMMANDS)
def test_a_client_can_be_made_of_what_a_command_names(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = shlex.split(command, comments=True)
    given = dict(pairwise(words))
    provider = given["--model"].partition(":")[0]
    if (package := PACKAGES.get(provider)) and find_spec(package) is None:
        pytest.skip(f"{package} is not installed: it wants other versions than those that are tested")
    for name in KEYS:
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://name.openai.azure.com")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    effort = "low" if "reasoning_effort=low" in words else None
    client, left_out = new_client(
        ChatSettings(given["--model"], base_url=given.get("--base-url"), reasoning_effort=effort)
    )
    assert isinstance(client, BaseChatModel)
    assert left_out == ()
