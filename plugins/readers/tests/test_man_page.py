from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.readers.document import Document
from tests.readers.read_bytes import documents, reason


def page(folder: Path, source: str, name: str = "tool.1") -> Document:
    (document,) = documents(folder, name, source)
    return document


def said(document: Document) -> list[tuple[str, str]]:
    return [(" > ".join(block.heading), block.text) for block in document.blocks if not block.is_heading]


MAN = r"""'\" t
.\" A comment
.TH TOOL 1 2024-01-01 "tool 1.0" "User Commands"
.SH NAME
tool \- copies \fIfiles\fP
.SH "EXIT VALUES"
.IP o
\fB23\fP \- Partial transfer
.IP o
\fB24\fP \- Vanished files
.SH OPTIONS
.SS Common
.TP
.BR \-a , " \-\-archive"
Keep all.
.TP
.B \-\-delay \fISECONDS\fP
Wait.
.RS
.PP
It is counted from the start of the transfer and not from the start of the program.
.nf
tool \e
  \-\-delay 5
.fi
.RE
.PP
After the options.
"""


def test_sections_and_options_are_headings_and_short_items_are_lines(tmp_path: Path) -> None:
    document = page(tmp_path, MAN)
    assert (document.title, document.metadata) == ("tool(1)", {"format": "man", "section": "1"})
    assert said(document) == [
        ("NAME", "tool - copies files"),
        ("EXIT VALUES", "- 23 - Partial transfer\n- 24 - Vanished files"),
        ("OPTIONS > Common", "-a, --archive: Keep all."),
        ("OPTIONS > Common > --delay SECONDS", "Wait."),
        (
            "OPTIONS > Common > --delay SECONDS",
            "It is counted from the start of the transfer and not from the start of the program.",
        ),
        ("OPTIONS > Common > --delay SECONDS", "tool \\\n  --delay 5"),
        ("OPTIONS > Common", "After the options."),
    ]
    assert [block.text for block in document.blocks if block.is_heading][2:] == ["OPTIONS", "Common", "--delay SECONDS"]


MDOC = r""".Dd January 1, 2024
.Dt TOOL 8
.Os
.Sh NAME
.Nm tool
.Nd copies files
.Sh SYNOPSIS
.Nm
.Op Fl av
.Op Fl f Ar file Ns = Ns Ar x
.Nm
.Fl Fl version
.Sh DESCRIPTION
See
.Xr rsync 1 ,
or
.Dq the other one .
.Bl -tag -width Ds
.It Fl a
Keep all.
.It Fl v , Fl -verbose
Say more.
.Pp
Said twice, it says still more of what is copied.
.Bl -bullet
.It
one
.El
.El
.Bd -literal
a  b
.Ed
.Bl -enum
.It
first
.It
second
.El
"""


def test_the_macros_of_bsd(tmp_path: Path) -> None:
    document = page(tmp_path, MDOC, "tool.8")
    assert document.title == "tool(8)"
    assert said(document) == [
        ("NAME", "tool - copies files"),
        ("SYNOPSIS", "tool [-av] [-f file=x]\ntool --version"),
        ("DESCRIPTION", "See rsync(1), or “the other one”."),
        ("DESCRIPTION", "-a: Keep all."),
        ("DESCRIPTION > -v, --verbose", "Say more."),
        ("DESCRIPTION > -v, --verbose", "Said twice, it says still more of what is copied."),
        ("DESCRIPTION > -v, --verbose", "- one"),
        ("DESCRIPTION", "a  b"),
        ("DESCRIPTION", "1. first\n2. second"),
    ]


