"""Marks the settings by which somebody could reach more than documents, so that what locks them finds them by type."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """Marks a field that names a file, a folder or a database of the server, or shows where they are."""


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """Marks a field that says which machine or service is called, and by that what it costs."""


PLACE, ADDRESS = ServerPlace(), ServiceAddress()


def fields_with(model: type[BaseModel], *marks: ServerPlace | ServiceAddress) -> tuple[str, ...]:
    """Return the names of a model's fields that have one of the marks, in their order."""
    return tuple(name for name, field in model.model_fields.items() if any(mark in field.metadata for mark in marks))
