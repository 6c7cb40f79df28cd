"""Pages from a real server on 127.0.0.1; only the name server and the way of an address to the socket are ours."""

from __future__ import annotations

import gzip
import ssl
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from anabranch.errors import ReadingError, UserError
from anabranch_sources.web import Fetcher, FetchLimits
from plugins.sources.tests.web.site import PUBLIC, Internet, Names, Site, Trusting, leads_to, page, serving

pytestmark = pytest.mark.loopback

HTML = "<html><title>Herons</title><p>Herons wait in the shallows.</p></html>"
QUICK = FetchLimits(size=200_000, seconds=300, idle=300)


def endless(head: str, piece: bytes, pause: float = 0.0) -> Iterator[bytes]:
    yield f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{head}\r\n".encode()
    while True:
        time.sleep(pause)
        yield piece


BOMB = gzip.compress(b"<p>" + b" " * 5_000_000)
ANSWERS = {
    "/": page(HTML),
    "/paper.pdf": page(b"%PDF-1.7 paper", "application/octet-stream"),
    "/empty": page(""),
    "/gone": page("not here", status="404 Not FoundFile"),
    "/fails": page("oh no", status="500 Internal Server Error"),
    "/part": page("some", status="206 Partial Content"),
    "/photo": page(b"\x89PNG", "image/png"),
    "/gzip": page(gzip.compress(HTML.encode()), "text/html", "Content-Encoding: gzip"),
    "/bomb": page(BOMB, "text/html", "Content-Encoding: gzip"),
    "/two-gzips": page(gzip.compress(b"<p>Gr") + gzip.compress(b"een"), "text/html", "Content-Encoding: X-GZIP "),
    "/empty-gzips": page(gzip.compress(b"") * 200_000, "text/html", "Content-Encoding: gzip"),
    "/no-gzip": page(b"<html>not packed at all</html>", "text/html", "Content-Encoding: gzip"),
    "/deflate": page(zlib.compress(HTML.encode()), "text/html", "Content-Encoding: deflate"),
    "/brotli": page(b"\x1b\x2c\x00", "text/html", "Content-Encoding: br"),
    "/half-gzip": page(gzip.compress(HTML.encode())[:-9], "text/html", "Content-Encoding: gzip"),
    "/large": page(b"x" * 200_001, "text/html"),
    "/lies": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99999999\r\n\r\n<p>small",
    "/broken-off": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 999\r\n\r\n<p>half of",
    "/broken-chunks": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n<p>h\r\n",
    "/chunks": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"4\r\n<p>h\r\n0\r\n\r\n",
    "/two-lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 3\r\n\r\nhello",
    "/bad-length": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: -4\r\n\r\nhello",
    "/short-length": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 8\r\n\r\n<p>twice</p> as long",
    "/no-http": b"220 mail.example.org ESMTP\r\n",
    "/nothing": b"",
    "/endless": lambda: endless("", b"<p>" * 4000),
    "/drip": lambda: endless("", b"x", 0.02),
    "/header-drip": lambda: endless("X-Long: ", b"x", 0.02),
    "/header-flood": lambda: endless("X-First: yes", b"X-More: yes\r\n" * 100),
    "/hundreds": lambda: iter(lambda: b"HTTP/1.1 100 Continue\r\n\r\n", None),
    "/silent": lambda: (time.sleep(pause) or b"" for pause in (0.2,) * 20),
    "/loop": leads_to("/loop"),
    "/ping": leads_to("/pong"),
    "/pong": leads_to("/ping"),
    "/to-root": leads_to("/"),
    "/no-target": page("", status="302 FoundFile"),
    **{f"/step{n}": leads_to(f"/step{n + 1}") for n in range(5)},
    "/step5": page(HTML),
    "/step-1": leads_to("/step0"),
    "/inside": leads_to("http://inside.example/"),
    "/metadata": leads_to("http://169.254.169.254/latest/meta-data/"),
    "/localhost": leads_to("http://127.0.0.1:6379/"),
    "/decimal": leads_to("http://2130706433/"),
    "/file": leads_to("file:///etc/passwd"),
    "/password": leads_to("http://ann:pw@example.org/"),
    "/broken-url": leads_to("http://[::1"),
    "/cookie": page("elsewhere", "text/plain", "Location: /", "Set-Cookie: session=1", status="302 FoundFile"),
    "/other-host": leads_to("http://other.example/"),
    "/latin": page("<p>Grün".encode("latin-1"), "text/html; charset=iso-8859-1"),
}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serving(ANSWERS) as site:
        yield site


