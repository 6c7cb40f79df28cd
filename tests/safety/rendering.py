"""What Markdown renderers make of a text: whatever a reader could click, or a browser would fetch, in its page."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

import lxml.html
from markdown_it import MarkdownIt

RENDERERS = [
    MarkdownIt("commonmark", {"html": False}),  # tags are text to it, as a page that shows a model's words needs
    MarkdownIt("js-default"),  # with the tables and the strikethrough of GitHub
]

_TAGS = "a(?= href=|>)|p|h[1-6]|ul|ol|li|blockquote|pre|code|em|strong|s|hr|br|table|thead|tbody|tr|th|td"
"""What renderers make of Markdown that has no links and no pictures."""

_ATTRIBUTES = {
    "class": r"language-.*",
    "start": r"\d+",
    "style": r"text-align:(?:left|right|center)",
}
# An e-mail address is text, in angle brackets or without; `std::string` is the address of nothing.
_NO_LINK = re.compile(r"mailto:[^@\s]+@[^@\s]+|[a-z][a-z0-9+.-]*::.*", re.IGNORECASE)
_OTHER_TAG = re.compile(rf"<(?!/?(?:{_TAGS})\b)[^>]{{0,40}}")
# What renderers that look for bare addresses take for one, in the text that the reader sees.
_BARE = re.compile(
    r"(?:https?|ftp|wss?|file):[/\\]|\w://|(?<![^\W_])www\.[a-z0-9]|(?<![\w:/])//[\w-]+\.", re.IGNORECASE
)


def live(text: str) -> list[str]:
    """Return what is no plain text in the page of any renderer."""
    return [*_live(text)]


@lru_cache(maxsize=50_000)  # the same beginnings of the same answers are met again and again
def _live(text: str) -> tuple[str, ...]:
    return tuple(found for renderer in RENDERERS for found in _live_in(renderer.render(text)))


def _live_in(page: str) -> list[str]:
    found = _OTHER_TAG.findall(page)
    for node in lxml.html.fragment_fromstring(page, create_parent="div").iter():
        if not isinstance(node.tag, str):  # a comment, a processing instruction
            found.append(str(node))
            continue
        for name, value in node.attrib.items():
            if name == "href" and _NO_LINK.fullmatch(unquote(value)) and unquote(value).endswith(node.text or "?"):
                continue
            if not re.fullmatch(_ATTRIBUTES.get(name, "(?!)"), value, re.DOTALL):
                found.append(f"{name}={value}")
        found += [bare[0] for words in (node.text, node.tail) if (bare := _BARE.search(words or ""))]
    return found
