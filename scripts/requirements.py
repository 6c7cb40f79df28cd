"""Print what Anabranch and some of its extras require, one a line: what an image installs before it has the source."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

_OTHERS = re.compile(r"anabranch\[([\w,]+)\]")


def requirements(project: Path, extras: str) -> list[str]:
    """Return the requirements.

    Args:
        project: The file pyproject.toml.
        extras: Names with commas between them.
    """
    found = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    optional = found["optional-dependencies"]

    def needed(extra: str) -> Iterator[str]:
        for line in optional[extra]:
            # An extra may bring others of this project, which no registry has.
            if others := _OTHERS.match(line):
                for other in others[1].split(","):
                    yield from needed(other)
            else:
                yield line

    lines = [*found["dependencies"], *(line for extra in extras.split(",") if extra for line in needed(extra))]
    return list(dict.fromkeys(lines))


if __name__ == "__main__":
    print("\n".join(requirements(Path("pyproject.toml"), sys.argv[1])))  # noqa: T201  # the command's output
