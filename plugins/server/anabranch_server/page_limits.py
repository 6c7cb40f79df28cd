"""What the process that draws pages may take: apart from its module, which loads MuPDF, as the server never does."""

from __future__ import annotations

SECONDS = 20.0
"""For one order."""

MEMORY = 1 << 30
"""Bytes of address space."""
