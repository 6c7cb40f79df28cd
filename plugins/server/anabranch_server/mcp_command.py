"""`anabranch mcp`: tools over the documents for an assistant on this machine."""

from __future__ import annotations

from anabranch.cli.shared_options import BaseUrlOption, CorpusOption, ModelOption
from anabranch.errors import MissingExtraError


def mcp(*, corpus: CorpusOption = None, model: ModelOption = None, base_url: BaseUrlOption = None) -> None:
    """Serve tools that list, search, scan and read the documents, or ask, over standard input and output.

    They are for an MCP client. It starts this command, for example with these settings of Claude Desktop or Cursor:

    {"mcpServers": {"documents": {"command": "anabranch", "args": ["mcp", "--corpus", "/home/me/handbook.corpus"]}}}
    """
    from anabranch.safety.operator import set_variables

    try:
        from anabranch_server.mcp_tools import mcp_server
    except ModuleNotFoundError as error:
        raise MissingExtraError("`anabranch mcp`", "mcp") from error
    # Set as variables, because each tool call reads its own settings.
    given = {"corpus": corpus, "model": model, "base_url": base_url}
    set_variables({name: value for name, value in given.items() if value is not None})
    mcp_server().run("stdio")
