"""What an author may write into a title, a heading, a name, metadata or a text, and what of it lives in a reply."""

from __future__ import annotations

from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.safety.rendering import live

HOST = "evil.example"
HOSTILE = [
    f"![Works](https://{HOST}/t.png)",
    f"[Works](//{HOST}/x)",
    f"![Works][b] [b]: http://{HOST}/x",
    f"<http://{HOST}/x>",
    f"https://{HOST}/x",
    f"www.{HOST}/x",
    f"<img src=//{HOST}/x.png>",
    f"<a href='https://{HOST}'>Works</a>",
    f"&#33;&#91;Works](//{HOST}/x)",
    f"&lt;img src=//{HOST}>",
    f"\\![Works\\]](//{HOST}/x)",
    f"`![Works](//{HOST}/x)",
    f"```\n![Works](//{HOST}/x)",
    f"Works\n\n![b](//{HOST}/x)\n\n# Works",
    f"| a | ![b](//{HOST}/x) |",
    f"[^1] [^1]: //{HOST}",
    f"![[//{HOST}/x.png]] [[Works]]",
    f"![Wo\u200brks]\u200b(//{HOST}/x)",
    f"<xmpp:a@{HOST}> <a@{HOST}> mailto:a@{HOST}",
    f"<script src=//{HOST}></script>",
    f"<video src=/\\{HOST}/v.mp4>",
    f"<!-- [Works](//{HOST}) -->",
    f"~~*Works* //{HOST}/x",
    f"\x1b]8;;https://{HOST}\x07Works\x1b]8;;\x07",
    f"![{'Works ' * 300}](https://{HOST}/x)",
    f"https:\\\\{HOST}/x",
    "__Works__",
]

_HTML = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def find_live(text: str, answer: str = "") -> list[str]:
    """Return what a renderer of Markdown makes of a reply that is more than words: links, pictures, tags, addresses.

    Args:
        text: All of the reply.
        answer: The part of it in which tags are text, as the guide says.
    """
    tags = [*_find_tags(answer)]
    return live(text) + [tag for tag in _find_tags(text) if tag not in tags]


def _find_tags(text: str) -> Iterator[str]:
    for token in _walk(_HTML.parse(text)):
        if token.type in ("html_block", "html_inline"):
            yield token.content
        elif token.type in ("link_open", "image"):
            yield str(token.attrs)


def _walk(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _walk(token.children or [])
