from __future__ import annotations

from pathlib import Path

from tests.readers.read_bytes import documents, reason, texts


def test_cues_of_one_speaker_are_one_paragraph(tmp_path: Path) -> None:
    source = (
        "WEBVTT\n\nNOTE of nobody\n\n1\n00:00:01.000 --> 00:00:04.000\n<v Ada>We begin <b>now</b>.\n\n"
        "00:00:04.500 --> 00:00:06.000 align:start\n<v Ada>With the pump.\n\n"
        "00:00:07.000 --> 00:00:09.000\n<v Bob>Which &amp; one?\n"
    )
    (document,) = documents(tmp_path, "talk.vtt", source)
    assert [block.text for block in document.blocks] == [
        "[00:00:01] Ada: We begin now. With the pump.",
        "[00:00:07] Bob: Which & one?",
    ]
    assert document.metadata == {"format": "vtt", "speakers": ["Ada", "Bob"], "duration": "00:00:09"}


def test_subrip_and_a_speaker_in_the_text(tmp_path: Path) -> None:
    source = (
        "1\r\n00:00:01,000 --> 00:00:04,000\r\nÉMILE: Bonjour,\r\n\r\n"
        "2\r\n00:00:04,100 --> 00:00:06,000\r\nmes amis.\r\n\r\n"
        "3\r\n01:01:04,100 --> 01:01:06,000\r\n<i>Plus tard.</i>\r\n"
    )
    assert texts(tmp_path, "a.srt", source) == ["[00:00:01] ÉMILE: Bonjour, mes amis.", "[01:01:04] Plus tard."]


def test_captions_that_roll_up_say_each_line_once(tmp_path: Path) -> None:
    source = "WEBVTT\n\n00:01.000 --> 00:02.000\none two\n\n00:02.000 --> 00:03.000\none two\nthree four\n"
    assert texts(tmp_path, "a.vtt", source) == ["[00:00:01] one two three four"]


def test_a_file_without_cues_is_broken_or_empty(tmp_path: Path) -> None:
    assert reason(tmp_path, "a.srt", "just prose\n") == "broken"
    assert reason(tmp_path, "a.vtt", "WEBVTT\n\n") == "empty"
