"""Tests that every store has to pass, whoever wrote it; they need pytest and pytest-asyncio.

A store `mine:` runs them from a test file of its own package. A class for each optional protocol that it implements::

    from anabranch_conformance import FullScoresTests, ReaderTests, WriterTests

    class Address:
        @pytest.fixture(scope="class")
        @classmethod
        def address(cls, tmp_path_factory):
            return f"mine:{tmp_path_factory.mktemp('corpus')}"   # where no corpus is yet

    class TestReader(Address, ReaderTests): ...
    class TestFullScores(Address, FullScoresTests): ...
    class TestWriter(Address, WriterTests): ...
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    *(f"{__name__}.{each}_tests" for each in ("optional_protocol", "reader", "summary", "writer"))
)

from anabranch_conformance.optional_protocol_tests import (  # noqa: E402  # once asserts are rewritten
    FullScoresTests,
    MetadataSampleTests,
    OriginalsTests,
    OutlinesTests,
    TermStatisticsTests,
)
from anabranch_conformance.reader_tests import ReaderTests  # noqa: E402
from anabranch_conformance.summary_tests import SummaryTests  # noqa: E402
from anabranch_conformance.writer_tests import WriterTests  # noqa: E402

__all__ = [
    "FullScoresTests",
    "MetadataSampleTests",
    "OriginalsTests",
    "OutlinesTests",
    "ReaderTests",
    "SummaryTests",
    "TermStatisticsTests",
    "WriterTests",
]
