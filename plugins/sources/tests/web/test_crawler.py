"""A site of a real server on 127.0.0.1, gone through: its links, its rules, its lists of pages, and where to stop."""

from __future__ import annotations

import gzip
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from anabranch.errors import SettingsError
from anabranch.ingestion.crawl_limits import CrawlLimits
from anabranch.ingestion.directory_walk import FoundFile
from anabranch.ingestion.pipeline import ingest
from anabranch.readers.document import Failure
from anabranch_sources.web import Crawler, Fetcher, FetchLimits
from anabranch_sources.web.robots_txt import LONGEST_PAUSE
from anabranch_sources.web.sitemap import listed_pages
from plugins.sources.tests.web.site import PUBLIC, Answer, Internet, Names, Site, leads_to, page, serving

pytestmark = pytest.mark.loopback

QUICK = FetchLimits(seconds=300, idle=300)
START = "http://example.org/docs/"


def linked(*targets: str, head: str = "") -> bytes:
    links = "".join(f"<p>See <a href='{target}'>{target}</a>" for target in targets)
    return page(f"<html><head>{head}</head><body>{links}</body></html>")


class Crawl:
    """One crawl over a site: what came of it, what was asked for, and how long was waited."""

    def __init__(self, site: Site, folder: Path, limits: CrawlLimits, start: str) -> None:
        self.pauses: list[float] = []
        names = Names(example_org=PUBLIC, other_example="8.8.8.8")
        crawler = Crawler(
            Fetcher(limits=QUICK, resolve=names, network=Internet(site)), limits, sleep=self.pauses.append
        )
        items = list(crawler.pages(start, folder))
        self.asked = [request.split(" ")[1] for request in site.requests]
        self.found = [item.source.removeprefix("http://example.org") for item in items if isinstance(item, FoundFile)]
        self.failures = {item.source: item for item in items if isinstance(item, Failure)}
        for item in items:
            if isinstance(item, FoundFile):
                assert item.metadata == {"url": item.source}
                assert item.path.is_file()
                item.discard()
        self.left = list(folder.rglob("*"))


def crawled(
    answers: Mapping[str, Answer], folder: Path, limits: CrawlLimits | None = None, start: str = START
) -> Crawl:
    nothing = page("", status="404 Not Found")
    with serving({"/robots.txt": nothing, "/sitemap.xml": nothing, **answers}) as site:
        return Crawl(site, folder, limits or CrawlLimits(), start)


def test_pages_of_the_folder_come_breadth_first_and_once(tmp_path: Path) -> None:
    answers = {
        "/docs/": linked("a", "b.html#part", "/docs/b.html", "./", "../docs/a?x=1"),
        "/docs/a": linked("deep/c", "b.html", "/docs/"),
        "/docs/a?x=1": linked(),
        "/docs/b.html": linked(),
        "/docs/deep/c": linked(),
    }
    crawl = crawled(answers, tmp_path)
    assert crawl.found == ["/docs/", "/docs/a", "/docs/b.html", "/docs/a?x=1", "/docs/deep/c"]
    assert not crawl.failures
    assert not crawl.left
    assert len(crawl.asked) == len(set(crawl.asked))


@pytest.mark.parametrize(
    "target",
    [
        "/blog/",
        "http://other.example/docs/",
        "https://example.org/docs/",
        "http://example.org:81/docs/",
        "mailto:a@b.c",
    ],
)
def test_what_is_not_of_the_folder_is_not_asked_for(target: str, tmp_path: Path) -> None:
    crawl = crawled({"/docs/": linked(target)}, tmp_path)
    assert crawl.found == ["/docs/"]
    assert set(crawl.asked) == {"/docs/", "/robots.txt", "/sitemap.xml"}
    assert not crawl.failures


@pytest.mark.parametrize("target", ["http://127.0.0.1:6379/", "/private/", "http://other.example/docs/"])
def test_a_page_that_leads_out_of_the_site_is_left(target: str, tmp_path: Path) -> None:
    crawl = crawled({"/docs/": linked("out"), "/docs/out": leads_to(target)}, tmp_path)
    assert crawl.found == ["/docs/"]
    assert not crawl.failures
    assert not crawl.left


def test_the_site_is_where_the_first_page_ends(tmp_path: Path) -> None:
    answers = {"/docs/": leads_to("/manual/v2/"), "/manual/v2/": linked("a", "/docs/"), "/manual/v2/a": linked()}
    crawl = crawled(answers, tmp_path)
    assert crawl.found == ["/docs/", "/manual/v2/a"]


def test_two_addresses_of_one_page_are_taken_in_once(tmp_path: Path) -> None:
    answers = {"/docs/": linked("new", "old"), "/docs/new": linked(), "/docs/old": leads_to("/docs/new")}
    crawl = crawled(answers, tmp_path)
    assert crawl.found == ["/docs/", "/docs/new"]
    assert not crawl.left


