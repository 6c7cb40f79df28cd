"""Tells whose fault it is that a provider gave no reply, whatever its client raised, for every kind of model."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from anabranch.errors import (
    AnabranchError,
    ClientFaultError,
    MissingKeyError,
    ModelError,
    RequestRefusedError,
    SettingsError,
)
from anabranch.safety.key_redaction import redacted

# Characters of the provider's own message that are passed on.
SAID = 300

STUMBLED = (
    "Either the reply is not of the provider's protocol (check `model` and `base_url`), or the provider's package does "
    "not fit this version: then please report it."
)

_DOWN = "See that the server runs and that its address is right; `anabranch doctor` asks it."

_MISTAKES = (
    TypeError, AttributeError, NameError, LookupError, AssertionError, ImportError, ArithmeticError, ValueError,
    RuntimeError, MemoryError, StopIteration,
)  # fmt: skip


def sorted_error(
    error: Exception,
    what: str,
    *,
    where: str,
    key: str,
    settings: str,
    refusal: str,
    sent: Collection[str],
    seconds: float | None = None,
) -> AnabranchError:
    """Return what to raise in place of a client's error, without the keys in `sent` that it may repeat.

    `key`, `settings` and `refusal` say what to do about a refused key, an unknown model, a refused request.

    Returns:
        A `MissingKeyError` or `SettingsError` for what was configured wrongly (401, 403; 404), which no other request
        can cure; a `RequestRefusedError` for what may be wrong with this request alone (400, 413, 422); a
        `ClientFaultError` for a mistake in a program; a `ModelError` for everything else.
    """
    if isinstance(error, AnabranchError):
        return error
    status, where = status_of(error), redacted(where, sent)
    said = redacted(_message_of(error), sent)[:SAID]
    failure: AnabranchError = ModelError(
        f"{what} failed: {type(error).__name__}: {said or 'no message'}", hint="Try again later."
    )
    if status in (401, 403):
        failure = MissingKeyError(f"{where} refused the key for {what} ({status}).", hint=key)
    elif status == 404:
        failure = SettingsError(f"{where} does not know {what} ({status}): {said}", hint=settings)
    elif status in (400, 413, 422):
        failure = RequestRefusedError(f"{where} refused the request for {what} ({status}): {said}", hint=refusal)
    elif isinstance(error, TimeoutError) and seconds is not None:
        failure = ModelError(f"{what} did not answer within {seconds:g} s.", hint="Raise model_timeout, or try again.")
    elif status is None and _is_connection_fault(error):
        failure = ModelError(
            f"{what} failed: no connection to {where} ({said.rstrip('.') or type(error).__name__}).", hint=_DOWN
        )
    elif isinstance(error, _MISTAKES):
        msg = f"The client of {what} failed: {type(error).__name__}: {said or 'no message'}."
        failure = ClientFaultError(msg, hint=STUMBLED)
    return failure


def is_timeout(error: BaseException | None) -> bool:
    """Tell whether a call ran out of time, by the names of its errors: each client has classes of its own for it."""
    while error is not None:
        if isinstance(error, TimeoutError) or type(error).__name__.endswith(("Timeout", "TimeoutError")):
            return True
        error = error.__cause__
    return False


def _is_connection_fault(error: BaseException | None) -> bool:
    """Tell whether a client could not connect, by the names of its errors: each has classes of its own for it."""
    while error is not None:
        if type(error).__name__ in ("ConnectError", "ConnectTimeout", "ConnectionRefusedError"):
            return True
        error = error.__cause__ or error.__context__
    return False


def status_of(error: BaseException | None) -> int | None:
    """Return the HTTP status that a client's error is about, or that it was raised from; None where it has none."""
    while error is not None:
        response = getattr(error, "response", None)
        # Google's has it as `code`, where others have a word.
        for status in (getattr(error, "status_code", None), getattr(response, "status_code", None), _code(error)):
            if isinstance(status, int):
                return status
        error = error.__cause__
    return None


def _code(error: BaseException) -> int | None:
    code = getattr(error, "code", None)
    return code if isinstance(code, int) and 400 <= code < 600 else None


def _message_of(error: Exception) -> str:
    """Return the provider's own words, in one line; the rest of an error is status and headers."""
    words = getattr(error, "body", None)
    while isinstance(words, dict):
        words = words.get("error") or words.get("message")
    return " ".join(str(words or error).split())


def failures_of(replies: Sequence[object]) -> list[ModelError]:
    """Return what failed among calls made at the same time, each given by what it returned or raised.

    Raises:
        ModelError: Every call failed.
        BaseException: What is no failure of a provider, such as a wrong key, whatever the other calls gave.
    """
    failures: list[ModelError] = []
    for reply in replies:
        if isinstance(reply, ModelError):
            failures.append(reply)
        elif isinstance(reply, BaseException):
            raise reply
    if failures and len(failures) == len(replies):
        raise failures[0]
    return failures