def test_what_programs_write(tmp_path: Path) -> None:
    source = r""".ie \n(.g .ds Aq \(aq
.el       .ds Aq '
.de URL
\fI\\$2\fP <\\$1>
..
.if t \{\
.ft CW
hidden
.\}
.TH "GIT\-ADD" "1"
.SH "OPTIONS"
.PP
\-v, \-\-verbose
.RS 4
Don\*(Aqt be silent\&. See
.URL "https://x.org" "the site" "."
.sp
.ie n \{\
shown
.\}
.el \{\
not shown
.\}
.RE
.sp
.RS 4
.ie n \{\
\h'-04'\(bu\h'+03'\c
.\}
caf\('e \[u2014] \(co \s-1NASA\s0 a\ b
.RE
"""
    assert said(page(tmp_path, source)) == [
        ("OPTIONS > -v, --verbose", "Don't be silent. See the site <https://x.org>."),
        ("OPTIONS > -v, --verbose", "shown"),
        ("OPTIONS", "• café — © NASA a b"),
    ]


def test_a_condition_within_a_branch_does_not_choose_the_other_one(tmp_path: Path) -> None:
    source = r""".TH A 1
.SH NAME
.ie n \{\
.if t on paper
.ie t on paper
.el shown
.\}
.el not shown
"""
    assert said(page(tmp_path, source)) == [("NAME", "shown")]


def test_tables(tmp_path: Path) -> None:
    source = r""".TH A 5
.SH T
.TS
allbox tab(:);
lB lB
l l.
Name:Means
_
\&.c:T{
C source,
.br
old
T}
.T&
l l.
b:2
.TE
"""
    assert said(page(tmp_path, source)) == [("T", "| Name | Means |\n| .c | C source, old |\n| b | 2 |")]


def test_another_name_of_a_page_is_skipped(tmp_path: Path) -> None:
    assert reason(tmp_path, "a.1", ".so man1/b.1\n") == "unsupported"


@pytest.mark.parametrize(
    "text", ["Jan 1 00:00:01 host started\n", "plain words", ".hidden line", b"\x7fELF" + bytes(50)]
)
def test_a_numbered_file_is_no_man_page(tmp_path: Path, text: str | bytes) -> None:
    assert reason(tmp_path, "syslog.1", text) == "unsupported"


def test_a_numbered_file_may_be_mail(tmp_path: Path) -> None:
    mail = "From: ada@example.org\nMessage-ID: <1@example.org>\nSubject: Weir\n\nThe weir {}.\n"
    (document,) = documents(tmp_path, "weir.1", mail.format("leaks"))
    assert (document.title, document.blocks[-1].text) == ("Weir", "The weir leaks.")
    box = "".join(f"From ada Mon Jan  1 10:00:00 2024\n{mail.format(what)}\n" for what in ("leaks", "holds"))
    assert [each.blocks[-1].text for each in documents(tmp_path, "inbox.2", box)] == [
        "The weir leaks.",
        "The weir holds.",
    ]


@pytest.mark.work(20)
@pytest.mark.parametrize(
    "part",
    [
        ".TP\na\n.RS\n",
        ".RE\n",
        ".ie n \\{\n",
        ".de X\n",
        ".ds a \\*a\\*a\n",
        "\\*(",
        ".TS\n",
        "T{\n",
        ".Op Op Op ",
        ".It\n.Bl -tag\n",
    ],
)
def test_a_hostile_page_takes_time_by_its_length(tmp_path: Path, part: str) -> None:
    document = page(tmp_path, f".TH A 1\n.SH NAME\nwords\n{part * 20_000}")
    assert document.blocks[1].text.startswith("words")


@pytest.mark.work(20)
@pytest.mark.parametrize(
    "lines",
    [
        "a" + " " * 200_000 + "b",
        "\\[" * 200_000,
        "\\*[" * 200_000,
        "\\f[" * 200_000,
        ".if n " * 50_000 + "x",
        ".Op " + ". " * 300_000,
        ".TP\na\n" + ".TQ\nbbbb\n" * 200_000,
        ".TS\nl.\n" + "x" * 1_000_000 + "T{\n" + "a\n" * 100_000 + ".TE",
    ],
    ids=["blanks", "characters", "strings", "fonts", "conditions", "punctuation", "tags", "cell"],
)
def test_a_hostile_line_takes_time_by_its_length(tmp_path: Path, lines: str) -> None:
    document = page(tmp_path, f".TH A 1\n.SH NAME\nwords\n.PP\n{lines}\n")
    assert document.blocks[1].text.startswith("words")
