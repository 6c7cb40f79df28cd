"""Archives as good and bad programs make them."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from anabranch.ingestion.archives import members
from anabranch.ingestion.directory_walk import FoundFile
from anabranch.readers.document import Failure


def zipped(path: Path, *files: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in files:
            archive.writestr(name, data, method)
    return path


def tarred(path: Path, *files: tuple[str | tarfile.TarInfo, bytes], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, data in files:
            info = tarfile.TarInfo(name) if isinstance(name, str) else name
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def zip_link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, 0o120777 << 16
    return info


def patched(path: Path, marker: bytes, offset: int, form: str, value: int) -> Path:
    """Overwrite a number behind each occurrence of a marker, as no honest program would."""
    data = bytearray(path.read_bytes())
    at = data.find(marker)
    while at >= 0:
        struct.pack_into(form, data, at + offset, value)
        at = data.find(marker, at + 4)
    path.write_bytes(data)
    return path


LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def encrypted(path: Path) -> Path:
    """Set the flag that says so."""
    return patched(patched(path, LOCAL, 6, "<H", 1), CENTRAL, 8, "<H", 1)


def opened(path: Path) -> dict[str, str | bytes]:
    """Return what each member was: its bytes, or the reason why it could not be had; nothing is left on the disk."""
    folder = path.parent / "copies"
    folder.mkdir(exist_ok=True)
    found = list(_taken(members(FoundFile(path, path.name), folder)))
    assert list(folder.rglob("*")) == []
    assert len(dict(found)) == len(found) or any(reason == "duplicate" for _, reason in found)
    return dict(reversed(found))


def _taken(items: Iterable[FoundFile | Failure]) -> Iterable[tuple[str, str | bytes]]:
    for item in items:
        if isinstance(item, Failure):
            assert item.message.endswith(".")
            yield item.source, item.reason
        else:
            yield item.source, item.path.read_bytes()
            item.discard()
