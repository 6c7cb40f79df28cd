"""Marks the settings with which a caller could reach more than documents, so that they can be locked."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """Marks a field that names or shows a file, a folder or a database of the server."""


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """Marks a field that chooses the called machine or service, and so the costs."""


PLACE, ADDRESS = ServerPlace(), ServiceAddress()


def fields_with(model: type[BaseModel], *marks: ServerPlace | ServiceAddress) -> tuple[str, ...]:
    """Return the names of a model's fields that have one of the marks, in their order."""
    return tuple(name for name, field in model.model_fields.items() if any(mark in field.metadata for mark in marks))
