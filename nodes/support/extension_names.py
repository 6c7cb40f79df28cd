"""A setting that names an extension, or is one: checked, and a choice of names in forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from anabranch.registry import OBJECT, Registry


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
