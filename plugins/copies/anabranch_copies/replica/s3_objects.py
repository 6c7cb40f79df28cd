"""A corpus that is published to object storage with the interface of S3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from anabranch.errors import CorpusUnreachableError, MissingExtraError, SettingsError

try:
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, PartialCredentialsError
    from s3fs import S3FileSystem
except ImportError as error:
    raise MissingExtraError("A corpus on S3", "s3") from error

from anabranch.readers.corpus_marker import POINTER
from anabranch_copies.replica.object_store import FILES

# Error codes of a swap that another publisher won, or is about to win.
_LOST = frozenset({"PreconditionFailed", "412", "ConditionalRequestConflict", "409"})
# Once: s3fs itself tries five times.
_CLIENT = {"connect_timeout": 10, "read_timeout": 60, "retries": {"total_max_attempts": 1}}
"""Seconds for each request; a file may take longer, as long as some of it comes."""


class S3Objects:
    """Files below a prefix of a bucket, implementing `ObjectStore`.

    Credentials and the server come from the same settings as for AWS clients: `AWS_ACCESS_KEY_ID`, `AWS_PROFILE`, a
    role of the machine, `AWS_ENDPOINT_URL` and so on.
    """

    def __init__(self, address: str) -> None:
        """Take the address.

        Raises:
            SettingsError: It names no bucket and prefix, or holds a password.
        """
        parts = urlsplit(address)
        if "@" in parts.netloc or parts.query:
            # Not repeated in the message, because it may contain a secret.
            msg = "The address of a corpus on S3 may contain only a bucket and a prefix."
            raise SettingsError(msg, hint="Give keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile.")
        self._bucket, self._prefix = parts.netloc, parts.path.strip("/")
        if not self._bucket or not self._prefix:
            raise SettingsError(f"{address!r} names no bucket and prefix.", hint="For example: s3://BUCKET/notes")
        self.shown = f"s3://{self._bucket}/{self._prefix}"
        # Not fsspec's shared instance, whose client may have another caller's keys.
        self._files: Any = S3FileSystem(
            skip_instance_cache=True, use_listings_cache=False, config_kwargs=_CLIENT
        )  # no types

    def pointer(self) -> tuple[bytes, str] | None:
        """Return the pointer and its ETag."""
        path = f"{self.shown}/{POINTER}"
        with self._translate_errors():
            try:
                # The tag first: if the pointer is swapped in between, a swap by this tag fails, as it should.
                tag = str(self._files.info(path)["ETag"])
                return bytes(self._files.cat_file(path)), tag
            except FileNotFoundError:
                return None

    def swap(self, pointer: bytes, before: str | None) -> bool:
        """Replace the pointer by a conditional PUT."""
        condition = {"IfNoneMatch": "*"} if before is None else {"IfMatch": before}
        key = f"{self._prefix}/{POINTER}"
        with self._translate_errors():
            try:
                self._files.call_s3("put_object", Bucket=self._bucket, Key=key, Body=pointer, **condition)
            except OSError as error:
                if isinstance(error.__cause__, ClientError) and error.__cause__.response["Error"]["Code"] in _LOST:
                    return False
                raise
        return True

    def get(self, name: str, to: Path) -> None:
        """Copy a file from there."""
        with self._translate_errors():
            self._files.get_file(f"{self.shown}/{name}", str(to))

    def put(self, file: Path, name: str) -> None:
        """Copy a file there."""
        try:
            with self._translate_errors():
                self._files.put_file(str(file), f"{self.shown}/{name}")
        except FileNotFoundError as error:
            msg = f"There is no bucket {self._bucket!r}."
            raise SettingsError(msg, hint="Create it, with a lifecycle rule for unfinished uploads.") from error

    def written(self) -> dict[str, float]:
        """Return when each file was written, by the clock of the server."""
        with self._translate_errors():
            found = self._files.find(f"{self.shown}/{FILES}", detail=True)
        return {
            f"{FILES}/{path.rpartition('/')[2]}": facts["LastModified"].timestamp() for path, facts in found.items()
        }

    def remove(self, names: Iterable[str]) -> None:
        """Remove files, up to a thousand in one request."""
        with self._translate_errors():
            if paths := [f"{self.shown}/{name}" for name in names]:
                self._files.rm(paths)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Replace the server's errors, whose text may contain secrets, by our own."""
        try:
            yield
        except FileNotFoundError:
            raise
        except (PermissionError, NoCredentialsError, PartialCredentialsError) as error:
            hint = "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile, and its permissions."
            raise SettingsError(f"{self.shown} refused the credentials, or none were found.", hint=hint) from error
        except (OSError, BotoCoreError) as error:
            msg = f"{self.shown} does not answer ({type(error).__name__})."
            raise CorpusUnreachableError(msg, hint="Check the network, and AWS_ENDPOINT_URL.") from error
