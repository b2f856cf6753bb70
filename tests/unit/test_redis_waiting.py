"""The queue in front of Redis.

What it keeps, what it gives up first, and that it never holds more than it may.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from drift.redis.waiting import OVERHEAD_BYTES, WaitingRoom

MESSAGES = st.lists(st.tuples(st.integers(0, 60), st.booleans()), max_size=60)
"""Length, and whether it is a last message."""


def filled(messages: list[tuple[int, bool]], most_bytes: int = 10**9) -> WaitingRoom:
    room = WaitingRoom(most_bytes)
    for moment, (length, last) in enumerate(messages):
        room.add(b"x" * length, "channel", last=last, now=float(moment))
    return room


def numbers(room: WaitingRoom) -> list[int]:
    return [message.number for message in room.first(10**6, 10**9)]


@given(MESSAGES, st.integers(0, 4000))
def test_it_is_bounded_keeps_order_and_gives_up_last_messages_last(
    messages: list[tuple[int, bool]], most_bytes: int
) -> None:
    room = filled(messages, most_bytes)
    kept = room.first(10**6, 10**9)
    assert sum(message.size for message in kept) <= most_bytes
    assert numbers(room) == sorted(numbers(room))
    assert room.dropped == len(messages) - len(kept)
    lasts = [number for number, (_, last) in enumerate(messages, start=1) if last]
    if sum(messages[number - 1][0] + OVERHEAD_BYTES for number in lasts) <= most_bytes:
        assert set(lasts) <= set(numbers(room))


@given(MESSAGES, st.data())
def test_what_has_arrived_is_gone_and_the_rest_stays_in_order(
    messages: list[tuple[int, bool]], data: st.DataObject
) -> None:
    room = filled(messages)
    arrived = data.draw(st.sets(st.integers(1, len(messages) + 2)))
    for number in arrived:
        room.arrived(number)
        room.arrived(number)
    assert numbers(room) == [
        number for number in range(1, len(messages) + 1) if number not in arrived
    ]
    assert room.dropped == 0


@given(MESSAGES, st.integers(1, 20), st.integers(1, 3000))
def test_a_packet_is_the_oldest_messages_within_its_limits_and_one_at_least(
    messages: list[tuple[int, bool]], most: int, most_bytes: int
) -> None:
    packet = filled(messages).first(most, most_bytes)
    assert [message.number for message in packet] == list(range(1, len(packet) + 1))
    assert bool(packet) == bool(messages)
    assert len(packet) <= most
    assert len(packet) <= 1 or sum(message.size for message in packet) <= most_bytes
    if len(packet) < min(most, len(messages)):
        one_more = filled(messages).first(len(packet) + 1, 10**9)
        assert sum(message.size for message in one_more) > most_bytes


@given(MESSAGES, st.integers(0, 70))
def test_what_is_too_old_is_dropped(messages: list[tuple[int, bool]], moment: int) -> None:
    room = filled(messages)
    room.drop_older(float(moment))
    assert numbers(room) == list(range(min(moment, len(messages)) + 1, len(messages) + 1))
