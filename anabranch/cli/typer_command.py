"""Typer commands with simpler help, and with settings among the suggestions for unknown options."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    # Typer vendors Click from 0.26 on, so its types are `Any` here.
    from collections.abc import Iterable, Sequence


def _simplify_metavars(params: Iterable[Any]) -> None:
    """Show a flag without a type and a number as N, where Typer writes `<bool>` and `<int range>`."""
    for param in params:
        if param.metavar is None and getattr(param, "is_flag", False):
            param.metavar = ""
        elif param.metavar is None and param.param_type_name == "option":
            param.metavar = "N"


def _join_words(args: Sequence[str], params: Iterable[Any]) -> list[str]:
    """Let a hidden flag such as `--explain-prompts` be written as the flag `--explain` and a word.

    Click's options with an optional value cannot do this: they would take a question that stands behind the flag.
    """
    flags = {option for param in params if getattr(param, "is_flag", False) for option in param.opts}
    hidden = {option for param in params if getattr(param, "hidden", False) for option in param.opts}
    joined: list[str] = []
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            return [*joined, arg, *rest]
        flag, _, word = arg.partition("=")
        if flag in flags and word and f"{flag}-{word}" in hidden:
            joined += [flag, f"{flag}-{word}"]
        elif joined and joined[-1] in flags and f"{joined[-1]}-{arg}" in hidden:
            joined.append(f"{joined[-1]}-{arg}")
        else:
            joined.append(arg)
    return joined


class PlainCommand(TyperCommand):
    """A command."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401  # a Context of Typer's own Click
        """Return all parameters, that of `--help` among them."""
        params = super().get_params(ctx)
        _simplify_metavars(params)
        return params

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Parse the arguments; for an unknown option suggest a setting, for too many arguments quotes."""
        args = _join_words(args, self.params)
        try:
            *_, order = self.make_parser(ctx).parse_args([*args])
            # Click itself would take the last of them.
            if twice := [param for param in order if order.count(param) > 1 and not param.multiple]:
                ctx.fail(
                    f"The option {'/'.join([*twice[0].opts, *twice[0].secondary_opts])} is given twice. Leave one out."
                )
            return super().parse_args(ctx, args)
        except Exception as raised:
            error: Any = raised
            # Recognised by its attributes, because Typer does not export the class of an unknown option.
            unknown = getattr(error, "option_name", None)
            own = {param.name for param in self.params}
            if isinstance(unknown, str) and hasattr(error, "possibilities") and "sets" in own:
                like = [name for name in _settings_like(unknown) if name not in own]
                error.possibilities = [f"--set {name}=VALUE" for name in like] or error.possibilities
            # A question without quotes is several arguments to the shell.
            if own & {"question", "query"} and str(getattr(error, "message", "")).startswith(
                "Got unexpected extra argument"
            ):
                error.message += ". Put the question in quotes."
            raise


class PlainGroup(TyperGroup):
    """Commands under one name."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401
        """See `PlainCommand.get_params`."""
        params = super().get_params(ctx)
        _simplify_metavars(params)
        return params


def _settings_like(option: str) -> list[str]:
    from anabranch.agent.nodes.settings import Context

    return get_close_matches(option.lstrip("-").replace("-", "_"), Context.model_fields, n=1)
