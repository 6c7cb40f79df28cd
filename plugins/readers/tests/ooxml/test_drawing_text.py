from anabranch.readers.inert_xml import parse_xml
from anabranch_readers.ooxml.drawing_text import DrawingText, diagram_text, shape_texts


def body(inner: str) -> object:
    return parse_xml(f"<p:txBody xmlns:p='p' xmlns:a='a' xmlns:mc='mc'>{inner}</p:txBody>".encode())


def test_paragraphs_are_lines_and_bullets_are_items() -> None:
    text = DrawingText().text(
        body(
            "<a:p><a:r><a:t>Plain</a:t></a:r><a:br/><a:r><a:t>broken</a:t></a:r></a:p><a:p/>"
            "<a:p><a:pPr><a:buChar char='•'/></a:pPr><a:r><a:t>one</a:t></a:r></a:p>"
            "<a:p><a:pPr lvl='1'><a:buAutoNum/></a:pPr><a:fld><a:t>two</a:t></a:fld></a:p>"
        )
    )
    assert text == "Plain\nbroken\n- one\n  - two"


def test_a_body_has_bullets_unless_it_says_otherwise() -> None:
    inner = "<a:p><a:pPr><a:buNone/></a:pPr><a:r><a:t>head</a:t></a:r></a:p><a:p><a:r><a:t>item</a:t></a:r></a:p>"
    assert DrawingText().text(body(inner), is_list=True) == "head\n- item"
    assert DrawingText().text(body("<a:p><a:r><a:t>alone</a:t></a:r></a:p>"), is_list=True) == "alone"


def test_tiny_type_is_counted_and_the_fallback_is_not_read_twice() -> None:
    words = DrawingText()
    text = words.text(
        body(
            "<a:p><a:r><a:rPr sz='1800'/><a:t>seen</a:t></a:r><a:r><a:rPr sz='100'/><a:t>unseen</a:t></a:r>"
            "<mc:AlternateContent><mc:Choice><a:r><a:t> once</a:t></a:r></mc:Choice>"
            "<mc:Fallback><a:r><a:t> twice</a:t></a:r></mc:Fallback></mc:AlternateContent></a:p>"
        )
    )
    assert text == "seen once"
    assert words.hidden == 6


def test_boxes_on_a_sheet_and_nodes_of_a_diagram() -> None:
    drawing = "<d xmlns:a='a'><sp><txBody><a:p><a:r><a:t>box</a:t></a:r></a:p></txBody></sp></d>"
    assert list(shape_texts(parse_xml(drawing.encode()))) == ["box"]
    point = "<pt{}><t><a:p><a:r><a:t>{}</a:t></a:r></a:p></t></pt>"
    data = point.format("", "one") + point.format(" type='pres'", "layout") + point.format(" type='node'", "two")
    assert diagram_text(parse_xml(f"<dm xmlns:a='a'><ptLst>{data}</ptLst></dm>".encode())) == "- one\n- two"
