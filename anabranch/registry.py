"""Extensions by name: those of the core, and those that plugins and other packages add through entry points.

A package adds a reranker, say, with two lines of its own `pyproject.toml`; the command line, a server and the forms of
Studio find it as soon as it is installed:

    [project.entry-points."anabranch.rerankers"]
    mine = "my_package.rerank:MyReranker"

Our own plugins, in `plugins/`, are added the same way. Their lines name the extra that installs their dependencies, as
in "anabranch_server.serve_command:serve [serve]", so that an error can name it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Generic, TypeVar

from anabranch.errors import AnabranchError, MissingExtraError, SettingsError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

OBJECT = "object:"
"""Prefix of the stored name of an object given in code."""


def object_name(given: object) -> str:
    """Return the name of an object given in code: its class, and its model if it has one."""
    model = getattr(given, "model_name", None) or getattr(given, "model", None)
    return f"{type(given).__name__}({model})" if isinstance(model, str) else type(given).__name__


class Registry(Generic[T]):
    """The extensions of one kind; each is imported on first use."""

    def __init__(self, kind: str, built_in: Mapping[str, str], *, use: str = "") -> None:
        """Take the built-in extensions.

        Args:
            kind: What one of them is called, as in "reranker"; the group of entry points is `anabranch.rerankers`.
            built_in: The place of each by its name, as in "anabranch.models.rerankers.cohere:CohereReranker".
            use: What needs the extension named `{}`, for a message, as in "Reading {} files".
        """
        self.kind = kind
        self.group = f"anabranch.{kind.replace(' ', '_')}s"
        self._built_in = built_in
        self._use = use or f"The {kind} '{{}}'"

    @cached_property
    def _added(self) -> dict[str, EntryPoint]:
        # Imported here, because it takes a tenth of a second and reader processes do not need it.
        from importlib.metadata import entry_points

        found: dict[str, EntryPoint] = {}
        for entry in entry_points(group=self.group):
            # No other package replaces a built-in extension or our plugins: a name must always mean the same.
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
            MissingExtraError: Its plugin, or a package that the plugin needs, is not installed.
        """
        if name not in self:
            near = get_close_matches(name, self.names, n=1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            raise SettingsError(f"There is no {self.kind} {name!r}.", hint=f"{hint}Known: {', '.join(self.names)}.")
        try:
            found: T = resolve_name(self._built_in[name]) if name in self._built_in else self._added[name].load()
        except AnabranchError:
            raise  # it already says what is missing
        except Exception as error:
            self._refuse_absent_plugin(name, error)
            place = self._built_in.get(name) or self._added[name].value
            msg = f"The {self.kind} {name!r} ({place}) cannot be imported: {error or type(error).__name__}"
            raise SettingsError(msg, hint="Install what it needs, or repair the package that adds it.") from error
        return found

    def installed(self) -> Iterator[T]:
        """Yield all extensions in order, without those whose plugin is not installed."""
        for name in self.names:
            try:
                found = self.get(name)
            except MissingExtraError:
                continue
            yield found

    def _refuse_absent_plugin(self, name: str, error: Exception) -> None:
        """Raise the error that names the extra, if the plugin or a package that it needs is missing."""
        entry = self._added.get(name)
        if entry is None or not entry.extras or not isinstance(error, ModuleNotFoundError) or error.name is None:
            return
        # If another module of ours is missing, that is a bug, and no extra helps.
        if error.name == entry.module.partition(".")[0] or not error.name.startswith("anabranch"):
            raise MissingExtraError(self._use.format(name), entry.extras[0]) from error


def is_ours(entry: EntryPoint) -> bool:
    """Tell whether one of our own plugins adds an extension."""
    return entry.dist is not None and entry.dist.name == "anabranch"
