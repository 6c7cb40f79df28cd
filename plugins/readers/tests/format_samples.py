"""A small file of each of the rarer formats, with the words "some words" in it."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable

import pyarrow
import pymupdf
import xlwt
from pyarrow import parquet

from plugins.readers.tests.compound_file import outlook, word_97
from plugins.readers.tests.scanned import picture


def workbook() -> bytes:
    book = xlwt.Workbook()
    sheet = book.add_sheet("Prices")
    for at, row in enumerate([("Item", "Price"), ("some words", 12.5), ("pipe", 3)]):
        for column, value in enumerate(row):
            sheet.write(at, column, value)
    hidden = book.add_sheet("Draft")
    hidden.write(0, 0, "unseen")
    hidden.visibility = 1
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def columns() -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table({"name": ["some words", "b"], "price": [1.5, None]}), buffer)
    return buffer.getvalue()


def xps(text: str = "some words") -> bytes:
    """Return a document as the standard has it (ECMA-388), with one line on one page."""
    spec = "http://schemas.microsoft.com/xps/2005/06"
    types = {
        "fdseq": "application/vnd.ms-package.xps-fixeddocumentsequence+xml",
        "fdoc": "application/vnd.ms-package.xps-fixeddocument+xml",
        "fpage": "application/vnd.ms-package.xps-fixedpage+xml",
        "ttf": "application/vnd.ms-opentype",
        "rels": "application/vnd.openxmlformats-package.relationships+xml",
    }
    listed = "".join(f'<Default Extension="{name}" ContentType="{kind}"/>' for name, kind in types.items())
    packages = "http://schemas.openxmlformats.org/package/2006"
    relation = f'<Relationship Id="R1" Type="{spec}/fixedrepresentation" Target="/s.fdseq"/>'
    glyphs = f'FontUri="/f.ttf" FontRenderingEmSize="16" OriginX="50" OriginY="100" UnicodeString="{text}"'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", f'<Types xmlns="{packages}/content-types">{listed}</Types>')
        file.writestr("_rels/.rels", f'<Relationships xmlns="{packages}/relationships">{relation}</Relationships>')
        sequence = (
            f'<FixedDocumentSequence xmlns="{spec}"><DocumentReference Source="/d.fdoc"/></FixedDocumentSequence>'
        )
        file.writestr("s.fdseq", sequence)
        file.writestr("d.fdoc", f'<FixedDocument xmlns="{spec}"><PageContent Source="/1.fpage"/></FixedDocument>')
        page = f'<Glyphs Fill="#ff000000" {glyphs}/>'
        file.writestr("1.fpage", f'<FixedPage xmlns="{spec}" Width="600" Height="800">{page}</FixedPage>')
        file.writestr("f.ttf", pymupdf.Font("helv").buffer)
    return buffer.getvalue()


MHTML = (
    b"From: <Saved by Blink>\r\nSnapshot-Content-Location: https://x.org/a\r\nMIME-Version: 1.0\r\n"
    b'Content-Type: multipart/related; boundary="b"\r\n\r\n--b\r\nContent-Type: text/html\r\n'
    b"Content-Transfer-Encoding: quoted-printable\r\n\r\n<title>The page</title><p>some words: Gr=C3=BC=C3=9Fe</p>\r\n"
    b"--b\r\nContent-Type: image/png\r\n\r\nxx\r\n--b--\r\n"
)
EVENT = (
    b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1@x\r\nDTSTART:20240301T100000Z\r\n"
    b"SUMMARY:some words\r\nLOCATION:Room 1\\, Halden\r\nORGANIZER;CN=Ada:mailto:ada@x.org\r\n"
    b"ATTENDEE:mailto:eve@y.org\r\nDESCRIPTION:We talk\\nof it.\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
BOOK = (
    '<?xml version="1.0"?><FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><description><title-info>'
    "<author><first-name>Ada</first-name><last-name>L</last-name></author><book-title>The Book</book-title>"
    "</title-info></description><body><section><title><p>One</p></title><p>some <emphasis>words</emphasis></p>"
    "<poem><stanza><v>a</v><v>b</v></stanza></poem></section></body><binary id='c'>AAAA</binary></FictionBook>"
)
FEED = (
    '<rss version="2.0"><channel><title>News</title><item><title>One &amp; two</title><link>https://x.org/1</link>'
    "<guid>g1</guid><pubDate>Wed, 16 Jul 2008 09:24:06 +0300</pubDate>"
    "<description>&lt;p&gt;some &lt;b&gt;words&lt;/b&gt;&lt;/p&gt;</description></item></channel></rss>"
)
MAILBOX = (
    b"From a@x Thu Jan  1 00:00:00 2024\n"
    b"From: Ada <a@x.org>\nMessage-ID: <1@x>\nSubject: One\n\nsome words\n>From it\n\n"
)
# By extension; each makes the bytes of a file.
FORMATS: dict[str, Callable[[], bytes]] = {
    "": lambda: b"some words\n",
    ".rst": lambda: b"Title\n=====\n\nsome words\n",
    ".org": lambda: b"* Title\nsome words\n",
    ".adoc": lambda: b"= Title\n\nsome words\n",
    ".tex": lambda: b"\\section{Title}\nsome words % not these\n",
    ".vtt": lambda: b"WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n<v Ada>some words\n",
    ".fb2": lambda: BOOK.encode(),
    ".rtf": lambda: rb"{\rtf1\ansi\ansicpg1252 some words\par}",
    ".ics": lambda: EVENT,
    ".mhtml": lambda: MHTML,
    ".mbox": lambda: MAILBOX,
    ".msg": lambda: outlook("Subject", "some words", "Ada"),
    ".xls": workbook,
    ".doc": lambda: word_97("some words\nanother paragraph of some length"),
    ".xps": xps,
    ".png": picture,
    ".parquet": columns,
    ".json": lambda: b'[{"name": "some words", "price": 1.5}]',
    ".xml": FEED.encode,
    ".1": lambda: b".TH A 1\n.SH NAME\nsome words\n",
    ".gz": lambda: gzip.compress(b"some words\n"),
}
