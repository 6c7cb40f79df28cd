"""The prompts of a run, as LangChain's callbacks see them: nothing of it is in the state, a checkpoint or a stream."""

from __future__ import annotations

from typing import Any, TypedDict

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage

from anabranch.safety.prompt_envelope import first_line, with_first_lines


class SentPrompt(TypedDict):
    """One call: the step that made it, and both messages as they were sent, of each passage its first line."""

    step: str
    system: str
    user: str


class PromptLog(BaseCallbackHandler):
    """Keeps every prompt that is sent to a chat model, in order; give it to a run under `callbacks`."""

    # In the order in which they are sent; LangChain runs other handlers in a pool of threads.
    run_inline = True

    def __init__(self) -> None:
        """Begin with none."""
        self.sent: list[SentPrompt] = []

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002  # LangChain's signature
        messages: list[list[BaseMessage]],
        *,
        metadata: dict[str, Any] | None = None,
        **_: Any,  # noqa: ANN401
    ) -> None:
        """Take the messages of one call."""
        said = {role: "\n\n".join(_text(each) for each in messages[0] if each.type == role) for role in _ROLES}
        step = str((metadata or {}).get("langgraph_node", ""))
        self.sent.append(SentPrompt(step=step, system=said["system"], user=said["human"]))


_ROLES = ("system", "human")


def _text(message: BaseMessage) -> str:
    if isinstance(message.content, str):
        return with_first_lines(message.content)
    return "\n".join(_block(block) for block in message.content)


def _block(block: str | dict[Any, Any]) -> str:
    """Return a part of a message; a passage that is sent as a document block is shown like one in an envelope."""
    if not isinstance(block, dict):
        return with_first_lines(block)
    if block.get("type") == "document":
        return f"document: {block.get('title', '')}\n{first_line(str(block['source'].get('data', '')))}"
    return with_first_lines(str(block.get("text", "")))
