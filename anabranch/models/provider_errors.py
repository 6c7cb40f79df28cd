"""Tells whose fault it is that a provider gave no reply, whatever its client raised, for every kind of model."""

from __future__ import annotations

from anabranch.errors import AnabranchError, MissingKeyError, ModelError, RequestRefusedError, SettingsError

SAID = 300
"""Characters of the provider's own message that are passed on."""


def sorted_error(
    error: Exception, what: str, *, where: str, key: str, settings: str, refusal: str, seconds: float | None = None
) -> AnabranchError:
    """Return what to raise in place of a client's error.

    Args:
        error: What the client raised.
        what: The model, as messages call it.
        where: Who was asked: an address, or the provider's name.
        key: What to do about a key that is refused.
        settings: What to do about a model that is not known there.
        refusal: What to do about a request that is refused as it is.
        seconds: Time that the call had.

    Returns:
        A `MissingKeyError` or `SettingsError` for what was configured wrongly (401, 403; 404), which no other request
        can cure; a `RequestRefusedError` for what may be wrong with this request alone (400, 413, 422); a `ModelError`
        for everything else.
    """
    if isinstance(error, AnabranchError):
        return error
    status = getattr(error, "status_code", None)
    said = _said(error)
    if status in (401, 403):
        return MissingKeyError(f"{where} refused the key for {what} ({status}).", hint=key)
    if status == 404:
        return SettingsError(f"{where} does not know {what} ({status}): {said}", hint=settings)
    if status in (400, 413, 422):
        return RequestRefusedError(f"{where} refused the request for {what} ({status}): {said}", hint=refusal)
    if isinstance(error, TimeoutError) and seconds is not None:
        return ModelError(f"{what} did not answer within {seconds:g} s.", hint="Raise model_timeout, or try again.")
    return ModelError(f"{what} failed: {type(error).__name__}: {said or 'no message'}", hint="Try again later.")


def _said(error: Exception) -> str:
    """Return the provider's own words, in one line; the rest of an error is status and headers."""
    body = getattr(error, "body", None)
    words = body.get("message") if isinstance(body, dict) else body
    return " ".join(str(words or error).split())[:SAID]
