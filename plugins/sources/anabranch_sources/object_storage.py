"""Objects in buckets as documents: list them, and copy those that must be read.

For S3 and compatible services (MinIO, Ceph, R2), through fsspec.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from anabranch.errors import MissingExtraError, OperationError, ReadingError, SettingsError
from anabranch.ingestion.address_source import FetchOptions
from anabranch.ingestion.directory_walk import FoundFile, is_counted
from anabranch.ingestion.safe_open import safe_stem
from anabranch.readers import READERS
from anabranch.readers.document import Failure
from anabranch.text.normalization import storable

SCHEME = "s3://"

MOST_BYTES = 4 << 30
"""Most bytes of one object, which is copied to this machine before it is read."""


class ObjectFolders:
    """The objects at some addresses."""

    def __init__(self, addresses: Sequence[str], options: FetchOptions) -> None:
        """Take addresses as `ObjectFolder` does.

        Raises:
            MissingExtraError: s3fs is not installed.
            SettingsError: One of them names no bucket.
        """
        self._folders = [ObjectFolder(address, options.folder) for address in dict.fromkeys(addresses)]
        self._known = 0

    def __len__(self) -> int:
        """Return the number of objects so far."""
        return self._known

    def __iter__(self) -> Iterator[FoundFile | Failure]:
        """Yield what `ObjectFolder.objects` does."""
        for folder in self._folders:
            for item in folder.objects():
                self._known += 1
                yield item

    def is_missing(self, identity: str) -> bool:
        """Tell, after the last object, whether one that the corpus knows is gone."""
        return any(folder.is_missing(identity) for folder in self._folders)


class ObjectFolder:
    """An object, or all objects below a prefix."""

    def __init__(self, address: str, folder: Path) -> None:
        """Take `s3://bucket/prefix`, and where copies go.

        Raises:
            MissingExtraError: s3fs is not installed.
            SettingsError: It names no bucket.
        """
        self._path = address[len(SCHEME) :].strip("/")
        bucket = self._path.split("/")[0]
        if "@" in bucket:  # not repeated, because a secret may stand before the @
            msg = "The address of a bucket may contain only its name and a prefix."
            raise SettingsError(msg, hint="Give keys as for the AWS command line: AWS_PROFILE, or the environment.")
        if not bucket or "?" in bucket:
            msg = f"{address!r} names no bucket."
            raise SettingsError(msg, hint="For example: s3://bucket/folder")
        try:
            import s3fs
        except ImportError as error:
            raise MissingExtraError("Reading from object storage", "s3") from error
        # No caches: a listing may be outdated after a minute.
        self._files: Any = s3fs.S3FileSystem(use_listings_cache=False, skip_instance_cache=True)
        self._folder = folder
        self._here: set[str] | None = None

    def objects(self) -> Iterator[FoundFile | Failure]:
        """Yield each object, not copied yet, and a failure for each that cannot be read.

        Raises:
            SettingsError: The bucket does not exist, the address is empty, or access is denied.
            OperationError: The service does not answer.
        """
        listed = self._list()
        here = {f"{SCHEME}{path}" for path in listed}
        for path in sorted(listed):
            facts = listed[path]
            if facts["type"] == "file" and all(map(is_counted, path.split("/")[1:])):
                yield self._to_file(path, facts)
        self._here = here

    def is_missing(self, identity: str) -> bool:
        """Tell, after the last object, whether one that the corpus knows is gone."""
        below = identity.startswith(f"{SCHEME}{self._path}/")
        return self._here is not None and below and identity not in self._here

    def _list(self) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

        address = f"{SCHEME}{self._path}"
        try:
            found: dict[str, Any] = self._files.find(self._path, detail=True)
        except FileNotFoundError as error:
            raise _nothing_found(address) from error
        except (PermissionError, NoCredentialsError) as error:
            hint = "Give keys as for the AWS command line: AWS_PROFILE, or the environment."
            raise SettingsError(f"Access to {address!r} was denied: {error}", hint=hint) from error
        except (BotoCoreError, ClientError, OSError) as error:
            raise OperationError(f"{address!r} cannot be listed: {error}", hint="Try again later.") from error
        # An empty listing is more likely a wrong prefix than a wish to remove all documents.
        if not found:
            raise _nothing_found(address)
        return found

    def _to_file(self, path: str, facts: dict[str, Any]) -> FoundFile | Failure:
        address, name = f"{SCHEME}{path}", PurePosixPath(path)
        if storable(address) != address:
            return Failure(storable(address), "unreadable", "its name is not UTF-8")
        if name.suffix.lower() not in READERS:
            return Failure(address, "unsupported", f"{name.name!r} is not of a kind that can be read.")
        if facts["size"] > MOST_BYTES:
            return Failure(address, "too_large", f"it has {facts['size']} bytes, more than {MOST_BYTES}")
        own = Path(tempfile.mkdtemp(dir=self._folder))
        copy = own / f"{safe_stem(name.stem, 'object')}{name.suffix}"
        return FoundFile(
            copy, address, identity=address, is_copy=True, metadata={"url": address}, version=_version(facts),
            fetch=partial(self._fetch, path, copy),
        )  # fmt: skip

    def _fetch(self, path: str, copy: Path) -> str:
        """Copy an object; return its version, empty if it changed during the copy."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            before = _version(self._files.info(path, refresh=True))
            self._files.get_file(path, str(copy))
            after = _version(self._files.info(path, refresh=True))
        except FileNotFoundError as error:
            raise ReadingError(f"{SCHEME}{path} no longer exists.", reason="unreadable") from error
        except (BotoCoreError, ClientError, OSError) as error:
            raise ReadingError(f"{SCHEME}{path} cannot be copied: {error}", reason="unreachable") from error
        return after if before == after else ""


def _nothing_found(address: str) -> SettingsError:
    return SettingsError(f"There is nothing at {address!r}.", hint="Check bucket and prefix.")


def _version(facts: dict[str, Any]) -> str:
    """Return a version that changes with the content of an object."""
    return f"etag:{facts['ETag']}:{facts['size']}" if facts.get("ETag") else ""
