"""Build the page of the server from its sources, or see that what is committed was built from them.

    python scripts/page.py          # needs Node; installs the pinned tools beside the sources where they are missing
    python scripts/page.py --check  # without Node, by the hash of the sources that the bundle carries

The bundle is committed, so that neither installing nor running the server needs Node.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parent.parent / "plugins" / "server" / "anabranch_server" / "page"
STATIC = PAGE / "static"
COPIED = ("favicon.svg", "index.html", "style.css")


def source_hash() -> str:
    """Return what names the sources, with the versions of the packages."""
    files = [PAGE / "package.json", *(PAGE / name for name in COPIED), *sorted((PAGE / "src").glob("*.js"))]
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\0{file.read_text(encoding='utf-8')}\0".encode())
    return digest.hexdigest()


def built_from() -> str:
    """Return the hash of the sources that the committed bundle was built from."""
    return (STATIC / "app.js").read_text(encoding="utf-8").rpartition("// sources ")[2].strip()


def build(folder: Path) -> None:
    """Build the page into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        shutil.copyfile(PAGE / name, folder / name)
    arguments = json.loads((PAGE / "package.json").read_text(encoding="utf-8"))["scripts"]["build"].split()[1:]
    out = [f"--outfile={folder / 'app.js'}", f"--footer:js=// sources {source_hash()}", "--log-level=warning"]
    subprocess.run([str(PAGE / "node_modules/.bin/esbuild"), *arguments, *out], cwd=PAGE, check=True)  # noqa: S603  # esbuild


def has_tools(*, install: bool = False) -> bool:
    """Tell whether the bundler is there; with `install`, it is where there is Node."""
    if install and not (PAGE / "node_modules/.bin/esbuild").exists() and (npm := shutil.which("npm")):
        command = [npm, "install", "--no-package-lock", "--no-audit", "--no-fund"]
        subprocess.run(command, cwd=PAGE, check=True)  # noqa: S603  # npm
    return shutil.which("node") is not None and (PAGE / "node_modules/.bin/esbuild").exists()


def problems() -> list[str]:
    """Return what is wrong with the committed bundle."""
    if built_from() != source_hash():
        return ["the page's sources have changed since it was built"]
    if not has_tools():
        return []
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        names = [*COPIED, "app.js"]
        return [
            f"static/{name} is not what the sources give"
            for name in names
            if (Path(folder) / name).read_bytes() != (STATIC / name).read_bytes()
        ]


def main() -> None:
    """Build, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        if found := problems():
            sys.exit(f"{'; '.join(found)}: run `python scripts/page.py`")
    elif has_tools(install=True):
        build(STATIC)
    else:
        sys.exit("Building the page needs Node.")


if __name__ == "__main__":
    main()
