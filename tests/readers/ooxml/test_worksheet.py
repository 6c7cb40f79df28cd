from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.readers.ooxml import worksheet as layout
from anabranch.readers.ooxml.worksheet import _around_rows
from anabranch.readers.zip_container import parsed


@pytest.mark.parametrize("prefix", ["", "x:"])
@given(rows=st.integers(0, 60), chunk=st.integers(1, 400))
def test_the_rows_are_cut_out_whatever_the_chunks(prefix: str, rows: int, chunk: int) -> None:
    name = "xmlns:x" if prefix else "xmlns"
    row = f"<{prefix}row><{prefix}c><{prefix}v>1</{prefix}v></{prefix}c></{prefix}row>"
    before, after = f"<{prefix}cols/>", f"<{prefix}mergeCells/>"
    data = f"{row * rows}</{prefix}sheetData>" if rows else ""
    sheet = f"<{prefix}sheet {name}='u'>{before}<{prefix}sheetData{'' if rows else '/'}>{data}{after}</{prefix}sheet>"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "_CHUNK", chunk)
        patch.setattr(layout, "_LONGEST_TAG", 64)
        found = _around_rows(BytesIO(sheet.encode()))
    assert [child.tag for child in parsed(found)] == ["{u}cols", "{u}sheetData", "{u}mergeCells"]
    assert b"row" not in found
