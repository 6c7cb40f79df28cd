"""Settings with helpful errors: the name that was probably meant, and which values are allowed.

A setting may name an extension, or be an object given in code.
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
"""Most problems that one error names."""

MAX_SHOWN = 80
"""Most characters of a value that an error repeats."""


class CheckedSettings(BaseModel):
    """One frozen set of choices; a mistake is a SettingsError, also when LangGraph makes it from a dictionary."""

    # A mistyped setting must not be ignored; and pydantic reserves names that begin with `model_`.
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), hide_input_in_errors=True)

    # Hidden from type checkers, so that they take the fields from pydantic.
    if not TYPE_CHECKING:

        def __init__(self, /, **values: Any) -> None:  # noqa: ANN401  # pydantic checks them
            """Take the values by name; a mistake is a SettingsError."""
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise settings_error(error, type(self).model_fields) from error


def settings_error(error: ValidationError, fields: Mapping[str, FieldInfo], kind: str = "setting") -> SettingsError:
    """Return the error for invalid values of the caller; it repeats them."""
    problems = error.errors(include_url=False)
    for problem in problems:
        if problem["type"] == "extra_forbidden":
            name = str(problem["loc"][0])
            hint = suggest(name, {field: repr(field) for field in fields}) or f"The settings are {', '.join(fields)}."
            return SettingsError(f"There is no setting {name!r}.", hint=hint)
    told = " ".join(_describe_problem(problem, fields, kind) for problem in problems[:MAX_PROBLEMS])
    return SettingsError(told, hint="See docs/settings.md." if kind == "setting" else "")


def suggest(name: str, known: Mapping[str, str]) -> str:
    """Return a hint with the closest name, spelled as in `known`; empty if none is close."""
    # Options are spelled with dashes, so `--set top-k=3` is the likeliest slip.
    near = get_close_matches(name.lower().replace("-", "_"), known, n=1)
    return f"Did you mean {known[near[0]]}?" if near else ""


def _describe_problem(item: ErrorDetails, fields: Mapping[str, FieldInfo], kind: str) -> str:
    what = item["msg"][:1].lower() + item["msg"][1:]
    if not item["loc"]:
        return f"The settings cannot be used: {what}."
    name = str(item["loc"][0])
    if item["type"] == "missing":
        return f"The {kind} {name!r} is missing."
    value = repr(item["input"])
    # Client options are not repeated, because they may hold a key.
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
        # An object given in code has no name here; the step that uses it checks that it exists.
        if name not in self.names and not name.startswith(OBJECT):
            near = get_close_matches(name, self.names, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            # The name is not repeated, because it may be the environment's, which the caller may not read.
            known = {"kind": self.registry.kind, "hint": hint, "names": ", ".join(self.names)}
            raise PydanticCustomError("one_of", "there is no such {kind}{hint} Known: {names}", known)
        return name


OBJECTS = ("model", "rerank")
"""The settings that may be objects given in code."""


def objects_in(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that are objects instead of names.

    Raises:
        ValueError: An object has the wrong type.
    """
    given = {name: values.get(name) for name in OBJECTS}
    objects = {name: value for name, value in given.items() if value is not None and not isinstance(value, str)}
    if objects:
        # The import takes a second, and only objects need it.
        from langchain_core.documents import BaseDocumentCompressor
        from langchain_core.language_models import BaseChatModel

        kinds = {"model": (BaseChatModel, "chat model"), "rerank": (BaseDocumentCompressor, "document compressor")}
        for name, value in objects.items():
            kind, what = kinds[name]
            if not isinstance(value, kind):
                msg = f"{name} is neither a name nor a LangChain {what}, but {type(value).__name__}"
                raise ValueError(msg)  # noqa: TRY004  # pydantic turns no TypeError into a ValidationError
    return objects
