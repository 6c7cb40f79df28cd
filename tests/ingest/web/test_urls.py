import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import UserError
from anabranch.ingest.web.urls import parsed

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
            parsed(text)
    else:
        assert str(parsed(text)) == expected
        assert parsed(str(parsed(text))) == parsed(text)


@pytest.mark.parametrize("text", BAD)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(UserError) as caught:
        parsed(text)
    assert caught.value.hint


def test_a_password_is_not_repeated() -> None:
    with pytest.raises(UserError) as caught:
        parsed("https://ann:hunter2@example.org/")
    assert "hunter2" not in str(caught.value)
    assert "ann" not in str(caught.value)


@pytest.mark.parametrize("text", ["http://127。0。0。1/", "http://127.0.0.1./"])
def test_look_alikes_of_an_address_are_that_address_or_refused(text: str) -> None:
    assert parsed(text).host == "127.0.0.1"


@given(st.text(max_size=60).map(lambda text: f"http://{text}"))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        url = parsed(text)
    except UserError:
        return
    host = url.raw_host.decode("ascii")
    assert host == host.lower()
    assert not url.userinfo
    assert not set(host) & set("%@/\\?# \t\r\n")
    assert not url.raw_path or b"\n" not in url.raw_path
