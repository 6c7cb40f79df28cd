"""Read transcripts (WebVTT, SubRip): who says what, from when on; cues of one speaker that follow each other are one.

WebVTT: w3.org/TR/webvtt1. SubRip has no standard; it is the same with a comma in its times.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import ReadingError
from anabranch.readers.document import PLAIN, Block, Document, ReadOptions
from anabranch.readers.document_parts import one_document
from anabranch.readers.encoding import clean_text, decode
from anabranch.readers.size_limit import MOST_PARSED_BYTES, limited
from anabranch.text.normalization import squeeze

_TIMES = re.compile(r"\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})\s*-->\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})")
_VOICE = re.compile(r"<v(?:\.[\w.]+)?\s+([^>]+)>")
_TAG = re.compile(r"</?[a-z][^>]*>|<\d[\d:.]*>|\{\\[^}]*\}", re.IGNORECASE)
# "Ada:", "ADA LOVELACE:" or ">> Ada:" before what is said: a short name that a colon ends.
_NAMED = re.compile(r"(?:>>\s*)?((?:[^\W\d_][\w.'’-]*)(?:\s[^\W\d_][\w.'’-]*){0,3}):\s+(?=\S)")
_LONGEST = 800  # characters of one paragraph: its first time still says where in the recording it is
_PAUSE = 5.0  # seconds after which another thing is talked of


@dataclass(slots=True)
class _Cue:
    start: float
    end: float
    speaker: str
    text: str


@limited(MOST_PARSED_BYTES)
def read_subtitles(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the one document of a transcript, in paragraphs such as `[00:01:05] Ada: We begin`.

    Raises:
        ReadingError: `empty`, `broken` (no cue in it, binary data) or `encoding`.
    """
    text, notes = clean_text(*decode(path.read_bytes(), source))
    lines = text.splitlines()
    cues = [*_cues(lines)]
    if not cues and text.strip() not in {"", "WEBVTT"}:
        msg = f"{source!r} has no cue with its times in it."
        raise ReadingError(msg, reason="broken", hint="Check the file's extension.")
    joined = [*_joined(cues)]
    speakers = list(dict.fromkeys(cue.speaker for cue in joined if cue.speaker))
    length = _clock(max((cue.end for cue in cues), default=0.0))
    facts = {"format": path.suffix.lower().removeprefix("."), "speakers": speakers, "duration": length}
    blocks = (Block(f"[{_clock(cue.start)}] {f'{cue.speaker}: ' * bool(cue.speaker)}{cue.text}") for cue in joined)
    yield one_document(source, path, blocks, facts, path.stem, notes)


def _cues(lines: Sequence[str]) -> Iterator[_Cue]:
    at = 0
    before: list[str] = []
    while at < len(lines):
        times = _TIMES.match(lines[at])
        at += 1
        if times is None:
            continue
        said: list[str] = []
        while at < len(lines) and lines[at].strip() and not _TIMES.match(lines[at]):
            said.append(lines[at])
            at += 1
        # Live captions roll up: each cue shows again what the one before it showed.
        fresh = [line for line in said if line not in before]
        before = said
        yield from _spoken(_seconds(times[1]), _seconds(times[2]), "\n".join(fresh))


def _spoken(start: float, end: float, text: str) -> Iterator[_Cue]:
    """Yield what is said in a cue, by one voice after the other."""
    first, *rest = _VOICE.split(text)
    for speaker, said in [("", first), *zip(rest[::2], rest[1::2], strict=True)]:
        words = squeeze(html.unescape(_TAG.sub("", said)))
        named = None if speaker else _NAMED.match(words)
        if words:
            yield _Cue(start, end, squeeze(named[1] if named else speaker), words[named.end() :] if named else words)


def _joined(cues: Sequence[_Cue]) -> Iterator[_Cue]:
    held: _Cue | None = None
    for cue in cues:
        goes_on = held is not None and cue.speaker in {"", held.speaker} and cue.start - held.end < _PAUSE
        if held is not None and goes_on and len(held.text) < _LONGEST:
            held.text, held.end = f"{held.text} {cue.text}", cue.end
            continue
        if held is not None:
            yield held
        held = cue
    if held is not None:
        yield held


def _seconds(time: str) -> float:
    *hours, minutes, seconds = time.replace(",", ".").split(":")
    return int(hours[0] if hours else 0) * 3600 + int(minutes) * 60 + float(seconds)


def _clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
