"""TLS as it is: the socket goes to an address, the certificate has to be that of the name."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from anabranch.errors import ReadingError
from anabranch_sources.web import Fetcher
from anabranch_sources.web import transport as connecting
from plugins.sources.tests.web.site import PUBLIC, Internet, Site, page, serving

pytest.importorskip("cryptography")
pytestmark = pytest.mark.loopback


def certificate(path: Path, name: str) -> Path:
    """Write a certificate of a name, signed by itself, and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(who, who, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.Encoding.PEM
    secret = key.private_bytes(form, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(secret + signed.public_bytes(form))
    return path


@pytest.fixture
def pem(tmp_path: Path) -> Path:
    return certificate(tmp_path / "example.pem", "example.org")


@pytest.fixture
def internet(pem: Path) -> Iterator[Internet]:
    with serving({"/": page("<p>Herons wait.")}) as site:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        site.server.socket = context.wrap_socket(site.server.socket, server_side=True, do_handshake_on_connect=False)
        yield Internet(site)


@pytest.fixture
def trusted(pem: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine trusts that certificate, as it would that of a company."""
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    connecting._tls_context.cache_clear()
    yield
    connecting._tls_context.cache_clear()


@pytest.mark.usefixtures("trusted")
def test_a_trusted_certificate_of_the_name_will_do(internet: Internet, tmp_path: Path) -> None:
    path = Fetcher(resolve=lambda _: [PUBLIC], network=internet).fetch("https://example.org/", tmp_path)
    assert path.read_text() == "<p>Herons wait."
    assert internet.dialled == [(PUBLIC, 443)]
    assert isinstance(internet.site, Site)
    assert internet.site.header("host") == "example.org"


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("url", ["https://other.example/", f"https://{PUBLIC}/"])
def test_that_of_another_name_will_not(internet: Internet, tmp_path: Path, url: str) -> None:
    with pytest.raises(ReadingError, match="CERTIFICATE_VERIFY_FAILED"):
        Fetcher(resolve=lambda _: [PUBLIC], network=internet).fetch(url, tmp_path)
    assert isinstance(internet.site, Site)
    assert "".join(internet.site.requests) == ""


def test_one_that_nobody_vouches_for_will_not(internet: Internet, tmp_path: Path) -> None:
    with pytest.raises(ReadingError, match="CERTIFICATE_VERIFY_FAILED") as caught:
        Fetcher(resolve=lambda _: [PUBLIC], network=internet).fetch("https://example.org/", tmp_path)
    assert caught.value.reason == "unreachable"
