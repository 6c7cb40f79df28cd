"""Fetch a page of the web that a person asked for, and nothing that the page would like to reach.

An address names a host, the host has IP addresses, and only the public ones count (`ssrf_guard`). They are looked up
once, all checked, and the socket is opened to one of exactly these (`transport`): a name that means something else a
moment later changes nothing. A redirect starts again from the beginning (`fetcher`). A crawl (`crawler`) asks for each
page in this way.
"""

from anabranch_sources.web.crawler import Crawler
from anabranch_sources.web.fetcher import Fetcher, FetchLimits
from anabranch_sources.web.ssrf_guard import parsed

__all__ = ["Crawler", "FetchLimits", "Fetcher", "parsed"]
