"""Read Parquet tables, a batch of rows at a time, by pyarrow (the extra `parquet`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anabranch.errors import MissingExtraError, ReadingError
from anabranch.readers.document import PLAIN, Block, Document, ReadOptions
from anabranch.readers.document_parts import in_parts
from anabranch.readers.heartbeat import beat
from anabranch.readers.size_limit import limited
from anabranch.readers.table_blocks import table_texts
from anabranch.text.normalization import clean, squeeze

_ROWS = 1000  # in memory at a time


@limited(most_bytes=None)
def read_parquet(path: Path, source: str, _: ReadOptions = PLAIN) -> Iterator[Document]:
    """Yield the document of a table, or its parts where it is long.

    Raises:
        ReadingError: `broken`, `empty`.
        MissingExtraError: pyarrow is not installed.
    """
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtraError("Reading Parquet", "parquet") from error
    try:
        with ParquetFile(path) as table:
            metadata = {"format": "parquet", "columns": list(table.schema_arrow.names)}
            whole = Document(source, path.stem, (), metadata, key=source)
            yield from in_parts(map(Block, table_texts(_rows(table))), whole, tuple)
    except ArrowException as error:
        msg = f"{source!r} is damaged or is no Parquet file: {squeeze(str(error))[:200]}"
        raise ReadingError(msg, reason="broken", hint="Check the file's extension, or write it again.") from error


def _rows(table: Any) -> Iterator[list[str]]:  # noqa: ANN401  # pyarrow has no types
    yield [clean(name) for name in table.schema_arrow.names]
    # In one thread: there are as many reading processes as cores.
    for batch in table.iter_batches(batch_size=_ROWS, use_threads=False):
        columns = [column.to_pylist() for column in batch.columns]
        for row in zip(*columns, strict=True):
            yield ["" if value is None else squeeze(clean(str(value))) for value in row]
        beat()
