"""Who asks, and the audit log of what they were shown. Who may ask is found by the plugin `server` (`server_parts`)."""

from __future__ import annotations

from anabranch.identity.user import AUTH_USER, User
from anabranch.safety.operator import as_operator, needs_identity

__all__ = ["AUTH_USER", "User", "as_operator", "needs_identity"]
