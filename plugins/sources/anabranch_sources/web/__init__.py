"""Fetch web pages, but nothing in the local network that a page refers to.

The host of an address is looked up once, and all its IP addresses must be public (`ssrf_guard`). The socket is opened
to one of exactly these (`transport`), so that a name that changes later has no effect. A redirect starts again from the
beginning (`fetcher`). A crawl (`crawler`) fetches each page in this way.
"""

from anabranch_sources.web.crawler import Crawler
from anabranch_sources.web.fetcher import Fetcher, FetchLimits
from anabranch_sources.web.ssrf_guard import parse_address

__all__ = ["Crawler", "FetchLimits", "Fetcher", "parse_address"]
