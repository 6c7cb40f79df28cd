from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch.errors import ReadingError
from anabranch.readers.document import Document
from anabranch_readers.eml import read_eml
from tests.readers.read_bytes import documents, reason


def message(**headers: str) -> EmailMessage:
    made = EmailMessage()
    given_headers = {"From": "Ada <ada@x.org>", "To": "bob@y.org, Eve <eve@y.org>", "Subject": "The pump"} | headers
    for name, value in given_headers.items():
        made[name] = value
    return made


def read(tmp_path: Path, data: bytes | EmailMessage) -> Document:
    path = tmp_path / "mail.eml"
    path.write_bytes(data if isinstance(data, bytes) else bytes(data))
    (document,) = read_eml(path, "mail.eml")
    return document


def texts(document: Document) -> list[str]:
    return [block.text for block in document.blocks]


def test_headers_come_first_and_are_metadata(tmp_path: Path) -> None:
    mail = message(Date="Wed, 16 Jul 2008 09:24:06 +0300", Cc="carl@z.org")
    mail.set_content("Dear Bob,\n\nit works.\n")
    document = read(tmp_path, mail)
    assert texts(document) == [
        "From: Ada <ada@x.org>\nTo: bob@y.org, Eve <eve@y.org>\nCc: carl@z.org\n"
        "Date: Wed, 16 Jul 2008 09:24:06 +0300\nSubject: The pump",
        "Dear Bob,",
        "it works.",
    ]
    assert document.title == "The pump"
    assert document.metadata == {
        "format": "eml",
        "from": ["ada@x.org"],
        "to": ["bob@y.org", "eve@y.org"],
        "cc": ["carl@z.org"],
        "date": "2008-07-16T06:24:06+00:00",
    }


def test_of_two_forms_the_plain_one_is_read(tmp_path: Path) -> None:
    mail = message()
    mail.set_content("plain words")
    mail.add_alternative("<p>plain <b>words</b></p>", subtype="html")
    assert texts(read(tmp_path, mail))[1:] == ["plain words"]


def test_a_plain_form_that_only_stands_in_gives_way(tmp_path: Path) -> None:
    mail = message()
    mail.set_content("Use another program.")
    mail.add_alternative(f"<h1>News</h1><p>{'Many words. ' * 30}</p><p hidden>unseen</p>", subtype="html")
    document = read(tmp_path, mail)
    assert document.blocks[1].text == "News"
    assert document.blocks[2].heading == ("News",)
    assert document.notes == ("hidden text was left out (6 characters)",)


def test_every_part_of_a_body_is_read_and_attached_files_are_named(tmp_path: Path) -> None:
    mail = message()
    mail.set_content("before")
    mail.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="Zürich report.pdf")
    mail.add_attachment("after", disposition="inline")
    mail.add_attachment("notes", filename="notes.txt")
    document = read(tmp_path, mail)
    assert texts(document)[1:] == ["before", "after"]
    assert document.notes == ("attached files were not read (2: Zürich report.pdf, notes.txt)",)
    assert document.metadata["attachments"] == ["Zürich report.pdf", "notes.txt"]


def test_attached_messages_are_read_under_their_subject(tmp_path: Path) -> None:
    inner = message(Subject="Earlier", From="carl@z.org")
    inner.set_content("the first words")
    mail = message()
    mail.set_content("see below")
    mail.add_attachment(inner)
    document = read(tmp_path, mail)
    assert [(block.text.split("\n")[0], block.heading) for block in document.blocks[1:]] == [
        ("see below", ()),
        ("Attached message: Earlier", ("Attached message: Earlier",)),
        ("From: carl@z.org", ("Attached message: Earlier",)),
        ("the first words", ("Attached message: Earlier",)),
    ]


