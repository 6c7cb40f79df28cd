"""What the operator of the process sets, and no caller can: secrets, and what callers may not choose."""

from __future__ import annotations

from pydantic import SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Secrets(BaseSettings):
    """Keys, read from the environment where they are used and nowhere else; never part of state, repr or logs."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_prefix="ANABRANCH_")

    base_url_key: SecretStr | None = None
    """Key for the OpenAI-compatible server at `base_url`."""


class Operator(BaseSettings):
    """What this process allows its callers."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_prefix="ANABRANCH_")

    lock: tuple[str, ...] = ()
    """Names of Context fields that a caller may not set; their values come from the environment alone."""

    ingest_root: str = "."
    """Folder that the ingest graph may read from; relative to where the process started."""
