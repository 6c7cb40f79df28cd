"""The passages that a model is shown for a question, read from its prompt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from anabranch import answer, ingest
from anabranch.citations.read_passages import PassageText
from anabranch.errors import SettingsError
from anabranch.safety.prompt_envelope import unwrap
from evals.replies.reply_set import ScriptedQuestion, documents


class PromptReader(BaseChatModel):
    """Keeps the passages of the last prompt, and says that they do not tell."""

    seen: dict[int, PassageText] = Field(default_factory=dict)

    @property
    def _llm_type(self) -> str:
        return "prompt-reader"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002  # LangChain's signature
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ANN401, ARG002
    ) -> ChatResult:
        rows, _ = unwrap("\n".join(message.text for message in messages))
        self.seen = {number: PassageText(str(number), text, label) for number, label, text in rows}
        return ChatResult(generations=[ChatGeneration(message=AIMessage("The passages do not say so."))])


@contextmanager
def corpus_of(split: str) -> Iterator[Path]:
    """Take in the documents of a split, for as long as they are needed.

    Raises:
        SettingsError: A document could not be read.
    """
    with TemporaryDirectory(prefix="anabranch-replies-") as folder:
        corpus = Path(folder, "corpus")
        if unread := [row.source for row in ingest(documents(split), corpus).rows if row.status != "added"]:
            msg = f"Of the documents of {split!r}, {unread[0]!r} was not taken in."
            raise SettingsError(msg, hint="Every reply is about one of them.")
        yield corpus


def shown_passages(rows: Iterable[ScriptedQuestion], split: str) -> Mapping[str, dict[int, PassageText]]:
    """Return by the id of each question what a model is shown for it; nothing where none is asked."""
    found = {}
    with corpus_of(split) as corpus:
        for row in rows:
            model = PromptReader()
            answer(row.question, corpus=corpus, model=model, strategy="none")
            found[row.id] = model.seen
    return found
