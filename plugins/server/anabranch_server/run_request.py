"""The request for a run, as LangGraph's clients send it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langgraph.types import Command, StreamMode
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from anabranch.agent.graph.dependencies import MAX_CONCURRENCY
from anabranch.agent.nodes.settings import Context
from anabranch.errors import SettingsError
from anabranch_server.json_values import as_json
from anabranch_server.request_values import (
    MAX_RUN_CHARS,
    CheckpointId,
    JsonObject,
    read_messages,
    refuse_unsupported,
)

# LangGraph's servers call the stream of single words by another name than LangGraph itself, whose name they give to the
# stream of messages as far as they are written.
MODES: Mapping[str, StreamMode] = {
    "values": "values",
    "updates": "updates",
    "custom": "custom",
    "messages-tuple": "messages",
    "messages": "messages",
}

MOST_AT_ONCE = 64
"""The most concurrent model calls that a caller may ask for."""

SUPPORTED: Mapping[str, Sequence[object]] = {
    "interrupt_before": (),
    "interrupt_after": (),
    "after_seconds": (0,),
    "webhook": (),
    "multitask_strategy": ("enqueue",),
    "on_completion": ("delete",),
}
"""Fields of LangGraph's SDK that this server does not support, with the values that it accepts."""


class RunRequest(BaseModel):
    """The body of a request for a run; unknown fields are ignored.

    Attributes:
        assistant_id: Name of the graph.
        input: The question, or messages that end with one; filters.
        command: `{"resume": ...}`, for a run that waits for a person.
        context: Settings.
        config: LangGraph's; only `max_concurrency` counts.
        stream_mode: What to stream.
        stream_subgraphs: Whether to stream the events of the search graph, too.
        checkpoint_id: The checkpoint to go on from, instead of the thread's last one.
        on_disconnect: Whether the run is cancelled when its client disconnects.
    """

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    assistant_id: str = Field(default="answer", max_length=100)
    input: JsonObject | None = None
    command: JsonObject | None = None
    context: JsonObject = Field(default_factory=dict)
    config: JsonObject = Field(default_factory=dict)
    stream_mode: tuple[str, ...] = ("values",)
    stream_subgraphs: bool = False
    checkpoint_id: CheckpointId = None
    on_disconnect: Literal["cancel", "continue"] = "continue"
    if_not_exists: Literal["create", "reject"] = "reject"
    metadata: JsonObject = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _supported(cls, value: object) -> object:
        refuse_unsupported(value, SUPPORTED)
        return value

    @field_validator("command")
    @classmethod
    def _resume_only(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if value is not None and ("resume" not in value or any(value.get(name) for name in ("goto", "update"))):
            msg = "this server supports only `resume`"
            raise ValueError(msg)
        return value

    @field_validator("stream_mode", mode="before")
    @classmethod
    def _as_tuple(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("context", "config", "metadata", mode="before")
    @classmethod
    def _as_object(cls, value: object) -> object:
        return {} if value is None else value

    @field_validator("stream_mode")
    @classmethod
    def _known_modes(cls, value: Sequence[str]) -> Sequence[str]:
        unknown = [mode for mode in value if mode not in MODES]
        if unknown:
            msg = f"stream_mode may be {', '.join(MODES)}"
            raise ValueError(msg)
        return value

    def check(self, graphs: Sequence[str]) -> None:
        """Check that the run can begin; the graph itself checks its settings, and fails the run.

        Raises:
            SettingsError: The graph is unknown, the input is missing or too long, or a message is invalid.
        """
        if self.assistant_id not in graphs:
            msg = f"There is no assistant {self.assistant_id!r}."
            raise SettingsError(msg, hint=f"There is {' and '.join(graphs)}.")
        if self.input is None and self.command is None and self.checkpoint_id is None:
            raise SettingsError("The run has no input, command or checkpoint.", hint='Give input={"question": "..."}.')
        if self.input is not None and "messages" in self.input:
            read_messages(self.input["messages"])
        if len(as_json(self.model_dump())) > MAX_RUN_CHARS:
            msg = f"The request for a run may have at most {MAX_RUN_CHARS:,} characters, settings included."
            raise SettingsError(msg, hint="Put long material into the corpus instead.")

    def graph_input(self) -> dict[str, Any] | Command[Any] | None:
        """Return the graph's input, a command, or None to go on from a checkpoint."""
        if self.command is not None:
            return Command(resume=self.command.get("resume"))
        return self.input

    def graph_context(self) -> Context:
        """Return the settings of this call.

        Raises:
            SettingsError: A setting is unknown, or a value is out of bounds.
        """
        return Context(**self.context)

    @property
    def max_concurrency(self) -> int:
        """The most concurrent model calls of one step."""
        most = self.config.get("max_concurrency")
        return min(most, MOST_AT_ONCE) if isinstance(most, int) and most > 0 else MAX_CONCURRENCY

    def modes(self) -> list[StreamMode]:
        """Return LangGraph's names of the modes: those requested, and `values`, which tells how the run ended."""
        return [*dict.fromkeys([*(MODES[mode] for mode in self.stream_mode), "values"])]

    @property
    def has_whole_messages(self) -> bool:
        """Whether each event holds the message so far, which LangGraph's servers do unless asked for tuples."""
        return "messages" in self.stream_mode and "messages-tuple" not in self.stream_mode

    def event_name(self, mode: str, place: Sequence[str]) -> str | None:
        """Return the name of an event in the stream; None where it was not requested.

        Args:
            mode: LangGraph's name of the mode.
            place: Path of the subgraph that it comes from; empty for the outer graph.
        """
        asked = {MODES[each] for each in self.stream_mode}
        # The words of an answer are the answer's wherever they are written.
        if mode not in asked or (place and not self.stream_subgraphs):
            return None
        return "|".join([mode, *place]) if place else mode
