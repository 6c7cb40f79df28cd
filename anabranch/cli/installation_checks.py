"""What `anabranch doctor` says of the installation: libraries, extras, what shadows what, what other packages add."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from typing import Literal

from anabranch import __version__
from anabranch.text.normalization import squeeze

# By a module that comes with this extra alone; `langchain_openai`, say, is always there.
EXTRAS = {
    "a2a": "a2a",
    "cohere": "cohere",
    "community": "langchain_community",
    "eval": "ir_measures",
    "mcp": "mcp",
    "postgres": "psycopg",
    "providers": "langchain_openrouter",
    "serve": "jwt",
    "server": "langgraph_api",
    "telemetry": "prometheus_client",
}
LIBRARIES = ("langgraph", "langchain-core", "langchain-openai", "faiss-cpu", "onnxruntime", "pymupdf")
EXTENSIONS = ("retrievers", "rerankers", "embedders", "readers", "stores", "synthesis_modes")
"""What other packages may add, by the ends of their groups of entry points (`anabranch.registry`)."""

_REINSTALL = "pip install --force-reinstall anabranch"

CheckStatus = Literal["ok", "off", "note", "problem"]
"""`off` is not configured, `note` works but may surprise, `problem` is configured and cannot work."""


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One finding and, where there is something to do, what."""

    name: str
    status: CheckStatus
    said: str
    hint: str = ""


def installation_checks() -> Iterator[DoctorCheck]:
    """Name the versions of what matters most, and what of it is missing."""
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
    """Name the extras that are installed, and those that are not."""
    installed = [extra for extra, module in EXTRAS.items() if find_spec(module) is not None]
    missing = [extra for extra in EXTRAS if extra not in installed]
    said = f"installed: {', '.join(installed) or 'none'}"
    if missing:
        said += f"; not installed: {', '.join(missing)}"
    return DoctorCheck(
        "extras", "ok" if installed else "off", said, f"pip install 'anabranch[{missing[0]}]'" if missing else ""
    )


def extension_checks() -> Iterator[DoctorCheck]:
    """Name the extensions of other packages, and those that cannot be imported, each on a line of its own."""
    found: list[str] = []
    broken = False
    for kind in EXTENSIONS:
        for entry in sorted(entry_points(group=f"anabranch.{kind}"), key=lambda entry: entry.name):
            try:
                # Loaded, because a name that is listed need not work; a run would fail at it much later.
                entry.load()
            except Exception as error:  # noqa: BLE001  # whatever a package of others does when it is imported
                broken = True
                why = squeeze(str(error))[:60] or type(error).__name__
                said = f"{_from(entry)} ({entry.value}) cannot be imported: {why}"
                hint = "Install what it needs, repair its package, or remove it."
                yield DoctorCheck("extension", "note", f"{kind}: {said}", hint)
            else:
                found.append(f"{kind}: {_from(entry)}")
    if found or not broken:
        yield DoctorCheck("extensions", "ok" if found else "off", "; ".join(found) or "no other package adds any")


def _from(entry: EntryPoint) -> str:
    return f"{entry.name}, of {entry.dist.name} {entry.dist.version}" if entry.dist else entry.name
