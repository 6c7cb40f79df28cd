"""Turn the bytes of a text file into characters, or say why that cannot be done."""

from __future__ import annotations

import codecs

from anabranch.errors import ReadingError
from anabranch.text.normalization import clean_counted

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is a prefix of this one
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY_MAGIC = (
    b"%PDF-",
    b"PK\x03\x04",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"\x7fELF",
    b"\xd0\xcf\x11\xe0",
    b"\x1f\x8b",
)
_TEXT_CONTROLS = frozenset(b"\t\n\v\f\r\x1b")
_SAMPLE = 64_000  # bytes that tell binary data and UTF-16
_DAMAGE = 0.001  # a few broken bytes do not make UTF-8 another encoding


def decode(data: bytes, source: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of `data` and notes on how it was decoded; see `codec_of`."""
    name, notes = codec_of(data, source)
    return data.decode(name, errors="replace"), notes


def clean_text(text: str, notes: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return a decoded text without invisible characters, and a note on how many there were beside the others."""
    text, hidden = clean_counted(text)
    return text, (*notes, f"invisible characters were removed ({hidden})") if hidden else notes


def codec_of(data: bytes, source: str) -> tuple[str, tuple[str, ...]]:
    """Return the codec to decode `data` with, characters that do not fit being replaced, and notes on the choice.

    Order: a byte-order mark, strict UTF-8, UTF-16 without a mark, UTF-8 with under 0.1 % damage, then
    charset-normalizer's best guess, which a note names.

    Raises:
        ReadingError: `broken` for binary data, `encoding` when no encoding fits.
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return name, ()
    if data.startswith(_BINARY_MAGIC):
        raise _binary(source)
    # Text in another encoding is hardly ever valid UTF-8 by chance, so this goes before any guess.
    if _is_utf8(data) and b"\x00" not in data[:_SAMPLE]:
        if _is_binary(data):
            raise _binary(source)
        return "utf-8", ()
    return _guess(data, source)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _guess(data: bytes, source: str) -> tuple[str, tuple[str, ...]]:
    wide = _utf16_without_mark(data)
    if wide is not None:
        return wide, ("no encoding given: read as UTF-16",)
    if _is_binary(data):
        raise _binary(source)
    # One letter at least that is UTF-8 and not ASCII: without it, a few odd bytes tell of another encoding.
    repaired = data.decode("utf-8", errors="replace")
    broken = repaired.count("\ufffd")
    if broken <= _DAMAGE * len(repaired) and any(ord(letter) > 127 and letter != "\ufffd" for letter in repaired):
        return "utf-8", (f"{broken} characters are not valid UTF-8 and were replaced",)
    return _detect(data, source)


def _detect(data: bytes, source: str) -> tuple[str, tuple[str, ...]]:
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    if best is None:
        raise ReadingError(
            f"{source!r} is in an encoding that could not be recognised.", reason="encoding", hint="Save it as UTF-8."
        )
    # charset-normalizer names the first of several code pages that fit equally; of these the Windows one is meant.
    name = "cp1252" if "cp1252" in best.could_be_from_charset else best.encoding
    return name, (f"no encoding given: read as {name}",)


def _utf16_without_mark(data: bytes) -> str | None:
    sample = data[:_SAMPLE]
    half = max(1, len(sample) // 2)
    # In UTF-16 every second byte of Latin letters is zero.
    for name, high in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[0::2])):
        if len(sample) >= 4 and high.count(0) > 0.7 * half and sample.count(0) < 1.1 * high.count(0):
            return name
    return None


def _is_binary(data: bytes) -> bool:
    sample = data[:_SAMPLE]
    controls = sum(1 for byte in sample if byte < 32 and byte not in _TEXT_CONTROLS)
    return controls > 0.02 * len(sample) or b"\x00" in sample


def _binary(source: str) -> ReadingError:
    return ReadingError(f"{source!r} holds binary data, not text.", reason="broken", hint="Check the file's extension.")