@pytest.mark.parametrize("charset", ["iso-8859-1", "unknown-8bit", "x-nonsense", "us-ascii"])
def test_bodies_survive_their_charset(tmp_path: Path, charset: str) -> None:
    body = "Grüße aus München, schöne Straßen und Häuser überall.".encode("latin-1")
    head = f"From: a@b.c\nSubject: x\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n"
    assert texts(read(tmp_path, head.encode() + body))[1] == body.decode("latin-1")


@pytest.mark.parametrize(
    ("subject", "title"),
    [
        (b"=?utf-8?q?Gr=C3=BC=C3=9Fe?= an =?windows-1255?B?+ezl7Q==?=", "Grüße an שלום"),
        ("Grüße".encode(), "Grüße"),
        ("Grüße".encode("latin-1"), "Grüße"),
        (b"=?nonsense?q?abc?=", "=?nonsense?q?abc?="),
        (b"=?utf-8?b?A?=", "=?utf-8?b?A?="),
        (b"folded\n over lines", "folded over lines"),
        (b"", "mail"),
    ],
)
def test_subjects(tmp_path: Path, subject: bytes, title: str) -> None:
    assert read(tmp_path, b"From: a@b.c\nSubject: " + subject + b"\n\nbody").title == title


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-8-sig"])
def test_a_message_saved_in_another_encoding(tmp_path: Path, codec: str) -> None:
    document = read(tmp_path, "From: a@b.c\nSubject: Grüße\n\nschöne Häuser überall\n".encode(codec))
    assert document.title == "Grüße"
    assert texts(document)[1] == "schöne Häuser überall"


def test_the_first_line_of_a_mailbox_is_no_header(tmp_path: Path) -> None:
    document = read(tmp_path, b"From 12@x Wed Jul 16 06:24:10 2008\nFrom: a@b.c\nSubject: s\n\nbody")
    assert texts(document) == ["From: a@b.c\nSubject: s", "body"]


def test_encrypted_mail(tmp_path: Path) -> None:
    mail = message()
    mail.set_content(b"\x30\x80", maintype="application", subtype="pkcs7-mime", filename="smime.p7m")
    with pytest.raises(ReadingError) as caught:
        read(tmp_path, mail)
    assert caught.value.reason == "encrypted"


@pytest.mark.parametrize("name", ["1258471718.M5P7.host.example.pl:2,RS", "1258471718.M5P7.host", "42", "mail!2,"])
def test_a_message_as_a_mail_program_stores_it(tmp_path: Path, name: str) -> None:
    mail = message(Date="Wed, 16 Jul 2008 09:24:06 +0300")
    mail.set_content("it works.")
    (document,) = documents(tmp_path, name, bytes(mail))
    assert (document.title, document.metadata["format"]) == ("The pump", "eml")
    assert texts(document)[1:] == ["it works."]


def test_the_name_of_a_maildir_does_not_make_a_message(tmp_path: Path) -> None:
    assert documents(tmp_path, "1258471718.M5P7.host", "From: the sea\n\nTo the land.")[0].metadata == {
        "format": "text"
    }
    assert documents(tmp_path, "2024-03-01.notes.txt", "Plain words.")[0].title == "2024-03-01.notes"
    assert reason(tmp_path, "1258471718.V2.tar", b"\0" * 512) == "unsupported"


def test_signatures_are_left_out_and_long_quotations_come_last(tmp_path: Path) -> None:
    mail = message()
    quoted = "> one\n>> two\n> three\n> four\n"
    mail.set_content(f"Before.\n> short\nAfter it.\n{quoted}> -- \n> Bob\nThe end.\n-- \nAda\nHalden\n{quoted}")
    document = read(tmp_path, mail)
    assert [(block.text, block.heading) for block in document.blocks[1:]] == [
        ("Before.\n> short\nAfter it.", ()),
        ("The end.", ()),
        ("Quoted text", ("Quoted text",)),
        (quoted.strip(), ("Quoted text",)),
        (quoted.strip(), ("Quoted text",)),
    ]
    assert document.notes == ("signatures were left out (5 lines)",)


