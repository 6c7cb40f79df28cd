"""Fetch a page of the web that a person asked for, and nothing that the page would like to reach.

An address names a host, the host has IP addresses, and only the public ones count (`addresses`). They are looked up
once, all checked (`resolving`), and the socket is opened to one of exactly these (`connecting`): a name that means
something else a moment later changes nothing. A redirect starts again from the beginning (`pages`).
"""

from anabranch.ingest.web.fetcher import Fetcher, FetchLimits
from anabranch.ingest.web.urls import parsed

__all__ = ["FetchLimits", "Fetcher", "parsed"]
