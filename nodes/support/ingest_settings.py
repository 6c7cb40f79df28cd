"""The settings of the ingest graph: of those of a question, the ones that say which corpus, and whose."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from anabranch.agent.nodes.settings import Context
from anabranch.agent.nodes.support.checked_settings import CheckedSettings


def _same(name: str) -> Any:  # noqa: ANN401  # as pydantic's Field
    of = Context.model_fields[name]
    extra: dict[str, Any] = {"langgraph_nodes": ["add_documents"]}
    return Field(default=of.default, description=of.description, json_schema_extra=extra)


class IngestContext(CheckedSettings):
    """One frozen set of choices for one run of the ingest graph."""

    corpus: str = _same("corpus")
    access: tuple[str, ...] = _same("access")

    @property
    def of_a_question(self) -> Context:
        """The same choices as the steps of a question know them.

        Raises:
            SettingsError: One is out of bounds.
        """
        return Context(**self.model_dump(include=self.model_fields_set))
