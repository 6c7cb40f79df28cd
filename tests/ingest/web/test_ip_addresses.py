from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.ingest.web.ip_addresses import reach

PUBLIC = [
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
    [(a, "public") for a in PUBLIC] + [(a, "private") for a in PRIVATE] + [(a, "forbidden") for a in FORBIDDEN],
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
