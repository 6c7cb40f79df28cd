"""What the core uses of the plugin `server`, if it is installed: authentication, and the page."""

from __future__ import annotations

from typing import Any

from anabranch.registry import Registry

SERVER_PARTS: Registry[Any] = Registry("server part", {})
"""By name, in the group of entry points `anabranch.server_parts`:

- `identity`: a module with `identity_of`, `load_authenticators`, `limits_of` and `refuse_limits`.
- `page`: an ASGI application with the page and its files.
"""
