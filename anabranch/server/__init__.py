"""What other servers load of ours by name. `anabranch serve` itself is a plugin, in plugins/server."""
