"""What a caller asks of a run, as LangGraph's clients send it."""

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
    messages_of,
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
"""Model calls at once that a caller may ask for."""

SUPPORTED: Mapping[str, Sequence[object]] = {
    "interrupt_before": (),
    "interrupt_after": (),
    "after_seconds": (0,),
    "webhook": (),
    "multitask_strategy": ("enqueue",),
    "on_completion": ("delete",),
}
"""What a run can be asked for by LangGraph's SDK, with the values that change nothing here."""


class RunRequest(BaseModel):
    """The body of a request for a run; what is not named here is left alone.

    Attributes:
        assistant_id: Name of the graph.
        input: The question, or messages that end with one; filters.
        command: `{"resume": ...}`, for a run that waits for a person.
        context: Settings.
        config: Of LangGraph's, `max_concurrency`; the rest is the server's.
        stream_mode: What to stream.
        stream_subgraphs: Whether to stream what the search says inside, too.
        checkpoint_id: Where to go on from, in place of the thread's end.
        on_disconnect: What becomes of the run when nobody reads any more.
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
    def _resumes(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if value is not None and ("resume" not in value or any(value.get(name) for name in ("goto", "update"))):
            msg = "this server resumes, and nothing else"
            raise ValueError(msg)
        return value

    @field_validator("stream_mode", mode="before")
    @classmethod
    def _several(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("context", "config", "metadata", mode="before")
    @classmethod
    def _absent(cls, value: object) -> object:
        return {} if value is None else value

    @field_validator("stream_mode")
    @classmethod
    def _known(cls, value: Sequence[str]) -> Sequence[str]:
        unknown = [mode for mode in value if mode not in MODES]
        if unknown:
            msg = f"stream_mode may be {', '.join(MODES)}"
            raise ValueError(msg)
        return value

    def check(self, graphs: Sequence[str]) -> None:
        """See that it can be begun at all.

        What its settings are worth the graph says, as on every server: it is the run that fails.

        Raises:
            SettingsError: There is no such graph, nothing to do, or something that no thread can take in.
        """
        if self.assistant_id not in graphs:
            msg = f"There is no assistant {self.assistant_id!r}."
            raise SettingsError(msg, hint=f"There is {' and '.join(graphs)}.")
        if self.input is None and self.command is None and self.checkpoint_id is None:
            raise SettingsError("There is nothing to do.", hint='Give input={"question": "..."}.')
        if self.input is not None and "messages" in self.input:
            messages_of(self.input["messages"])
        if len(as_json(self.model_dump())) > MAX_RUN_CHARS:
            msg = f"A run is asked at most {MAX_RUN_CHARS:,} characters, with its settings and all else."
            raise SettingsError(msg, hint="Put long material into the corpus instead.")

    def given(self) -> dict[str, Any] | Command[Any] | None:
        """Return what the graph is given: an input, a command, or None to go on from a checkpoint."""
        if self.command is not None:
            return Command(resume=self.command.get("resume"))
        return self.input

    def context_given(self) -> Context:
        """Return the settings of this call.

        Raises:
            SettingsError: A name is no setting, or a value is out of bounds.
        """
        return Context(**self.context)

    @property
    def max_concurrency(self) -> int:
        """Model calls at once within one step."""
        given = self.config.get("max_concurrency")
        return min(given, MOST_AT_ONCE) if isinstance(given, int) and given > 0 else MAX_CONCURRENCY

    def modes(self) -> list[StreamMode]:
        """Return LangGraph's own modes: those that were asked for, and what the end is known by."""
        return [*dict.fromkeys([*(MODES[mode] for mode in self.stream_mode), "values"])]

    @property
    def has_whole_messages(self) -> bool:
        """Whether a message comes whole with each piece: as on LangGraph's servers, not where both are asked for."""
        return "messages" in self.stream_mode and "messages-tuple" not in self.stream_mode

    def event_name(self, mode: str, place: Sequence[str]) -> str | None:
        """Return the name of an event in the stream; None for what was not asked for.

        Args:
            mode: LangGraph's own.
            place: Of the subgraph that it comes from; empty for the outer one.
        """
        asked = {MODES[each] for each in self.stream_mode}
        # The words of an answer are the answer's wherever they are written.
        if mode not in asked or (place and not self.stream_subgraphs):
            return None
        return "|".join([mode, *place]) if place else mode