@pytest.fixture
def names() -> Names:
    return Names(example_org=PUBLIC, other_example="8.8.8.8", inside_example="10.0.0.7", intranet="127.0.0.1")


@pytest.fixture
def internet(site: Site) -> Internet:
    return Internet(site)


@pytest.fixture
def fetcher(names: Names, internet: Internet) -> Fetcher:
    return Fetcher(limits=QUICK, resolve=names, network=internet)


def reason(fetcher: Fetcher, path: str, folder: Path) -> str:
    with pytest.raises(ReadingError) as caught:
        fetcher.fetch(f"http://example.org{path}", folder)
    return caught.value.reason


def test_a_page_becomes_a_file_of_its_kind(fetcher: Fetcher, tmp_path: Path) -> None:
    path = fetcher.fetch("http://example.org/", tmp_path)
    assert path == tmp_path / "example.org.html"
    assert path.read_text() == HTML
    assert fetcher.fetch("http://example.org/paper.pdf", tmp_path).name == "paper.pdf"


def test_the_socket_goes_to_the_address_that_was_checked(
    fetcher: Fetcher, names: Names, internet: Internet, site: Site, tmp_path: Path
) -> None:
    fetcher.fetch("http://example.org:8080/", tmp_path)
    assert names.asked == ["example.org"]
    assert internet.dialled == [(PUBLIC, 8080)]
    assert site.header("host") == "example.org:8080"


def test_a_name_that_changes_its_meaning_changes_nothing(internet: Internet, tmp_path: Path) -> None:
    answers = iter([[PUBLIC], ["127.0.0.1"]])
    Fetcher(resolve=lambda _: next(answers), network=internet).fetch("http://example.org/", tmp_path)
    assert internet.dialled == [(PUBLIC, 80)]
    assert next(answers) == ["127.0.0.1"]


def test_the_next_address_is_tried_where_one_is_dead(site: Site, tmp_path: Path) -> None:
    internet = Internet(site, dead=["2606:4700::1"])
    Fetcher(resolve=lambda _: ["2606:4700::1", PUBLIC], network=internet).fetch("http://example.org/", tmp_path)
    assert internet.dialled == [("2606:4700::1", 80), (PUBLIC, 80)]


def test_an_address_in_brackets_stays_so_in_the_host(site: Site, internet: Internet, tmp_path: Path) -> None:
    Fetcher(resolve=lambda host: [host], network=internet).fetch("http://[2606:4700::1]/", tmp_path)
    assert internet.dialled == [("2606:4700::1", 80)]
    assert site.header("host") == "[2606:4700::1]"


