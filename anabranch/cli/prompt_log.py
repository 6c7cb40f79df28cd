"""Record the prompts of a run by a LangChain callback; they are not in the state, checkpoints or streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage

from anabranch.safety.key_redaction import redacted
from anabranch.safety.prompt_envelope import first_line, with_first_lines


class SentPrompt(TypedDict):
    """One model call: its step and both messages."""

    step: str
    system: str
    user: str


class PromptLog(BaseCallbackHandler):
    """Records every prompt that is sent to a chat model, in order; pass it to a run under `callbacks`.

    Attributes:
        sent: The prompts with the first line of each passage.
        whole: The same prompts whole, without keys.
    """

    # Inline, to keep the order; LangChain runs other handlers in a thread pool.
    run_inline = True

    def __init__(self) -> None:
        """Start without prompts."""
        self.sent: list[SentPrompt] = []
        self.whole: list[SentPrompt] = []

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002  # LangChain's signature
        messages: list[list[BaseMessage]],
        *,
        metadata: dict[str, Any] | None = None,
        **_: Any,  # noqa: ANN401
    ) -> None:
        """Record the messages of one call."""
        step = str((metadata or {}).get("langgraph_node", ""))
        self.sent.append(_prompt(step, messages[0], with_first_lines, first_line))
        self.whole.append(_prompt(step, messages[0], redacted, redacted))


TextFormat = Callable[[str], str]


def _prompt(
    step: str, messages: Sequence[BaseMessage], format_text: TextFormat, format_document: TextFormat
) -> SentPrompt:
    """Return a call as text; `format_document` is for documents that are sent as blocks."""

    def text(role: str) -> str:
        return "\n\n".join(_text(each, format_text, format_document) for each in messages if each.type == role)

    return SentPrompt(step=step, system=text("system"), user=text("human"))


def _text(message: BaseMessage, format_text: TextFormat, format_document: TextFormat) -> str:
    if isinstance(message.content, str):
        return format_text(message.content)
    return "\n".join(_block(block, format_text, format_document) for block in message.content)


def _block(block: str | dict[Any, Any], format_text: TextFormat, format_document: TextFormat) -> str:
    """Return a part of a message as text; a document block is shown like a passage in an envelope."""
    if not isinstance(block, dict):
        return format_text(block)
    if block.get("type") == "document":
        return f"document: {block.get('title', '')}\n{format_document(str(block['source'].get('data', '')))}"
    return format_text(str(block.get("text", "")))
