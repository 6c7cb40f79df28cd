"""Which addresses may be asked, and which never."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import ReadingError, UserError
from anabranch_sources.web.ssrf_guard import parse_address, permitted_addresses, reach, system_addresses
from plugins.sources.tests.web.site import PUBLIC

GOOD = {
    "http://example.org": "http://example.org",
    "HTTP://EXAMPLE.ORG/Path?Q=1#part": "http://example.org/Path?Q=1",
    "https://example.org:8443/a b": None,
    "https://example.org:443/": "https://example.org/",
    "https://example.org./x": "https://example.org/x",
    "https://bücher.example/käse?ö=ü": "https://xn--bcher-kva.example/k%C3%A4se?%C3%B6=%C3%BC",
    "https://xn--bcher-kva.example/": "https://xn--bcher-kva.example/",
    "http://127.0.0.1:8000/": "http://127.0.0.1:8000/",
    "http://[2606:4700:4700::1111]/": "http://[2606:4700:4700::1111]/",
    "http://1password.example/": "http://1password.example/",
    "http://under_score.example/": "http://under_score.example/",
    "http://intranet/": "http://intranet/",
}
BAD = [
    "",
    "example.org",
    "//example.org/",
    "ftp://example.org/",
    "file:///etc/passwd",
    "gopher://example.org/",
    "javascript://example.org/%0aalert(1)",
    "data:text/html,hello",
    "http:example.org",
    "http:/example.org",
    "http://",
    "http:///etc/passwd",
    "http://?x",
    "http://user@example.org/",
    "http://user:secret@example.org/",
    "http://@example.org/",
    "http://example.org@127.0.0.1/",
    "http://example.org\\@127.0.0.1/",
    "http://127.0.0.1\\.example.org/",
    "http://example.org:0/",
    "http://example.org:99999/",
    "http://example.org:80x/",
    "http://example.org /",
    " http://example.org/",
    "http://exam\tple.org/",
    "http://example.org/\r\nHost: 127.0.0.1",
    "http://example.org/\x00",
    "http://exam\u200bple.org/",
    "http://example.org/\u202egnp.exe",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.0.0.0x1/",
    "http://1.2.3.4.5/",
    "http://999.1.1.1/",
    "http://example.0x1/",
    "http://①②⑦.⓪.⓪.①/",
    "http://１２７.0.0.1/",
    "http://%31%32%37.0.0.1/",
    "http://127.0.0.1%00.example.org/",
    "http://127.0.0.1%2f.example.org/",
    "http://[::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[v1.x]/",
    "http://[::1/",
    "http://[127.0.0.1]/",
    "http://example..org/",
    "http://example.org../",
    "http://.example.org/",
    "http://-example.org/",
    "http://exa$mple.org/",
    "http://exa*mple.org/",
    "http://xn--a/" + "a" * 4000,
    "http://" + "a" * 64 + ".example/",
    "http://" + "a." * 140 + "example/",
    "http://ﬀ.example/",
    "http://a‥b.example/",
]


@pytest.mark.parametrize(("text", "expected"), GOOD.items())
def test_an_address_has_one_normal_form(text: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(UserError):
            parse_address(text)
    else:
        assert str(parse_address(text)) == expected
        assert parse_address(str(parse_address(text))) == parse_address(text)


@pytest.mark.parametrize("text", BAD)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_address(text)
    assert caught.value.hint


def test_a_password_is_not_repeated() -> None:
    with pytest.raises(UserError) as caught:
        parse_address("https://ann:hunter2@example.org/")
    assert "hunter2" not in str(caught.value)
    assert "ann" not in str(caught.value)


@pytest.mark.parametrize("text", ["http://127。0。0。1/", "http://127.0.0.1./"])
def test_look_alikes_of_an_address_are_that_address_or_refused(text: str) -> None:
    assert parse_address(text).host == "127.0.0.1"


@given(st.text(max_size=60).map(lambda text: f"http://{text}"))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        url = parse_address(text)
    except UserError:
        return
    host = url.raw_host.decode("ascii")
    assert host == host.lower()
    assert not url.userinfo
    assert not set(host) & set("%@/\\?# \t\r\n")
    assert not url.raw_path or b"\n" not in url.raw_path


BAD_ANSWERS: list[list[str]] = [
    ["127.0.0.1"],
    ["10.0.0.7"],
    ["192.168.0.1"],
    ["169.254.169.254"],
    ["::1"],
    ["::ffff:127.0.0.1"],
    ["0.0.0.0"],
    [PUBLIC, "127.0.0.1"],
    [PUBLIC, "2606:4700:4700::1111", "fd00::1"],
    ["fe80::1%eth0"],
]


@pytest.mark.parametrize("addresses", BAD_ANSWERS, ids=lambda addresses: " ".join(addresses))
def test_every_address_of_a_name_has_to_be_public(addresses: Sequence[str]) -> None:
    with pytest.raises(ReadingError) as caught:
        permitted_addresses("example.org", lambda _: addresses, private=False)
    assert caught.value.reason == "refused"


def test_public_addresses_come_back_in_order() -> None:
    addresses = ["2606:4700:4700::1111", PUBLIC]
    assert permitted_addresses("example.org", lambda _: addresses, private=False) == (addresses, "public")


def test_private_ones_are_permitted_when_asked_for_and_remembered() -> None:
    assert permitted_addresses("intranet", lambda _: ["10.0.0.7"], private=True) == (["10.0.0.7"], "private")
    assert permitted_addresses("mixed", lambda _: [PUBLIC, "10.0.0.7"], private=True)[1] == "private"


@pytest.mark.parametrize("address", ["169.254.169.254", "0.0.0.0", "fd00:ec2::254", "fe80::1", "224.0.0.1"])
def test_metadata_is_never_permitted(address: str) -> None:
    with pytest.raises(ReadingError) as caught:
        permitted_addresses("metadata", lambda _: [address], private=True)
    assert caught.value.reason == "refused"
    assert not caught.value.hint


def test_the_hint_names_the_option_only_where_it_helps() -> None:
    with pytest.raises(ReadingError, match="--allow-private-urls"):
        permitted_addresses("intranet", lambda _: ["10.0.0.7"], private=False)


def _unknown(host: str) -> list[str]:
    raise OSError("Name or service not known")


@pytest.mark.parametrize("resolve", [_unknown, lambda _: [], lambda _: ["not an address"]])
def test_a_name_without_an_address_is_unreachable(resolve: object) -> None:
    with pytest.raises(ReadingError) as caught:
        permitted_addresses("gone.example", resolve, private=False)  # type: ignore[arg-type]
    assert caught.value.reason == "unreachable"


@pytest.mark.loopback
def test_the_system_knows_this_machine() -> None:
    assert system_addresses("127.0.0.1") == ["127.0.0.1"]
    assert {"127.0.0.1"} <= set(system_addresses("localhost"))


PUBLIC_ADDRESSES = [
    "8.8.8.8",
    "93.184.216.34",
    "1.1.1.1",
    "172.15.255.255",
    "172.32.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "223.255.255.255",
    "192.0.1.1",
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e",
    "2001:4860:4860::8888",
    "64:ff9b::808:808",
]
PRIVATE = [
    "10.0.0.1",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "::1",
    "fc00::1",
    "fd12:3456:789a::1",
]
FORBIDDEN = [
    "0.0.0.0",
    "0.1.2.3",
    "100.100.100.200",
    "168.63.129.16",
    "169.254.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::2",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b::a00:1",
    "64:ff9b:1::808:808",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700:4700::1111%eth0",
    "fec0::1",
    "ff02::1",
]


@pytest.mark.parametrize(
    ("address", "expected"),
    [(a, "public") for a in PUBLIC_ADDRESSES]
    + [(a, "private") for a in PRIVATE]
    + [(a, "forbidden") for a in FORBIDDEN],
)
def test_every_kind_of_address_is_known(address: str, expected: str) -> None:
    assert reach(address) == expected


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_what_is_public_here_is_global_by_python_too(address: IPv4Address) -> None:
    if reach(str(address)) == "public":
        assert address.is_global
        assert not address.is_multicast


@given(st.integers(0, 2**128 - 1).map(IPv6Address) | st.integers(2**125, 2**126 - 1).map(IPv6Address))
def test_so_it_is_with_six(address: IPv6Address) -> None:
    if reach(str(address)) == "public":
        assert address.is_global
        assert address.ipv4_mapped is None
        assert address.sixtofour is None
        assert address.teredo is None


@given(st.sampled_from(PRIVATE + FORBIDDEN).map(ip_address).filter(lambda a: isinstance(a, IPv4Address)))
def test_no_wrapping_makes_an_address_public(address: IPv4Address) -> None:
    number = int(address)
    wrapped = [
        IPv6Address(number),
        IPv6Address((0xFFFF << 32) | number),
        IPv6Address((0x64FF9B << 96) | number),
        IPv6Address((0x2002 << 112) | (number << 80)),
        IPv6Address((0x20010000 << 96) | (number ^ 0xFFFFFFFF)),
    ]
    assert {reach(str(found)) for found in wrapped} <= {"forbidden", "private"}


def test_a_name_is_no_address() -> None:
    with pytest.raises(ValueError, match="example"):
        reach("example.org")
