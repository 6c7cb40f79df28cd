"""What is done while the model writes."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from anabranch import answer, ingest
from anabranch.citations.quote_matching import Folded, fold

SAID = "The weir was built by Ada Stern in 1862."


def test_the_check_reads_the_passages_while_the_model_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, before = Counter[str](), Counter[str]()

    def counted(text: str) -> Folded:
        read[text] += 1
        return fold(text)

    class Slow(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "slow"

        def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
            end = time.monotonic() + 60
            while not read and time.monotonic() < end:
                time.sleep(0.01)
            before.update(read)
            return ChatResult(generations=[ChatGeneration(message=AIMessage(SAID))])

    monkeypatch.setattr("anabranch.citations.read_passages.fold", counted)
    (tmp_path / "weir.md").write_text(f"# The weir\n\n{SAID} Nobody knows who paid for it.\n", "utf-8")
    ingest(tmp_path / "weir.md", tmp_path / "corpus")
    found = answer("Who built the weir?", corpus=tmp_path / "corpus", model=Slow(), strategy="none")
    assert found["status"] == "answered"
    # Once, before the model's first word, and not again for the claims.
    assert before == read
    assert set(read.values()) == {1}
