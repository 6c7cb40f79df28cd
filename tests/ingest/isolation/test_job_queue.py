"""The hand-over between those who read and the one who takes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import OperationError
from anabranch.ingest.isolation.framing import Frame, Tag
from anabranch.ingest.isolation.job_queue import Order, Orders


def serve(orders: Orders, sizes: dict[str, list[int]]) -> None:
    while (order := orders.next()) is not None:
        for size in sizes[order.source]:
            if not orders.wait_for_room(order, size):
                return
            orders.put(order, Frame(Tag.CUT, bytes(size)))
        orders.put(order, Frame(Tag.END))


@given(st.lists(st.lists(st.integers(0, 300), max_size=6), max_size=8), st.integers(1, 3))
def test_everything_arrives_in_order_and_nobody_waits_for_ever(files: list[list[int]], servers: int) -> None:
    orders, sizes = Orders(200), {str(number): size for number, size in enumerate(files)}
    threads = [threading.Thread(target=serve, args=(orders, sizes)) for _ in range(servers)]
    for thread in threads:
        thread.start()
    placed = [Order(Path(source), source) for source in sizes]
    for order in placed:
        orders.place(order)
    for order in placed:
        taken = []
        while (frame := orders.take(order, 30)) is not None and frame.tag != Tag.END:
            assert orders._held <= 500  # the bound, and one frame of the file whose turn it is
            taken.append(len(frame.body))
        assert taken == sizes[order.source]
    orders.close()
    for thread in threads:
        thread.join()


def test_patience_has_an_end() -> None:
    orders, order = Orders(10), Order(Path("a"), "a")
    orders.place(order)
    assert orders.take(order, 0.01) is None
    assert orders.waiting == 1


def test_what_came_before_a_fault_is_not_lost() -> None:
    orders, order = Orders(10), Order(Path("a"), "a")
    orders.put(order, Frame(Tag.CUT, b"x"))
    orders.fail(OperationError("No process."))
    orders.fail(OperationError("Another."))
    assert orders.take(order, 1) == Frame(Tag.CUT, b"x")
    with pytest.raises(OperationError, match="No process"):
        orders.take(order, 1)


def test_those_who_wait_are_sent_home() -> None:
    orders, later = Orders(10), Order(Path("b"), "b")
    answers: list[object] = []
    waiting = [
        threading.Thread(target=lambda: answers.append(orders.next())),
        threading.Thread(target=lambda: answers.append(orders.wait_for_room(later, 100))),
    ]
    for thread in waiting:
        thread.start()
    orders.close()
    for thread in waiting:
        thread.join()
    assert {None, False} == set(answers)
