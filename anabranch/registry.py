"""Extensions by name: what the core brings, and what plugins and other packages add through entry points.

A package adds a reranker, say, with two lines of its own `pyproject.toml`; the command line, a server and the forms of
Studio find it as soon as it is installed:

    [project.entry-points."anabranch.rerankers"]
    mine = "my_package.rerank:MyReranker"

Our own plugins, in `plugins/`, are added the same way. Their lines name the extra that brings what they need, as in
"anabranch_server.serve_command:serve [serve]", so that an installation without the plugin can say it.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cached_property
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Generic, TypeVar

from anabranch.errors import AnabranchError, MissingExtraError, SettingsError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

OBJECT = "object:"
"""Stands before the name of what was given in code, where names are kept."""


def object_name(given: object) -> str:
    """Return what an object given in code is called: its class, and its model where it says which."""
    named = getattr(given, "model_name", None) or getattr(given, "model", None)
    return f"{type(given).__name__}({named})" if isinstance(named, str) else type(given).__name__


class Registry(Generic[T]):
    """The extensions of one kind; each is imported when it is first asked for."""

    def __init__(self, kind: str, built_in: Mapping[str, str], *, use: str = "") -> None:
        """Name what is built in.

        Args:
            kind: What one of them is called, as in "reranker"; the group of entry points is `anabranch.rerankers`.
            built_in: The place of each by its name, as in "anabranch.models.rerankers.cohere:CohereReranker".
            use: What nobody can do without the one named `{}`, as in "Reading {} files"; for a message.
        """
        self.kind = kind
        self.group = f"anabranch.{kind.replace(' ', '_')}s"
        self._built_in = built_in
        self._use = use or f"The {kind} '{{}}'"

    @cached_property
    def _added(self) -> dict[str, EntryPoint]:
        # Here, for a process that reads files needs neither these nor the tenth of a second that they take.
        from importlib.metadata import entry_points

        found: dict[str, EntryPoint] = {}
        for entry in entry_points(group=self.group):
            # Nobody's package replaces what is built in, or one of our plugins: a reader of the settings must know what
            # a name does.
            if entry.name not in self._built_in and (entry.name not in found or is_ours(entry)):
                found[entry.name] = entry
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """All names: those built in, then the others in alphabetical order."""
        return (*self._built_in, *sorted(self._added))

    def __contains__(self, name: object) -> bool:
        """Tell whether there is one of that name."""
        return name in self._built_in or name in self._added

    def get(self, name: str) -> T:
        """Return the extension of that name.

        Raises:
            SettingsError: There is none, or its package cannot be imported.
            MissingExtraError: It belongs to a plugin that is not installed here, or what that needs is not.
        """
        if name not in self:
            near = get_close_matches(name, self.names, n=1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            raise SettingsError(f"There is no {self.kind} {name!r}.", hint=f"{hint}Known: {', '.join(self.names)}.")
        try:
            found: T = resolve_name(self._built_in[name]) if name in self._built_in else self._added[name].load()
        except AnabranchError:
            raise  # it says itself what is missing
        except Exception as error:
            self._refuse_absent_plugin(name, error)
            place = self._built_in.get(name) or self._added[name].value
            msg = f"The {self.kind} {name!r} ({place}) cannot be imported: {error or type(error).__name__}"
            raise SettingsError(msg, hint="Install what it needs, or repair the package that adds it.") from error
        return found

    def _refuse_absent_plugin(self, name: str, error: Exception) -> None:
        """Say which extra brings what is missing: the plugin itself, or a package that it needs."""
        entry = self._added.get(name)
        if entry is None or not entry.extras or not isinstance(error, ModuleNotFoundError) or error.name is None:
            return
        # Where another module of ours is missing, the fault is ours, and no extra brings it.
        if error.name == entry.module.partition(".")[0] or not error.name.startswith("anabranch"):
            raise MissingExtraError(self._use.format(name), entry.extras[0]) from error


def is_ours(entry: EntryPoint) -> bool:
    """Tell whether one of our own plugins adds an extension."""
    return entry.dist is not None and entry.dist.name == "anabranch"
