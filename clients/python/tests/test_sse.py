"""The parser of streams gives the same events however the bytes are cut."""

import random

import pytest

from pregon import Error
from pregon._sse import MAX_EVENT, Parser, ServerEvent

STREAM = (
    "\ufeff: a comment\r\n"
    "retry: 2000\r\n"
    "\r\n"
    "id: k3-1\r\n"
    "event: hello\r\n"
    'data: {"a":1}\r\n'
    "\r\n"
    "event:report.published\n"
    "data: one\n"
    "data:  two, with a space\n"
    "data\n"
    "id: k3-2\n"
    "\n"
    "data: old line ends\r"
    "id: bad\0id\r"
    "unknown: field\r"
    "\r"
    "event: nothing\n"
    "\n"
    "data: Almería, 25 €\n"
    "id\n"
    "\n"
    "data: never complete\n"
    "id: k3-9\n"
).encode()

EVENTS = [
    ServerEvent("hello", '{"a":1}', "k3-1"),
    ServerEvent("report.published", "one\n two, with a space\n", "k3-2"),
    ServerEvent("message", "old line ends", "k3-2"),
    ServerEvent("message", "Almería, 25 €", ""),
]


def parse(chunks):
    parser = Parser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events, parser.retry


def test_whole():
    assert parse([STREAM]) == (EVENTS, 2.0)


def test_every_cut_in_two():
    for at in range(len(STREAM) + 1):
        assert parse([STREAM[:at], STREAM[at:]]) == (EVENTS, 2.0), at


def test_byte_by_byte():
    assert parse([STREAM[at : at + 1] for at in range(len(STREAM))]) == (EVENTS, 2.0)


def test_random_cuts():
    rand = random.Random(1)
    for _ in range(300):
        cuts = sorted(rand.sample(range(len(STREAM)), rand.randint(1, 20)))
        chunks = [STREAM[a:b] for a, b in zip([0, *cuts], [*cuts, len(STREAM)])]
        assert parse(chunks) == (EVENTS, 2.0), cuts


def test_the_events_before_a_cut_are_a_prefix():
    for at in range(len(STREAM) + 1):
        events, _ = parse([STREAM[:at]])
        assert events == EVENTS[: len(events)], at


def test_random_bytes_do_not_raise():
    rand = random.Random(2)
    for _ in range(200):
        parser = Parser()
        for _ in range(20):
            parser.feed(bytes(rand.choice(b"\r\n: dataideven\0\xff\xc3") for _ in range(30)))


@pytest.mark.parametrize("retry", ["", "-1", "1.5", "abc", "²"])
def test_retry_that_is_not_a_number_is_ignored(retry):
    assert parse([f"retry: {retry}\n\n".encode()])[1] is None


def test_an_event_that_never_ends_is_an_error():
    parser = Parser()
    with pytest.raises(Error) as raised:
        for _ in range(MAX_EVENT // 65536 + 1):
            parser.feed(b"data: " + b"x" * 65536)
    assert raised.value.kind == "integrity"
