"""What one file may cost."""

from __future__ import annotations

import mmap
import signal
import subprocess
import sys

import pytest

from anabranch.errors import SettingsError
from anabranch.ingestion.isolation.process_limits import Limits, too_much_memory, used_bytes


def run(program: str) -> subprocess.CompletedProcess[str]:
    head = f"import sys; sys.path[:0] = {sys.path!r}\nfrom anabranch.ingestion.isolation.process_limits import *\n"
    return subprocess.run([sys.executable, "-c", head + program], capture_output=True, text=True)


@pytest.mark.parametrize("bad", [{"seconds": 0}, {"seconds": -1}, {"seconds": float("nan")}, {"bytes": 1 << 20}])
def test_limits_that_no_file_can_keep_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match=r"within .* seconds"):
        Limits(**bad)  # type: ignore[arg-type]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no bound on memory")
def test_a_confined_process_cannot_take_more_memory_and_leaves_no_core() -> None:
    said = run(
        "import resource\nconfine(Limits(bytes=300 << 20))\n"
        "print(resource.getrlimit(resource.RLIMIT_AS), resource.getrlimit(resource.RLIMIT_CORE))\n"
        "try: bytes(300 << 20)\nexcept MemoryError: print('no')"
    )
    assert said.stdout == f"{(300 << 20, 300 << 20)} (0, 0)\nno\n"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no bound on memory")
def test_a_stricter_bound_of_the_system_stays() -> None:
    said = run(
        "import resource\nresource.setrlimit(resource.RLIMIT_AS, (280 << 20, 280 << 20))\n"
        "confine(Limits(bytes=300 << 20))\nprint(resource.getrlimit(resource.RLIMIT_AS)[0] >> 20)"
    )
    assert said.stdout == "280\n"


def test_a_process_that_hangs_in_a_library_is_ended() -> None:
    said = run("import ctypes\nend_after(0.2)\nctypes.PyDLL(None).pause()")
    assert (said.returncode, said.stdout, said.stderr) == (-signal.SIGALRM, "", "")


def test_one_that_may_go_on_is_not() -> None:
    said = run("import time\nend_after(0.2)\nend_after(0)\ntime.sleep(0.6)\nprint('alive')")
    assert (said.returncode, said.stdout) == (0, "alive\n")


def test_used_memory_is_that_of_the_limit() -> None:
    before = used_bytes()
    # Mapped and not allocated: what other tests have freed may be room enough for an allocation.
    with mmap.mmap(-1, 64 << 20) as block:
        block.write(b"x" * len(block))
        assert used_bytes() - before > len(block) // 2


def test_what_did_not_fit_is_said_in_megabytes() -> None:
    error = too_much_memory("a.pdf", Limits(bytes=512 << 20))
    assert (error.reason, error.message) == ("memory", "reading 'a.pdf' took more than 512 MB of memory.")
