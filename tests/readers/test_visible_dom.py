from bs4 import BeautifulSoup

from anabranch.readers.visible_dom import Visible


def soup(html: str) -> BeautifulSoup:
    return BeautifulSoup(html, "lxml")


def test_events_come_in_order_and_balance() -> None:
    seen = [
        item if isinstance(item, str) else f"{kind} {item.name}"
        for kind, item in Visible().events(soup("<p>a<b>c</b>"))
    ]
    assert seen == [
        "open html",
        "open body",
        "open p",
        "a",
        "open b",
        "c",
        "close b",
        "close p",
        "close body",
        "close html",
    ]


def test_a_tag_taken_whole_is_not_entered() -> None:
    visible = Visible()
    events = visible.events(soup("<p>a<i>b</i></p>c"), whole=lambda tag: tag.name == "p")
    assert [item for _, item in events if isinstance(item, str)] == ["c"]


def test_what_is_hidden_is_counted_and_scripts_are_not() -> None:
    visible = Visible()
    page = soup(
        "<p hidden>one</p><p style='color:red; DISPLAY : none'>two</p><p aria-hidden=true>six</p>"
        "<p style='font-size:0px'>ten</p><p style='opacity: 0.0'>now</p><p style='visibility:hidden'>and</p>"
        "<script>no</script><!-- no --><p style='font-size:0.9em; opacity:0.5'>shown</p>"
    )
    assert visible.text(page) == "shown"
    assert visible.hidden == 18


def test_text_puts_space_between_blocks_and_none_inside_words() -> None:
    assert Visible().text(soup("<div>a<p>b</p><b>c</b>d<br>e</div>")) == "a b cd e"


def test_a_page_may_nest_deeper_than_the_stack() -> None:
    page = BeautifulSoup("", "lxml")
    tag = page
    for _ in range(5000):
        inner = page.new_tag("div")
        tag.append(inner)
        tag = inner
    tag.append("bottom")
    assert Visible().text(page) == "bottom"
