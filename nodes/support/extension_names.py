"""A setting that names an extension: checked against its registry, and a choice of names in forms."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from anabranch.registry import Registry


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
        if name not in self.names:
            near = get_close_matches(name, self.names, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            # The name itself is not repeated: what the environment holds may not be the caller's to read.
            known = {"kind": self.registry.kind, "hint": hint, "names": ", ".join(self.names)}
            raise PydanticCustomError("one_of", "there is no such {kind}{hint} Known: {names}", known)
        return name
