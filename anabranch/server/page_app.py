"""The page for a LangGraph server, which its langgraph.json names: `"http": {"app": "anabranch.server.page_app:app"}`.

The plugin `server` provides it. Without the plugin, the graphs are served without a page.
"""

from __future__ import annotations

import logging
from typing import Any

from anabranch.errors import MissingExtraError
from anabranch.identity.server_parts import SERVER_PARTS


def load_page() -> Any:  # noqa: ANN401  # an application of FastAPI or of Starlette
    """Return the plugin's application, or one that has no routes."""
    try:
        return SERVER_PARTS.get("page")
    except MissingExtraError as error:
        # Every LangGraph server installs Starlette; Anabranch alone does not need it.
        from starlette.applications import Starlette

        logging.getLogger(__name__).warning("The page is not available: %s", error)
        return Starlette()


app = load_page()
