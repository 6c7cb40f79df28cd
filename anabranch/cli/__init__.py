"""The command line: `anabranch ingest | ask | search | corpus | doctor`.

The only part of `anabranch` that may import the graph. Heavy libraries are imported inside the commands, so that
`anabranch --help` is fast.
"""

from anabranch.cli.app import main

__all__ = ["main"]
