"""Settings whose mistakes are explained: with the name that was meant, and what a value may be.

A setting may name an extension, or be one that was given in code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError, core_schema

from anabranch.errors import SettingsError
from anabranch.registry import OBJECT, Registry

MAX_PROBLEMS = 5
"""Problems that one error names."""

MAX_SHOWN = 80
"""Characters of a value that an error repeats."""


class CheckedSettings(BaseModel):
    """One frozen set of choices; a mistake in it is a SettingsError, also where LangGraph makes it of a dictionary."""

    # A mistyped setting that is ignored costs a wrong answer; and pydantic would keep names in `model_` to itself.
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), hide_input_in_errors=True)

    # Type checkers know the fields from pydantic as long as they do not see this.
    if not TYPE_CHECKING:

        def __init__(self, /, **values: Any) -> None:  # noqa: ANN401  # pydantic checks them
            """Take the values by name.

            Raises:
                SettingsError: A name is no setting, or a value is out of bounds.
            """
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise settings_error(error, type(self).model_fields) from error


def settings_error(error: ValidationError, fields: Mapping[str, FieldInfo], kind: str = "setting") -> SettingsError:
    """Say what is wrong with values that the caller gave, and repeat them."""
    problems = error.errors(include_url=False)
    for problem in problems:
        if problem["type"] == "extra_forbidden":
            name = str(problem["loc"][0])
            hint = nearest(name, {field: repr(field) for field in fields}) or f"The settings are {', '.join(fields)}."
            return SettingsError(f"There is no setting {name!r}.", hint=hint)
    told = " ".join(_problem(problem, fields, kind) for problem in problems[:MAX_PROBLEMS])
    return SettingsError(told, hint="See docs/settings.md." if kind == "setting" else "")


def nearest(name: str, known: Mapping[str, str]) -> str:
    """Return a hint with the name that was meant, spelled as `known` says; empty where none is near."""
    # Dashes are how options are spelled, so `--set top-k=3` is the likeliest slip.
    near = get_close_matches(name.lower().replace("-", "_"), known, n=1)
    return f"Did you mean {known[near[0]]}?" if near else ""


def _problem(item: ErrorDetails, fields: Mapping[str, FieldInfo], kind: str) -> str:
    what = item["msg"][:1].lower() + item["msg"][1:]
    if not item["loc"]:
        return f"The settings cannot be used: {what}."
    name = str(item["loc"][0])
    if item["type"] == "missing":
        return f"The {kind} {name!r} is missing."
    value = repr(item["input"])
    # Of the options of a client the value is not repeated: it was refused because it may hold a key.
    shown = "what was given" if name == "model_kwargs" else value[:MAX_SHOWN] + ("..." if value[MAX_SHOWN:] else "")
    meaning = f" ({fields[name].description})" if fields[name].description else ""
    return f"The {kind} {name!r} cannot be {shown}: {what}.{meaning}"


@dataclass(frozen=True)
class OneOf:
    """Marks a text setting that names an extension: checked against the registry, and a choice of names in forms.

    Attributes:
        registry: Where the extension is looked up.
        others: Names that mean something else, such as "none".
    """

    registry: Registry[Any]
    others: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the setting takes."""
        return (*self.others, *self.registry.names)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401
        return core_schema.no_info_after_validator_function(self._known, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return handler(schema) | {"enum": list(self.names)}

    def _known(self, name: str) -> str:
        # What was given in code has no name here; whether it is there is seen where it is used.
        if name not in self.names and not name.startswith(OBJECT):
            near = get_close_matches(name, self.names, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            # The name itself is not repeated: what the environment holds may not be the caller's to read.
            known = {"kind": self.registry.kind, "hint": hint, "names": ", ".join(self.names)}
            raise PydanticCustomError("one_of", "there is no such {kind}{hint} Known: {names}", known)
        return name


OBJECTS = ("model", "rerank")
"""The settings that may be objects given in code."""


def objects_in(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the settings that are objects and no names.

    Raises:
        ValueError: One is not what the setting takes.
    """
    given = {name: values.get(name) for name in OBJECTS}
    objects = {name: value for name, value in given.items() if value is not None and not isinstance(value, str)}
    if objects:
        # It takes a second to import, which whoever gives names has no use for.
        from langchain_core.documents import BaseDocumentCompressor
        from langchain_core.language_models import BaseChatModel

        kinds = {"model": (BaseChatModel, "chat model"), "rerank": (BaseDocumentCompressor, "document compressor")}
        for name, value in objects.items():
            kind, what = kinds[name]
            if not isinstance(value, kind):
                msg = f"{name} is neither a name nor a LangChain {what}, but {type(value).__name__}"
                raise ValueError(msg)  # noqa: TRY004  # of a TypeError pydantic would make no ValidationError
    return objects