def test_the_rules_of_the_site_are_kept(tmp_path: Path) -> None:
    rules = (
        "User-agent: *\nDisallow: /docs/*?print\nDisallow: /docs/drafts/\nAllow: /docs/drafts/final\nCrawl-delay: 3\n"
    )
    answers = {
        "/robots.txt": page(rules, "text/plain"),
        "/docs/": linked("a?print=1", "drafts/x", "drafts/final"),
        "/docs/drafts/final": linked(),
    }
    crawl = crawled(answers, tmp_path)
    assert crawl.found == ["/docs/", "/docs/drafts/final"]
    assert crawl.pauses == [3.0]


def test_rules_for_this_program_come_before_those_for_all(tmp_path: Path) -> None:
    rules = "User-agent: *\nDisallow: /\n\nUser-agent: Anabranch\nDisallow: /docs/a\nCrawl-delay: 1e9\n"
    answers = {"/robots.txt": page(rules, "text/plain"), "/docs/": linked("a", "b"), "/docs/b": linked()}
    crawl = crawled(answers, tmp_path)
    assert crawl.found == ["/docs/", "/docs/b"]
    assert crawl.pauses == [LONGEST_PAUSE]


@pytest.mark.parametrize(
    "answer",
    [
        page("User-agent: *\nDisallow: /", "text/plain"),
        page("ill", status="503 Service Unavailable"),
        b"no HTTP at all",
    ],
)
def test_a_site_that_forbids_it_or_cannot_say_is_not_crawled(answer: bytes, tmp_path: Path) -> None:
    crawl = crawled({"/robots.txt": answer, "/docs/": linked("a"), "/docs/a": linked()}, tmp_path)
    assert not crawl.found
    assert crawl.failures[START].reason == "refused"
    assert not crawl.left


def test_a_page_says_whether_it_is_taken_in_and_followed(tmp_path: Path) -> None:
    robots = "<meta name='Robots' content='{}'>"
    answers = {
        "/docs/": linked("a", head=robots.format("noindex")),
        "/docs/a": linked("b", head=robots.format("NoFollow, archive")),
        "/docs/b": linked(),
    }
    crawl = crawled(answers, tmp_path)
    assert crawl.found == ["/docs/a"]
    assert "/docs/b" not in crawl.asked
    assert not crawl.left


def test_links_count_from_where_the_page_says(tmp_path: Path) -> None:
    crawl = crawled({"/docs/": linked("a", head="<base href='/docs/v1/'>"), "/docs/v1/a": linked()}, tmp_path)
    assert crawl.found == ["/docs/", "/docs/v1/a"]


def listing(*addresses: str, kind: str = "urlset", entry: str = "url") -> bytes:
    entries = "".join(f"<{entry}><loc> {address} </loc></{entry}>" for address in addresses)
    return (
        f'<?xml version="1.0"?><{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{kind}>'.encode()
    )


def test_sitemaps_name_pages_that_no_link_leads_to(tmp_path: Path) -> None:
    index = listing(
        "http://example.org/one.xml.gz", "http://example.org/gone.xml", kind="sitemapindex", entry="sitemap"
    )
    hidden = listing("http://example.org/docs/lonely", "http://example.org/blog/", "http://other.example/docs/")
    answers = {
        "/robots.txt": page("Sitemap: http://example.org/all.xml", "text/plain"),
        "/all.xml": page(index, "application/xml"),
        "/one.xml.gz": page(gzip.compress(hidden), "application/x-gzip"),
        "/gone.xml": page("", status="404 Not Found"),
        "/docs/": linked("a"),
        "/docs/a": linked(),
        "/docs/lonely": linked(),
    }
    crawl = crawled(answers, tmp_path)
    assert crawl.found == ["/docs/", "/docs/a", "/docs/lonely"]


def test_a_sitemap_of_which_nothing_comes_is_left(tmp_path: Path) -> None:
    """Its own packing is undone within the time of the page; the crawl goes on without it."""
    empty = page(gzip.compress(b"") * 3_000_000, "application/x-gzip")
    nothing = page("", status="404 Not Found")
    names = Names(example_org=PUBLIC)
    with serving({"/sitemap.xml": empty, "/robots.txt": nothing}) as site:
        fetcher = Fetcher(limits=FetchLimits(seconds=2), resolve=names, network=Internet(site))
        began = time.thread_time()
        assert list(listed_pages(["http://example.org/sitemap.xml"], fetcher)) == []
        assert time.thread_time() - began < 3


def test_what_a_failed_page_left_is_deleted(tmp_path: Path) -> None:
    half = page(gzip.compress(b"<p>Herons wait." * 50_000)[:-9], "text/html", "Content-Encoding: gzip")
    crawl = crawled({"/docs/": linked("half"), "/docs/half": half}, tmp_path)
    assert [failure.reason for failure in crawl.failures.values()] == ["broken"]
    assert crawl.left == []


