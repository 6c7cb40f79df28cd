"""Limits of the process that draws pages; apart from its module, which loads MuPDF into the server."""

from __future__ import annotations

SECONDS = 20.0
"""Most seconds for one order."""

MEMORY = 1 << 30
"""Most bytes of address space."""
