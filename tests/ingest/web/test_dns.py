from __future__ import annotations

from collections.abc import Sequence

import pytest

from anabranch.errors import ReadingError
from anabranch.ingest.web.dns import permitted, system_addresses
from tests.ingest.web.site import PUBLIC

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
        permitted("example.org", lambda _: addresses, private=False)
    assert caught.value.reason == "refused"


def test_public_addresses_come_back_in_order() -> None:
    addresses = ["2606:4700:4700::1111", PUBLIC]
    assert permitted("example.org", lambda _: addresses, private=False) == (addresses, "public")


def test_private_ones_are_permitted_when_asked_for_and_remembered() -> None:
    assert permitted("intranet", lambda _: ["10.0.0.7"], private=True) == (["10.0.0.7"], "private")
    assert permitted("mixed", lambda _: [PUBLIC, "10.0.0.7"], private=True)[1] == "private"


@pytest.mark.parametrize("address", ["169.254.169.254", "0.0.0.0", "fd00:ec2::254", "fe80::1", "224.0.0.1"])
def test_metadata_is_never_permitted(address: str) -> None:
    with pytest.raises(ReadingError) as caught:
        permitted("metadata", lambda _: [address], private=True)
    assert caught.value.reason == "refused"
    assert not caught.value.hint


def test_the_hint_names_the_option_only_where_it_helps() -> None:
    with pytest.raises(ReadingError, match="--allow-private-urls"):
        permitted("intranet", lambda _: ["10.0.0.7"], private=False)


def _unknown(host: str) -> list[str]:
    raise OSError("Name or service not known")


@pytest.mark.parametrize("resolve", [_unknown, lambda _: [], lambda _: ["not an address"]])
def test_a_name_without_an_address_is_unreachable(resolve: object) -> None:
    with pytest.raises(ReadingError) as caught:
        permitted("gone.example", resolve, private=False)  # type: ignore[arg-type]
    assert caught.value.reason == "unreachable"


@pytest.mark.loopback
def test_the_system_knows_this_machine() -> None:
    assert system_addresses("127.0.0.1") == ["127.0.0.1"]
    assert {"127.0.0.1"} <= set(system_addresses("localhost"))
