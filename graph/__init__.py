"""The order of the steps: `graph.answer` answers a question, `graph.ingest` fills a corpus.

`graph`, `nodes` and `prompts` are short names. When another installed package owns one of them, every import below
would fail somewhere deep with a puzzling message, so this one place says what happened. It imports nothing else, so
that `import nodes.fuse` alone never loops back here.
"""

from importlib.util import find_spec
from pathlib import Path

_HOME = Path(__file__).parent.parent

for _name in ("nodes", "prompts"):
    _spec = find_spec(_name)
    _origin = _spec.origin if _spec is not None else None
    if _origin is None or Path(_origin).parent.parent != _HOME:
        raise ImportError(
            f"Anabranch's package {_name!r} is shadowed: Python finds {_origin or 'no package'!s} instead of "
            f"{_HOME / _name}. Another installed package or a folder named {_name!r} comes first on sys.path; "
            "install Anabranch in a virtual environment of its own, or rename that folder."
        )