def test_nothing_of_the_environment_is_sent_or_used(
    fetcher: Fetcher, site: Site, internet: Internet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine example.org login ann password hunter2\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    fetcher.fetch("http://example.org/", tmp_path)
    assert internet.dialled == [(PUBLIC, 80)]
    assert site.requests[-1].startswith("GET / HTTP/1.1\r\n")
    assert site.header("authorization") is None
    assert site.header("accept-encoding") == "gzip"


def test_cookies_are_not_kept(fetcher: Fetcher, site: Site, tmp_path: Path) -> None:
    fetcher.fetch("http://example.org/cookie", tmp_path)
    assert site.header("cookie") is None


@pytest.mark.parametrize("path", ["/", "/gzip", "/to-root", "/step0", "/cookie", "/other-host"])
def test_the_page_comes_whole(fetcher: Fetcher, tmp_path: Path, path: str) -> None:
    assert fetcher.fetch(f"http://example.org{path}", tmp_path).read_text() == HTML


def test_a_redirect_is_a_new_look_up(fetcher: Fetcher, names: Names, internet: Internet, tmp_path: Path) -> None:
    fetcher.fetch("http://example.org/other-host", tmp_path)
    assert names.asked == ["example.org", "other.example"]
    assert internet.dialled == [(PUBLIC, 80), ("8.8.8.8", 80)]


@pytest.mark.parametrize(
    "path",
    [
        "/inside",
        "/metadata",
        "/localhost",
        "/decimal",
        "/file",
        "/password",
        "/broken-url",
        "/loop",
        "/ping",
        "/step-1",
    ],
)
def test_redirects_that_may_not_be_followed(fetcher: Fetcher, internet: Internet, tmp_path: Path, path: str) -> None:
    assert reason(fetcher, path, tmp_path) == "refused"
    assert {address for address, _ in internet.dialled} == {PUBLIC}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["/inside", "/localhost", "/metadata"])
def test_a_public_page_leads_to_no_private_one_even_where_those_are_allowed(
    names: Names, internet: Internet, tmp_path: Path, path: str
) -> None:
    fetcher = Fetcher(private=True, resolve=names, network=internet)
    assert reason(fetcher, path, tmp_path) == "refused"
    assert {address for address, _ in internet.dialled} == {PUBLIC}


def test_a_page_of_ones_own_network_is_fetched_when_asked_for(site: Site, names: Names, tmp_path: Path) -> None:
    with pytest.raises(ReadingError, match="--allow-private-urls"):
        Fetcher(resolve=names).fetch(f"http://intranet:{site.port}/", tmp_path)
    fetcher = Fetcher(private=True, resolve=names)
    assert fetcher.fetch(f"http://intranet:{site.port}/", tmp_path).read_text() == HTML


def test_from_https_it_does_not_go_on_to_http(site: Site, names: Names, tmp_path: Path) -> None:
    internet = Trusting(site)
    fetcher = Fetcher(resolve=names, network=internet)
    with pytest.raises(ReadingError, match="https to http") as caught:
        fetcher.fetch("https://example.org/other-host", tmp_path)
    assert caught.value.reason == "refused"
    assert internet.dialled == [(PUBLIC, 443)]


def test_the_certificate_has_to_be_that_of_the_name(site: Site, names: Names, tmp_path: Path) -> None:
    internet = Trusting(site)
    Fetcher(resolve=names, network=internet).fetch("https://example.org./", tmp_path)
    assert internet.dialled == [(PUBLIC, 443)]
    assert internet.shaken == ["example.org"]
    (context,) = internet.contexts
    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.get_ca_certs()


def test_a_server_without_tls_is_not_taken_for_one_with_it(names: Names, internet: Internet, tmp_path: Path) -> None:
    fetcher = Fetcher(limits=FetchLimits(idle=0.3), resolve=names, network=internet)
    with pytest.raises(ReadingError) as caught:
        fetcher.fetch("https://example.org/", tmp_path)
    assert caught.value.reason == "unreachable"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/empty", "empty"),
        ("/gone", "unreachable"),
        ("/fails", "unreachable"),
        ("/part", "unreachable"),
        ("/no-target", "unreachable"),
        ("/photo", "unsupported"),
        ("/brotli", "unsupported"),
        ("/half-gzip", "broken"),
        ("/no-gzip", "broken"),
        ("/deflate", "unsupported"),
        ("/broken-off", "broken"),
        ("/broken-chunks", "broken"),
        ("/two-lengths", "broken"),
        ("/bad-length", "broken"),
        ("/no-http", "broken"),
        ("/nothing", "broken"),
        ("/header-flood", "broken"),
        ("/bomb", "too_large"),
        ("/large", "too_large"),
        ("/lies", "too_large"),
        ("/endless", "too_large"),
    ],
)
def test_what_cannot_be_had_has_a_reason(fetcher: Fetcher, tmp_path: Path, path: str, expected: str) -> None:
    assert reason(fetcher, path, tmp_path) == expected


