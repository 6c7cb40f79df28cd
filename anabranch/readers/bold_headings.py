"""Headings of pages that mark none: short paragraphs in bold, as in filings saved from a word processor."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from statistics import median

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag

from anabranch.text.normalization import squeeze

_HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
# What may hold a table or a list is not the line that stands over them.
_NOT_INSIDE = ["table", "li", "blockquote", "pre", "a"]
_PARTS = ["p", "div", "table", "ul", "ol", "li", "pre", "br"]
_LONGEST = 160  # characters; a longer one is a warning, or a contract that is bold throughout
_MOST_REPEATS = 2  # what stands on every printed page is no heading
_SENTENCE_END = re.compile(r"[.,;:!。；：]$")
_WEIGHT = re.compile(r"font-weight\s*:\s*(\w+)", re.IGNORECASE)
_SIZE = re.compile(r"font-size\s*:\s*([\d.]+)\s*(pt|px|r?em|%)", re.IGNORECASE)
# "Item 1A.", "ARTICLE IV", "§ 5", "2.3 ": a word or nothing, and a number.
_NUMBERED = re.compile(r"(?P<word>[^\W\d_]{1,12}|§|)\s*(?P<number>\d+(?:\.\d+)*|[IVXLC]+)[A-Z]?\b")
_POINTS = {"pt": 1.0, "px": 0.75, "em": 12.0, "rem": 12.0, "%": 0.12}

_LARGE = 1.25  # times the usual size of bold lines
_MOST_KINDS = 3  # of numbers that make levels: with the large, the capitals and the others, the six that HTML has


def mark_bold_headings(soup: BeautifulSoup) -> bool:
    """Make headings of the bold paragraphs of a page that has no headings of its own; tell whether there are any."""
    if soup.find(_HEADINGS):
        return False
    holders = _holders(soup)
    paragraphs = [tag for tag in soup.find_all(["p", "div"]) if id(tag) not in holders and tag.get_text(strip=True)]
    bold = {id(tag): text for tag in paragraphs if (text := _title(tag))}
    times = Counter(bold.values())
    found = [tag for tag in paragraphs if 0 < times[bold.get(id(tag), "")] <= _MOST_REPEATS]
    if 2 * len(found) > len(paragraphs):  # bold is what this page is written in
        return False
    ranks = _ranks([bold[id(tag)] for tag in found], [_size(tag) for tag in found])
    levels = sorted(set(ranks))
    for tag, rank in zip(found, ranks, strict=True):
        tag.name = _HEADINGS[levels.index(rank)]
    return bool(found)


def _holders(soup: BeautifulSoup) -> set[int]:
    """Return the tags that have other paragraphs, tables or lists inside."""
    found: set[int] = set()
    for part in soup.find_all(_PARTS):
        for parent in part.parents:
            if id(parent) in found:  # and so are those around it: a page may nest as deep as it likes
                break
            found.add(id(parent))
    return found


def _ranks(titles: Sequence[str], sizes: Sequence[float]) -> list[tuple[int, int]]:
    """Rank the large lines first, then numbered ones by the order of their kinds, then capitals, then the rest."""
    many = [kind for kind, times in Counter(map(_kind, titles)).items() if kind and times > 1][:_MOST_KINDS]
    large = _LARGE * median(sizes) if sizes else 0.0

    def rank(title: str, size: float) -> tuple[int, int]:
        if size and size >= large:
            return (0, 0)
        return (1, many.index(_kind(title))) if _kind(title) in many else (2, int(not title.isupper()))

    return list(map(rank, titles, sizes))


def _title(tag: Tag) -> str:
    """Return the text of a paragraph that is bold throughout, empty for any other."""
    texts = [text for text in tag.find_all(string=True) if text.strip()]
    title = squeeze(" ".join(texts))
    said = 0 < len(title) <= _LONGEST and not _SENTENCE_END.search(title) and any(map(str.isalpha, title))
    return title if said and not tag.find_parent(_NOT_INSIDE) and all(map(_is_bold, texts)) else ""


def _is_bold(text: NavigableString) -> bool:
    for tag in text.parents:
        weight = _WEIGHT.search(str(tag.get("style") or ""))
        if weight:
            return weight[1].lower() in {"bold", "bolder", "600", "700", "800", "900"}
        if tag.name in {"b", "strong"}:
            return True
    return False


def _kind(title: str) -> str:
    """Return the word in front of the number of a heading, or the depth of its number; empty without one."""
    found = _NUMBERED.match(title)
    return (found["word"].lower() or "." * (1 + found["number"].count("."))) if found else ""


def _size(tag: Tag) -> float:
    """Return the size of the largest letters of a paragraph in points, 0 where it does not say."""
    styles = (str(each.get("style") or "") for each in (tag, *tag.find_all(True)))
    return max((float(size[1]) * _POINTS[size[2].lower()] for size in map(_SIZE.search, styles) if size), default=0.0)
