"""One walk over what a visitor sees of a page: its elements and its text, in order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal

from bs4.element import CData, NavigableString, Tag

from anabranch.readers.css_visibility import CssVisibility
from anabranch.text.normalization import clean, squeeze

# Menus, buttons and forms are the site's and not the page's.
_UNSEEN = frozenset(
    re.findall(
        r"\w+",
        "script style nav template noscript iframe object svg head title button select textarea audio video canvas",
    )
)
Event = tuple[Literal["open", "close"], Tag] | tuple[Literal["text"], str]


class Visible:
    """One walk; remembers how much was hidden."""

    def __init__(self) -> None:
        """Start with nothing hidden."""
        self.hidden = 0
        self._css = CssVisibility()

    def obey(self, css: CssVisibility) -> None:
        """Take what the style of the page hides that is walked now."""
        self._css = css

    def events(self, root: Tag, whole: Callable[[Tag], bool] = lambda _: False) -> Iterator[Event]:
        """Yield openings, texts and closings below `root`, in order; of a tag that is taken `whole` the opening only.

        A loop, not a recursion: a page may nest as deep as it likes.
        """
        stack: list[tuple[Tag, Iterator[object]]] = [(root, iter(root.contents))]
        while stack:
            parent, children = stack[-1]
            node = next(children, None)
            if node is None:
                stack.pop()
                if stack:
                    yield "close", parent
            elif type(node) in {NavigableString, CData}:  # not its subclasses: comments, declarations
                yield "text", clean(str(node))
            elif isinstance(node, Tag) and self._is_seen(node):
                descend = not whole(node)
                yield "open", node
                if descend:
                    stack.append((node, iter(node.contents)))

    def notes(self) -> Iterator[str]:
        """Yield what a person should know of the walk, once it is over."""
        if self.hidden:
            yield f"hidden text was left out ({self.hidden} characters)"

    def raw(self, root: Tag) -> str:
        """Return the visible text of `root` with its spaces and line breaks, as `<pre>` shows it."""
        return "".join(str(item) for kind, item in self.events(root) if kind == "text").strip("\n")

    def _is_seen(self, tag: Tag) -> bool:
        if tag.name in _UNSEEN:
            return False
        # Not `aria-hidden`: that is said to programs that read aloud, and the eye sees it.
        if tag.has_attr("hidden") or self._css.hides(tag):
            self.hidden += len(squeeze(tag.get_text()))
            return False
        return True


# Tags that begin a new line.
BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption "
        "figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main ol p pre section summary table tbody "
        "td tfoot th thead tr ul",
    )
)