@pytest.mark.parametrize("path", ["/drip", "/header-drip", "/hundreds"])
def test_a_server_that_never_ends_is_left(names: Names, internet: Internet, tmp_path: Path, path: str) -> None:
    fetcher = Fetcher(limits=FetchLimits(seconds=0.5, idle=10), resolve=names, network=internet)
    with pytest.raises(ReadingError, match=r"took longer than 0\.5 s") as caught:
        fetcher.fetch(f"http://example.org{path}", tmp_path)
    assert caught.value.reason == "unreachable"


def test_unpacking_is_part_of_the_time(names: Names, internet: Internet, tmp_path: Path) -> None:
    """Nothing comes out of empty members, so the time has to be looked at while they are read."""
    fetcher = Fetcher(limits=FetchLimits(seconds=0.1), resolve=names, network=internet)
    with pytest.raises(ReadingError, match=r"took longer than 0\.1 s") as caught:
        fetcher.fetch("http://example.org/empty-gzips", tmp_path)
    assert caught.value.reason == "unreachable"


def test_a_server_that_says_nothing_is_left(names: Names, internet: Internet, tmp_path: Path) -> None:
    fetcher = Fetcher(limits=FetchLimits(seconds=300, idle=0.2), resolve=names, network=internet)
    with pytest.raises(ReadingError, match=r"was silent for 0\.2 s"):
        fetcher.fetch("http://example.org/silent", tmp_path)


def test_the_length_that_a_server_names_is_what_counts(fetcher: Fetcher, tmp_path: Path) -> None:
    assert fetcher.fetch("http://example.org/short-length", tmp_path).read_bytes() == b"<p>twice"
    assert fetcher.fetch("http://example.org/chunks", tmp_path).read_bytes() == b"<p>h"


def test_nobody_there(names: Names, tmp_path: Path) -> None:
    assert reason(Fetcher(resolve=names, network=Internet(None)), "/", tmp_path) == "unreachable"


def test_a_name_that_nobody_knows(fetcher: Fetcher, internet: Internet, tmp_path: Path) -> None:
    with pytest.raises(ReadingError, match=r"unknown\.example") as caught:
        fetcher.fetch("http://unknown.example/", tmp_path)
    assert caught.value.reason == "unreachable"
    assert internet.dialled == []


def test_what_is_no_web_address_is_the_users_mistake(fetcher: Fetcher, internet: Internet, tmp_path: Path) -> None:
    with pytest.raises(UserError):
        fetcher.fetch("ftp://example.org/", tmp_path)
    assert internet.dialled == []


def test_gzip_members_may_follow_one_another(fetcher: Fetcher, tmp_path: Path) -> None:
    path = fetcher.fetch("http://example.org/two-gzips", tmp_path)
    assert path.read_text(encoding="utf-8") == "<p>Green"
    assert list(tmp_path.iterdir()) == [path]


def test_the_encoding_of_the_server_reaches_the_reader(fetcher: Fetcher, tmp_path: Path) -> None:
    assert fetcher.fetch("http://example.org/latin", tmp_path).read_text(encoding="utf-8-sig") == "<p>Grün"


@pytest.mark.parametrize("path", ["/a%2F..%2F..%2Fetc%2Fpasswd", "/%00%0a", "/..%5C..%5Cx", "/" + "long" * 100])
def test_no_address_makes_a_file_elsewhere(names: Names, tmp_path: Path, path: str) -> None:
    with serving({path: page(HTML)}) as site:
        found = Fetcher(resolve=names, network=Internet(site)).fetch(f"http://example.org{path}", tmp_path)
    assert list(tmp_path.iterdir()) == [found]
    assert found.read_text() == HTML
