"""Record the prompts of a run by a LangChain callback; they are not in the state, checkpoints or streams."""

from __future__ import annotations

from typing import Any, TypedDict

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage

from anabranch.safety.prompt_envelope import first_line, with_first_lines


class SentPrompt(TypedDict):
    """One model call: its step and both messages, with only the first line of each passage."""

    step: str
    system: str
    user: str


class PromptLog(BaseCallbackHandler):
    """Records every prompt that is sent to a chat model, in order; pass it to a run under `callbacks`."""

    # Inline, to keep the order; LangChain runs other handlers in a thread pool.
    run_inline = True

    def __init__(self) -> None:
        """Start without prompts."""
        self.sent: list[SentPrompt] = []

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002  # LangChain's signature
        messages: list[list[BaseMessage]],
        *,
        metadata: dict[str, Any] | None = None,
        **_: Any,  # noqa: ANN401
    ) -> None:
        """Record the messages of one call."""
        texts = {role: "\n\n".join(_text(each) for each in messages[0] if each.type == role) for role in _ROLES}
        step = str((metadata or {}).get("langgraph_node", ""))
        self.sent.append(SentPrompt(step=step, system=texts["system"], user=texts["human"]))


_ROLES = ("system", "human")


def _text(message: BaseMessage) -> str:
    if isinstance(message.content, str):
        return with_first_lines(message.content)
    return "\n".join(_block(block) for block in message.content)


def _block(block: str | dict[Any, Any]) -> str:
    """Return a part of a message as text; a document block is shown like a passage in an envelope."""
    if not isinstance(block, dict):
        return with_first_lines(block)
    if block.get("type") == "document":
        return f"document: {block.get('title', '')}\n{first_line(str(block['source'].get('data', '')))}"
    return with_first_lines(str(block.get("text", "")))