def test_a_message_below_a_signature_is_read(tmp_path: Path) -> None:
    mail = message()
    below = "\n".join(f"Line {number}." for number in range(30))
    mail.set_content(f"Before.\n-- \nAda\n\n-----Original Message-----\n{below}\n-- \nBob\n")
    document = read(tmp_path, mail)
    assert "Line 0." in texts(document)[-1]
    assert document.notes == ("signatures were left out (3 lines)",)


def test_what_pgp_has_made_is_left_out(tmp_path: Path) -> None:
    armor = "-----BEGIN PGP SIGNATURE-----\n\niQEzBAEB\n=abcd\n-----END PGP SIGNATURE-----\n"
    mail = message()
    mail.set_content(f"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nThe words.\n\n- -- \nAda\n{armor}")
    assert texts(read(tmp_path, mail))[1:] == ["The words."]
    mail = message()
    long = armor.replace("iQEzBAEB", "iQEzBAEB\n" * 30)
    mail.set_content(f"The words.\n-- \nAda\n{long}")
    assert texts(read(tmp_path, mail))[1:] == ["The words."]
    mail = message()
    mail.set_content("The words.")
    mail.add_attachment(b"iQEz", maintype="application", subtype="pgp-signature", filename="signature.asc")
    document = read(tmp_path, mail)
    assert (texts(document)[1:], document.notes, "attachments" in document.metadata) == (["The words."], (), False)
    mail = message()
    mail.set_content("-----BEGIN PGP MESSAGE-----\n\nhQEM\n-----END PGP MESSAGE-----\n")
    with pytest.raises(ReadingError) as caught:
        read(tmp_path, mail)
    assert caught.value.reason == "encrypted"


def test_a_text_about_pgp_stays_whole(tmp_path: Path) -> None:
    mail = message()
    mail.set_content("-----BEGIN PGP SIGNATURE----- is the first line,\nand more follows.")
    assert texts(read(tmp_path, mail))[1:] == ["-----BEGIN PGP SIGNATURE----- is the first line,\nand more follows."]


@pytest.mark.parametrize(
    ("headers", "thread"),
    [
        ({"References": "<yes> <a@x> <b@x>", "In-Reply-To": "<b@x>", "Message-ID": "<c@x>"}, "a@x"),
        ({"In-Reply-To": "Your mail of <b@x>", "Message-ID": "<c@x>"}, "b@x"),
        ({"Message-ID": "<c@x>"}, "c@x"),
    ],
)
def test_mails_of_a_conversation_name_its_first(tmp_path: Path, headers: dict[str, str], thread: str) -> None:
    head = "".join(f"{name}: {value}\n" for name, value in headers.items())
    assert read(tmp_path, f"From: a@b.c\n{head}\nbody".encode()).metadata["thread"] == thread


@pytest.mark.parametrize("date", ["nonsense", "Mon, 99 Foo 2008", "Fri, 31 Dec 9999 23:59:59 -2300", ""])
def test_damaged_dates_are_no_metadata(tmp_path: Path, date: str) -> None:
    assert "date" not in read(tmp_path, f"From: a@b.c\nDate: {date}\n\nbody".encode()).metadata


def test_what_is_no_message_says_why(tmp_path: Path) -> None:
    with pytest.raises(ReadingError) as caught:
        read(tmp_path, b"Only some text.\n\nAnd more: of it.")
    assert caught.value.reason == "broken"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_below_the_headers_are_an_error(tmp_path: Path, data: bytes) -> None:
    head = b"From: a@b.c\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\n"
    assert texts(read(tmp_path, head + data + b"\n--x--"))[0] == "From: a@b.c"


def test_a_real_message_in_an_old_encoding(shared: Path) -> None:
    (document,) = read_eml(shared / "data/awkward/eml-non-utf8__email-no-utf8-2008-07-16.062410.eml", "mail.eml")
    assert document.title == "RE: שלום"
    assert "אם אוכל לעזור לך בשאלות מקצועיות גרידא, אשמח לסייע." in texts(document)
    assert document.notes == ()
