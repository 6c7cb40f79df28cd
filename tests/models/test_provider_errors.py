"""Which errors of a client say that a call ran out of time."""

from __future__ import annotations

import httpx
import openai
import pytest

from anabranch.models.provider_errors import is_timeout

ASKED = httpx.Request("POST", "http://127.0.0.1/v1/chat/completions")


def _raised_from(cause: Exception) -> Exception:
    error = RuntimeError("the client's own")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [TimeoutError(), openai.APITimeoutError(ASKED), httpx.ReadTimeout(""), _raised_from(httpx.ReadTimeout(""))],
)
def test_it_ran_out_of_time(error: Exception) -> None:
    assert is_timeout(error)


@pytest.mark.parametrize(
    "error",
    [
        openai.APIConnectionError(request=ASKED),
        httpx.ConnectError("refused"),
        RuntimeError("timeout"),
        _raised_from(OSError()),
    ],
)
def test_it_failed_in_another_way(error: Exception) -> None:
    assert not is_timeout(error)
