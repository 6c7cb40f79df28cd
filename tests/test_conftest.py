"""What the tests stand on."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from tests.shared_fixtures import pytest_runtest_call


def test_work_beyond_its_mark_fails_and_waiting_beyond_it_does_not() -> None:
    item: Any = SimpleNamespace(get_closest_marker=lambda _: pytest.mark.work(0.2).mark)
    call = pytest_runtest_call(item)
    next(call)
    time.sleep(0.5)
    with pytest.raises(pytest.fail.Exception, match=r"more than 0\.2 seconds"):
        while time.process_time() < 1e6:
            pass
    call.close()
    before = time.process_time()
    while time.process_time() < before + 0.3:
        pass  # the count ends with the test
