"""Writes compound files ([MS-CFB]), which Word, PowerPoint and Outlook of old are: no library here writes them."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

FREE, END, FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
SECTOR, MINI = 512, 64


@dataclass
class Entry:
    name: str
    kind: int
    data: bytes = b""
    children: list[int] = field(default_factory=list)
    start: int = END
    right: int = FREE


def compound(streams: dict[str, bytes]) -> bytes:
    """Return a file with these streams; `/` in a name parts storages."""
    entries = _entries(streams)
    mini = bytearray()
    minifat: list[int] = []
    for entry in entries:
        if entry.kind == 2 and 0 < len(entry.data) < 4096:
            entry.start = len(mini) // MINI
            mini += _padded(entry.data, MINI)
            minifat += _chain(entry.start, len(mini) // MINI)
    entries[0].data = bytes(mini)
    body = bytearray()
    fat: list[int] = []

    def put(data: bytes) -> int:
        if not data:
            return END
        first = len(fat)
        body.extend(_padded(data, SECTOR))
        fat.extend(_chain(first, len(body) // SECTOR))
        return first

    for entry in entries:
        if entry.kind == 5 or len(entry.data) >= 4096:
            entry.start = put(entry.data)
    minifat_at = put(b"".join(struct.pack("<I", each) for each in minifat + [FREE] * (-len(minifat) % 128)))
    directory_at = put(b"".join(map(_packed, entries)) + _packed(Entry("", 0)) * (-len(entries) % 4))
    fat_at, count = len(fat), 1
    while count * 128 < len(fat) + count:
        count += 1
    fat += [FAT] * count + [FREE] * (count * 128 - len(fat) - count)
    body += b"".join(struct.pack("<I", each) for each in fat)
    difat = [*range(fat_at, fat_at + count)] + [FREE] * (109 - count)
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, count, directory_at, 0, 4096, minifat_at, -(-len(minifat) // 128), END, 0)
    return bytes(header + struct.pack("<109I", *difat) + body)


def _entries(streams: dict[str, bytes]) -> list[Entry]:
    entries = [Entry("Root Entry", 5)]
    places = {"": 0}
    for path, data in streams.items():
        folder = ""
        *folders, name = path.split("/")
        for each in folders:
            inner = f"{folder}/{each}"
            if inner not in places:
                places[inner] = len(entries)
                entries[places[folder]].children.append(len(entries))
                entries.append(Entry(each, 1, start=0))
            folder = inner
        entries[places[folder]].children.append(len(entries))
        entries.append(Entry(name, 2, data))
    for entry in entries:
        # A tree that leans to the right is one, too.
        entry.children.sort(key=lambda at: (len(entries[at].name), entries[at].name.upper()))
        for left, right in zip(entry.children, entry.children[1:], strict=False):
            entries[left].right = right
    return entries


def _packed(entry: Entry) -> bytes:
    name = entry.name.encode("utf-16-le")
    length = len(name) + 2 if name else 0
    child = entry.children[0] if entry.children else FREE
    head = name.ljust(64, b"\0") + struct.pack("<HBBIII", length, entry.kind, 1, FREE, entry.right, child)
    return head + bytes(36) + struct.pack("<IQ", entry.start, len(entry.data))


def _padded(data: bytes, size: int) -> bytes:
    return data + bytes(-len(data) % size)


def _chain(first: int, after: int) -> list[int]:
    return [*range(first + 1, after), END]


def word_97(text: str) -> bytes:
    """Return a Word document of the old kind ([MS-DOC]): a FIB, its text, and a table of one piece."""
    letters = text.replace("\n", "\r").encode("cp1252") + b"\r"
    at = 0x800
    # Letters of one byte: the place is doubled, and bit 30 says so (2.9.73, FcCompressed).
    piece = struct.pack("<HIH", 0, (at * 2) | 1 << 30, 0)
    table = b"\x02" + struct.pack("<I", 8 + len(piece)) + struct.pack("<2I", 0, len(letters)) + piece
    base = struct.pack("<7HI2BI4H", 0xA5EC, 0xC1, 0, 0x409, 0, 0x1200, 0xBF, 0, 0, 0, 0, 0, 0, 0, 0)
    base = base[:28].ljust(32, b"\0")
    longs = [0] * 22
    longs[3] = len(letters)
    places = [0] * (0x5D * 2)
    places[66], places[67] = 0, len(table)  # fcClx, lcbClx
    fib = base + struct.pack("<H", 14) + bytes(28) + struct.pack("<H", 22) + struct.pack("<22I", *longs)
    fib += struct.pack("<H", 0x5D) + struct.pack(f"<{len(places)}I", *places) + struct.pack("<H", 0)
    main = fib.ljust(at, b"\0") + letters
    return compound({"WordDocument": main.ljust(8192, b"\0"), "1Table": table.ljust(4096, b"\0")})


def outlook(subject: str, body: str, sender: str, html: str = "", attached: str = "") -> bytes:
    """Return a message as Outlook saves it ([MS-OXMSG])."""
    texts = {"0037": subject, "1000": body, "0C1A": sender, "0C1F": "ada@x.org", "001A": "IPM.Note"}
    streams = {f"__substg1.0_{tag}001F": text.encode("utf-16-le") for tag, text in texts.items()}
    if html:
        streams["__substg1.0_10130102"] = html.encode()
    fixed = b"".join(
        struct.pack("<IIII", int(f"{tag}001F", 16), 6, len(text.encode("utf-16-le")) + 2, 0)
        for tag, text in texts.items()
    )
    if html:
        fixed += struct.pack("<IIII", 0x10130102, 6, len(html), 0)
    # 2008-07-16 06:24:06 UTC, in tenths of microseconds since 1601.
    fixed += struct.pack("<IIQ", 0x00390040, 6, 128606558460000000)
    streams["__properties_version1.0"] = bytes(8) + struct.pack("<4I", 0, 0, 1, int(bool(attached))) + bytes(8) + fixed
    streams["__nameid_version1.0/__substg1.0_00020102"] = b""
    own = "__recip_version1.0_#00000000"
    for tag, text in {"3001": "Bob", "39FE": "bob@y.org", "3003": "bob@y.org"}.items():
        streams[f"{own}/__substg1.0_{tag}001F"] = text.encode("utf-16-le")
    streams[f"{own}/__properties_version1.0"] = bytes(8) + b"".join(
        struct.pack("<IIII", int(f"{tag}001F", 16), 6, 20, 0) for tag in ("3001", "39FE", "3003")
    )
    if attached:
        own = "__attach_version1.0_#00000000"
        streams[f"{own}/__substg1.0_3707001F"] = attached.encode("utf-16-le")
        streams[f"{own}/__substg1.0_37010102"] = b"data"
        streams[f"{own}/__properties_version1.0"] = bytes(8) + struct.pack("<IIII", 0x3707001F, 6, 40, 0)
    return compound(streams)