def test_a_sitemap_reads_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("http://example.org/docs/secret")
    entity = f'<!DOCTYPE urlset [<!ENTITY x SYSTEM "file://{tmp_path / "secret"}">]>'
    text = f'<?xml version="1.0"?>{entity}<urlset><url><loc>&x;</loc></url></urlset>'
    (tmp_path / "pages").mkdir()
    crawl = crawled({"/sitemap.xml": page(text, "text/xml"), "/docs/": linked()}, tmp_path / "pages")
    assert crawl.found == ["/docs/"]
    assert "/docs/secret" not in crawl.asked


def test_depth_counts_links(tmp_path: Path) -> None:
    answers = {f"/docs/{n or ''}": linked(str(n + 1)) for n in range(9)}
    assert crawled(answers, tmp_path, CrawlLimits(depth=2)).found == ["/docs/", "/docs/1", "/docs/2"]
    assert crawled(answers, tmp_path, CrawlLimits(depth=0)).found == ["/docs/"]


def test_what_is_over_the_limit_is_said(tmp_path: Path) -> None:
    answers = {"/docs/": linked(*map(str, range(1, 10))), **{f"/docs/{n}": linked() for n in range(1, 10)}}
    crawl = crawled(answers, tmp_path, CrawlLimits(pages=4))
    assert crawl.found == ["/docs/", "/docs/1", "/docs/2", "/docs/3"]
    (failure,) = crawl.failures.values()
    assert failure.reason == "limit"
    assert "4 pages were fetched, 6 more are known" in failure.message


def test_pictures_and_archives_are_not_fetched_and_dead_links_are_reported(tmp_path: Path) -> None:
    answers = {
        "/docs/": linked("photo.JPG", "all.zip", "paper.pdf", "gone", "film"),
        "/docs/paper.pdf": page(b"%PDF-1.7 paper", "application/pdf"),
        "/docs/gone": page("", status="410 Gone"),
        "/docs/film": page(b"....", "video/mp4"),
    }
    crawl = crawled(answers, tmp_path)
    assert crawl.found == ["/docs/", "/docs/paper.pdf"]
    assert "/docs/photo.JPG" not in crawl.asked
    assert "/docs/all.zip" not in crawl.asked
    assert {source: failure.reason for source, failure in crawl.failures.items()} == {
        f"{START}gone": "unreachable",
        f"{START}film": "unsupported",
    }
    assert not crawl.left


@pytest.mark.parametrize("body", ["", "no element", "<a href='http://[::1'>x</a><a href='//'>y</a><a href='java:z'>"])
def test_a_page_that_is_hardly_html_leads_nowhere(body: str, tmp_path: Path) -> None:
    crawl = crawled({"/docs/": linked("a"), "/docs/a": page(body)}, tmp_path)
    assert crawl.found == (["/docs/", "/docs/a"] if body else ["/docs/"])


def test_limits_that_allow_nothing_are_refused() -> None:
    for limits in ({"pages": 0}, {"depth": -1}, {"pause": -0.1}, {"pause": float("nan")}):
        with pytest.raises(SettingsError, match="of a crawl cannot be"):
            CrawlLimits(**limits)


def test_a_public_site_leads_to_no_private_address_when_its_name_changes(tmp_path: Path) -> None:
    answers = {"/docs/": linked("a"), "/docs/a": linked(), "/robots.txt": page("", "text/plain")}
    meant = iter([[PUBLIC], [PUBLIC], [PUBLIC]])
    with serving({**answers, "/sitemap.xml": page(listing(), "text/xml")}) as site:
        fetcher = Fetcher(
            private=True, limits=QUICK, resolve=lambda _: next(meant, ["127.0.0.1"]), network=Internet(site)
        )
        page_, failure = Crawler(fetcher, CrawlLimits(pause=0)).pages(START, tmp_path)
    assert isinstance(page_, FoundFile)
    assert isinstance(failure, Failure)
    assert failure.reason == "refused"


def test_a_crawl_becomes_documents(tmp_path: Path) -> None:
    nothing = page("", status="404 Not Found")
    answers = {
        "/robots.txt": nothing,
        "/sitemap.xml": nothing,
        "/": page("<title>Birds</title><h1>Birds</h1><p>All birds of the river. <a href='heron'>Herons</a>"),
        "/heron": page("<title>Herons</title><p>Herons wait in the shallows."),
    }
    with serving(answers) as site:
        url = f"http://127.0.0.1:{site.port}/"
        limits = CrawlLimits(pause=0)
        report = ingest([url], tmp_path / "corpus", private_urls=True, crawl=limits)
        assert [(row.source, row.status) for row in report.rows] == [(url, "added"), (f"{url}heron", "added")]
        again = ingest([url], tmp_path / "corpus", private_urls=True, crawl=limits)
        assert {row.status for row in again.rows} == {"unchanged"}
