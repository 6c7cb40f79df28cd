"""The checks of `anabranch doctor` on the installation: libraries, extras, and extensions of other packages."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, requires, version
from typing import Literal

from anabranch import __version__
from anabranch.registry import is_ours
from anabranch.text.normalization import squeeze

FOR_DEVELOPERS = ("dev", "site")
"""The extras that only developers of Anabranch need."""
LIBRARIES = ("langgraph", "langchain-core", "langchain-openai", "faiss-cpu", "onnxruntime", "pymupdf")
EXTENSIONS = (
    "retrievers",
    "rerankers",
    "embedders",
    "embedder_folders",
    "entailment_checks",
    "json_exports",
    "readers",
    "stores",
    "synthesis_modes",
    "commands",
    "sources",
)
"""What other packages may add, by the ends of their groups of entry points (`anabranch.registry`)."""

_OF_EXTRA = re.compile(r"([\w.-]+).*extra == ['\"]([\w-]+)['\"]")
_REINSTALL = "pip install --force-reinstall anabranch"

CheckStatus = Literal["ok", "off", "note", "problem"]
"""`off` is not configured, `note` works but may surprise, `problem` is configured but cannot work."""


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One finding, with a hint if there is something to do."""

    name: str
    status: CheckStatus
    said: str
    hint: str = ""


def installation_checks() -> Iterator[DoctorCheck]:
    """Name the versions of the most important libraries, and those that are missing."""
    found = ", ".join(f"{name} {_version(name)}" for name in LIBRARIES)
    missing = [name for name in LIBRARIES if not _version(name)]
    yield DoctorCheck("anabranch", "ok", f"{__version__} on Python {platform.python_version()}; {found}")
    if missing:
        yield DoctorCheck("libraries", "problem", f"not installed: {', '.join(missing)}", _REINSTALL)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def extras_check() -> DoctorCheck:
    """Name the extras whose packages are all installed, and those that lack one."""
    if not (needs := packages_of_extras()):
        return DoctorCheck("extras", "off", "not known: this copy of Anabranch is not installed as a package")
    installed = [extra for extra, names in needs.items() if all(map(_version, names))]
    missing = [extra for extra in needs if extra not in installed]
    status = f"installed: {', '.join(installed) or 'none'}"
    if missing:
        status += f"; not installed: {', '.join(missing)}"
    return DoctorCheck(
        "extras", "ok" if installed else "off", status, f"pip install 'anabranch[{missing[0]}]'" if missing else ""
    )


def packages_of_extras() -> dict[str, list[str]]:
    """Return the packages of each extra from Anabranch's metadata; empty if it is not installed."""
    try:
        lines = requires("anabranch") or []
    except PackageNotFoundError:
        return {}
    found: dict[str, list[str]] = {}
    for line in lines:
        if (match := _OF_EXTRA.match(line)) and match[2] not in FOR_DEVELOPERS:
            found.setdefault(match[2], []).append(match[1])
    return dict(sorted(found.items()))


def extension_checks() -> Iterator[DoctorCheck]:
    """Name the extensions of other packages; those that cannot be imported get a line each."""
    found: list[str] = []
    broken = False
    everything = entry_points()  # each call reads the metadata of every package
    for kind in EXTENSIONS:
        for entry in sorted(everything.select(group=f"anabranch.{kind}"), key=lambda entry: entry.name):
            if is_ours(entry):
                continue
            try:
                # Loaded, because a listed extension may be broken, and a run would fail much later.
                entry.load()
            except Exception as error:  # noqa: BLE001  # another package may raise anything on import
                broken = True
                why = squeeze(str(error))[:60] or type(error).__name__
                problem = f"{_describe(entry)} ({entry.value}) cannot be imported: {why}"
                hint = "Install what it needs, repair its package, or remove it."
                yield DoctorCheck("extension", "note", f"{kind}: {problem}", hint)
            else:
                found.append(f"{kind}: {_describe(entry)}")
    if found or not broken:
        yield DoctorCheck("extensions", "ok" if found else "off", "; ".join(found) or "no other package adds any")


def _describe(entry: EntryPoint) -> str:
    return f"{entry.name} from {entry.dist.name} {entry.dist.version}" if entry.dist else entry.name
