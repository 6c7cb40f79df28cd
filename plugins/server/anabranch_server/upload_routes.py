"""Uploads: stored in each person's own folder in the ingest root, where the graph `ingest` finds them."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO

from fastapi import APIRouter, Request
from starlette.datastructures import FormData, UploadFile

from anabranch.agent.graph.settings_precedence import operator_settings
from anabranch.errors import (
    CorpusEmptyError,
    CorpusNotFoundError,
    MissingExtraError,
    OperationError,
    ReadingError,
    SettingsError,
)
from anabranch.identity.audit_log import audit
from anabranch.identity.user import ingest_folder, upload_folder
from anabranch.models.embedders import LOCAL_EMBEDDERS, check_installed
from anabranch.store.corpus_embedder import usual_embedder
from anabranch.store.file_identity import is_url
from anabranch.store.stores import open_corpus
from anabranch_server.page_process import PageProcess
from anabranch_server.requester import Asker, Requester
from anabranch_server.usage_limits import Limited, UsageLimits

router = APIRouter(tags=["documents"])

MAX_BYTES = 200 * 1024 * 1024
"""Most bytes of one file."""

MAX_FILES = 100
MAX_NAME = 120
"""Most bytes of a file's name; file systems allow 255, and readers append to it."""

MAX_ENDING = 20
"""Most bytes of a name's ending, which names the format."""

MAX_FOLDERS = 20
"""Most levels of folders."""

UNLOCKING = (sys.executable, "-P", "-m", "anabranch_server.unlocking_process")

_BLOCK = 1024 * 1024

_FORM: dict[str, Any] = {
    "type": "object",
    "required": ["files"],
    "properties": {
        "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
        "folder": {"type": "string", "description": "Where they lay, such as `notes/2024`; part of their names."},
        "password": {"type": "string", "description": "Opens PDF and Office files; they are kept without it."},
    },
}


@router.post(
    "/uploads",
    openapi_extra={"requestBody": {"content": {"multipart/form-data": {"schema": _FORM}}}},
    # The form around the files takes less than another file.
    max_body_size=(MAX_FILES + 1) * MAX_BYTES,
)
async def upload(request: Request, caller: Asker, limits: Limited) -> dict[str, list[str]]:
    """Store files by name, replacing earlier uploads.

    Files that the password opens are stored without it; the password itself is not stored.

    Returns:
        `paths`: input of the graph `ingest`; `names`: the files' names there.
    """
    caller.require("ingest")
    # Not a parameter: FastAPI reads a form before it authenticates the sender, so anybody could fill the disk.
    async with request.form() as form:
        return await _take_files(form, caller, limits)


@router.get("/uploads/embedders")
async def list_embedders(caller: Asker) -> dict[str, Any]:
    """Say what embeds the documents that are added.

    Returns:
        `embedder`: that of the corpus; None while it has no documents. `choices`: input of the graph `ingest` until
        then, each a `name` and, where a package is missing, a `hint` how to install it. `usual`: the choice that is
        made without one; empty if it is none of them.
    """
    caller.require("ingest")
    try:
        embedder = (await open_corpus(operator_settings(caller.user).corpus)).embedder.name
    except (CorpusNotFoundError, CorpusEmptyError):
        embedder = None
    return {"embedder": embedder, **await asyncio.to_thread(_list_choices)}


def _list_choices() -> dict[str, Any]:
    """Look for packages, which reads files and imports modules."""
    usual = usual_embedder()
    choices = [{"name": name, "hint": _hint_of(name)} for name in LOCAL_EMBEDDERS]
    return {"choices": choices, "usual": usual if usual in LOCAL_EMBEDDERS else ""}


def _hint_of(embedder: str) -> str:
    try:
        check_installed(embedder)
    except MissingExtraError as error:
        return error.hint
    return ""


async def _take_files(form: FormData, caller: Requester, limits: UsageLimits | None) -> dict[str, list[str]]:
    files = [each for each in form.getlist("files") if isinstance(each, UploadFile)]
    if not 0 < len(files) <= MAX_FILES:
        msg = f"{len(files)} files were sent at once."
        raise SettingsError(msg, hint=f"Send 1 to {MAX_FILES} files as `files` of a form (multipart/form-data).")
    root, own = _folders(caller)
    folder = _folder_name(_text(form, "folder"))
    names = [(folder / file_name(each.filename or "")).as_posix() for each in files]
    await asyncio.to_thread(_refuse_clashes, root / own, names)
    if limits is not None:
        await limits.begin(caller, upload_bytes=sum(each.size or 0 for each in files))
    await audit("upload", caller.user, files=names, bytes=sum(each.size or 0 for each in files))
    places = [root / own / name for name in names]
    await _store_files([(each.file, place) for each, place in zip(files, places, strict=True)], _text(form, "password"))
    return {"paths": [f"{own.as_posix()}/{name}" for name in names], "names": names}


def _text(form: FormData, name: str) -> str:
    given = form.get(name)
    return given if isinstance(given, str) else ""


def _folder_name(given: str) -> PurePosixPath:
    """Return the files' folder, with each part made safe like the name of a file.

    Raises:
        SettingsError: The folder is too deep, or has an invalid name.
    """
    parts = [part for part in given.replace("\\", "/").split("/") if part]
    if len(parts) > MAX_FOLDERS:
        raise SettingsError(f"The folder is nested more than {MAX_FOLDERS} levels deep.", hint="Send a part of it.")
    return PurePosixPath(*map(file_name, parts))


