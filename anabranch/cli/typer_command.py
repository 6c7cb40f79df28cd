"""How Typer shows and reads a command of ours: flags without a type, and settings among its suggestions."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    # Typer has a copy of Click of its own from 0.26 on; whichever it is, these are its types.
    from collections.abc import Iterable


def _without_types(params: Iterable[Any]) -> None:
    """Let help show a flag as a flag, and a number as N: Typer writes `<bool>` and `<int range>`."""
    for param in params:
        if param.metavar is None and getattr(param, "is_flag", False):
            param.metavar = ""
        elif param.metavar is None and param.param_type_name == "option":
            param.metavar = "N"


class PlainCommand(TyperCommand):
    """A command."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401  # a Context of Typer's own Click
        """Return all parameters, that of `--help` among them."""
        params = super().get_params(ctx)
        _without_types(params)
        return params

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Read the options; for one that there is not, suggest the setting of that name; ask for quotes."""
        try:
            return super().parse_args(ctx, args)
        except Exception as raised:
            error: Any = raised
            # By its attributes: Typer does not export the class. Only an option that there is not has possibilities.
            unknown = getattr(error, "option_name", None)
            own = {param.name for param in self.params}
            if isinstance(unknown, str) and hasattr(error, "possibilities") and "sets" in own:
                like = [name for name in _settings_like(unknown) if name not in own]
                error.possibilities = [f"--set {name}=VALUE" for name in like] or error.possibilities
            # A question without quotes is several arguments to the shell; the message is Click's, in English.
            if own & {"question", "query"} and str(getattr(error, "message", "")).startswith(
                "Got unexpected extra argument"
            ):
                error.message += ". Put what you ask between quotes."
            raise


class PlainGroup(TyperGroup):
    """Commands under one name."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401
        """See `PlainCommand.get_params`."""
        params = super().get_params(ctx)
        _without_types(params)
        return params


def _settings_like(option: str) -> list[str]:
    from anabranch.agent.nodes.settings import Context

    return get_close_matches(option.lstrip("-").replace("-", "_"), Context.model_fields, n=1)
