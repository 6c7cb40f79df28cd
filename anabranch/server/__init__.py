"""Modules that other servers load by name. `anabranch serve` itself is a plugin, in plugins/server."""