def file_name(given: str) -> str:
    """Return a safe file name: without folders, leading dots and control characters.

    Raises:
        SettingsError: Nothing of the name is left.
    """
    # A browser on Windows may send a whole path.
    last = given.replace("\\", "/").rpartition("/")[2]
    clean = "".join(character for character in last if character.isprintable()).strip().lstrip(".")
    if not clean:
        raise SettingsError("A file has no usable name.", hint="Rename it.")
    stem, dot, kind = clean.rpartition(".")
    ending = f"{dot}{kind}"
    if not stem or len(ending.encode()) > MAX_ENDING:
        stem, ending = clean, ""
    # `ignore` drops a character that was cut in two.
    return f"{stem.encode()[: MAX_NAME - len(ending.encode())].decode(errors='ignore')}{ending}"


def discard(path: str, caller: Requester) -> bool:
    """Delete a file if the caller has uploaded it; return whether it was deleted.

    Args:
        path: Its path in the corpus.
        caller: Sender of the request.

    Raises:
        OperationError: The file cannot be deleted.
    """
    root, own = _folders(caller)
    file = Path(path)
    home = (root / own).resolve()
    if is_url(path) or home not in file.parents or ".." in file.parts or not file.is_file():
        return False
    try:
        file.unlink()
    except OSError as error:
        msg = f"{file.name} cannot be deleted: {os.strerror(error.errno or 0)}."
        raise OperationError(msg, hint="Check that the ingest root can be written.") from error
    with suppress(OSError):  # the first folder that is not empty ends this
        for folder in file.parents[: file.parents.index(home)]:
            folder.rmdir()
    return True


def _folders(caller: Requester) -> tuple[Path, Path]:
    """Return the ingest root, and the caller's folder in it."""
    return ingest_folder(caller.user), Path(upload_folder(caller.owner))


async def _store_files(files: Sequence[tuple[BinaryIO, Path]], password: str) -> None:
    """Write drafts of all files, then move them to their places, so that nobody sees a partial file.

    Raises:
        SettingsError: A file is too large.
        ReadingError: The password does not open a file.
        OperationError: A file cannot be written.
    """
    drafts: list[Path] = []
    try:
        for source, place in files:
            with _report_unwritable(place):
                drafts.append(await asyncio.to_thread(_write_draft, source, place))
                if password:
                    await _unlock(drafts[-1], place.name, password)
        for draft, (_, place) in zip(drafts, files, strict=True):
            with _report_unwritable(place):
                await asyncio.to_thread(draft.replace, place)
    finally:
        for draft in drafts:
            await asyncio.to_thread(draft.unlink, missing_ok=True)


@contextmanager
def _report_unwritable(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        msg = f"{place.name} cannot be kept: {os.strerror(error.errno or 0)}."
        raise OperationError(
            msg, hint="Check that the ingest root can be written and that its disk has room."
        ) from error


def _refuse_clashes(home: Path, names: Sequence[str]) -> None:
    """Refuse names that clash with each other, with a stored file or with a folder.

    Raises:
        SettingsError: Two names clash.
    """
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise SettingsError(f"Two files were sent as {twice!r}.", hint="Rename one, or send them to different folders.")
    for name in names:
        above = next((each for each in PurePosixPath(name).parents if (home / each).is_file()), None)
        if above is not None:
            msg = f"{name!r} cannot be kept: you have sent a file {above.as_posix()!r}."
            raise SettingsError(msg, hint="Choose another folder.")
        if (home / name).is_dir():
            raise SettingsError(f"{name!r} cannot be kept: it is a folder of yours.", hint="Rename the file.")


def _write_draft(source: BinaryIO, place: Path) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=place.parent, prefix=".", delete=False) as file:
        try:
            shutil.copyfileobj(_Bounded(source, place.name), file, _BLOCK)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    return Path(file.name)


async def _unlock(file: Path, name: str, password: str) -> None:
    """Remove the password of a file in a separate process with limits.

    Raises:
        ReadingError: The password is wrong, or the file cannot be opened.
    """
    copy = file.with_name(f"{file.name}.open")
    process = PageProcess(UNLOCKING)
    try:
        order = {"path": str(file), "copy": str(copy), "name": name, "password": password}
        reply, _ = await process.order(order)
        if "reason" in reply:
            reply = {"refused": (f"{name!r} cannot be opened here.", "Send a copy without a password.")}
        if "refused" in reply:
            message, hint = reply["refused"]
            raise ReadingError(message, reason="encrypted", hint=hint)
        if reply["is_open"]:
            await asyncio.to_thread(copy.replace, file)
    finally:
        await asyncio.to_thread(process.close)
        await asyncio.to_thread(copy.unlink, missing_ok=True)


class _Bounded:
    """Reads an upload up to the size limit."""

    def __init__(self, source: BinaryIO, name: str) -> None:
        self._source = source
        self._name = name
        self._read = 0

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes.

        Raises:
            SettingsError: The file is too large.
        """
        found = self._source.read(size)
        self._read += len(found)
        if self._read > MAX_BYTES:
            msg = f"{self._name} is larger than {MAX_BYTES // _BLOCK} MB."
            raise SettingsError(msg, hint="Ask the operator to ingest it from the command line.")
        return found
