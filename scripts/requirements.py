"""Print what Anabranch and some of its extras require, one a line: what an image installs before it has the source."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path


def requirements(project: Path, extras: str) -> list[str]:
    """Return the requirements.

    Args:
        project: The file pyproject.toml.
        extras: Names with commas between them.
    """
    found = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    optional = found["optional-dependencies"]
    return [*found["dependencies"], *(each for extra in extras.split(",") if extra for each in optional[extra])]


if __name__ == "__main__":
    print("\n".join(requirements(Path("pyproject.toml"), sys.argv[1])))  # noqa: T201  # the command's output
