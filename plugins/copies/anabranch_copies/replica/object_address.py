"""Find the place of a published corpus by its address."""

from __future__ import annotations

from anabranch.errors import SettingsError
from anabranch.store.corpus_address import StrPath, folder_of, scheme_of, shown_address
from anabranch_copies.replica.folder_objects import FolderObjects
from anabranch_copies.replica.object_store import ObjectStore


def objects_at(address: StrPath) -> ObjectStore:
    """Return the place at an address, `s3://BUCKET/PREFIX` or a folder; it is not contacted yet.

    Raises:
        SettingsError: It is neither, or holds a password.
        MissingExtraError: It is on S3, and the package for that is not installed.
    """
    scheme = scheme_of(address)
    if scheme == "file":
        return FolderObjects(folder_of(address).absolute())
    if scheme != "s3":
        msg = f"A corpus cannot be published to {shown_address(address)!r}."
        raise SettingsError(msg, hint="Give s3://BUCKET/PREFIX, or file:///PATH.")
    from anabranch_copies.replica.s3_objects import S3Objects

    return S3Objects(str(address))
