"""Streams and lists of changes, which continue by cursor after any break."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, cast

from ._decode import Model, api_names, decode, json_object, parse_time
from ._errors import Error
from ._http import MAX_WAIT, Answer, Request, error_of
from ._sse import Parser, ServerEvent
from ._steps import Close, Give, Items, Open, Options, Patience, Read, Sleep, fetch
from .models import (
    Change,
    DealingPosition,
    HoldingPosition,
    Issuer,
    Position,
    Record,
    Report,
    Reset,
    ShortPosition,
)

# The service sends a heartbeat every 15 seconds.
IDLE = 45.0

# The longest time that the service waits for a change.
LONGEST_WAIT = 25

# The changes of a log. A later version may have others.
EVENTS = frozenset(
    {
        "report.published",
        "report.updated",
        "report.corrected",
        "report.backfilled",
        "issuer.updated",
        "position.published",
        "position.updated",
        "position.withdrawn",
        "position.backfilled",
    }
)

POSITION_MODELS: dict[str, type[Position]] = {
    "short": ShortPosition,
    "holding": HoldingPosition,
    "own_shares": HoldingPosition,
    "dealing": DealingPosition,
}


_CURSOR = re.compile("(?:([a-z0-9]{1,40})-)?([0-9]{1,19})")


class Place:
    """The last change that the caller received, or that it needs not receive."""

    def __init__(self, cursor: str | None) -> None:
        self.cursor = cursor

    def move(self, cursor: str) -> None:
        """Continue after another change, also of another log."""
        _parts(cursor)
        self.cursor = cursor

    def advance(self, cursor: str) -> bool:
        """Continue after a later change. Report whether it is later."""
        next_epoch, next_seq = _parts(cursor)
        if self.cursor is not None:
            epoch, seq = _parts(self.cursor)
            # Without an epoch, as if the caller began with a number, it is the present log.
            if epoch in ("", next_epoch) and next_seq <= seq:
                return False
        self.cursor = cursor
        return True


def _parts(cursor: str) -> tuple[str, int]:
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise ValueError(cursor)
    return match[1] or "", int(match[2])


def check_cursor(cursor: str | int) -> str:
    """Return a cursor of the caller, or raise an error if it is none."""
    if _CURSOR.fullmatch(str(cursor)) is None:
        raise Error("invalid", f"{cursor!r} is not a cursor: use that of a change, or 0 for the beginning")
    return str(cursor)


def decode_change(value: Mapping[str, Any]) -> Change:
    """Return a change, with the record that it is of."""
    change = decode(Change, value)
    model = _record_model(value)
    if model is None:
        return change
    own = api_names(model)
    others = api_names(Change) - own  # seq, cursor and so on
    raw = {name: member for name, member in value.items() if name not in others}
    try:
        record = decode(model, raw)
    except Error:
        # A stream must not end because a newer service describes a record otherwise.
        return change
    return dataclasses.replace(change, record=cast(Record, record))


def _record_model(value: Mapping[str, Any]) -> type[Model] | None:
    noun, _, _ = str(value.get("event")).partition(".")
    if noun == "report":
        return Report
    if noun == "issuer":
        return Issuer
    if noun == "position":
        return POSITION_MODELS.get(str(value.get("kind")))
    return None


def _reset(value: Mapping[str, Any]) -> Reset:
    if not isinstance(value, Mapping):
        raise TypeError(value)
    _parts(value["after"])
    time = value.get("time")
    reason = value.get("reason")
    return Reset(
        reason=reason if isinstance(reason, str) else "the log is another one",
        cursor=value["after"],
        time=parse_time(time) if isinstance(time, str) else None,
        raw=value,
    )


def changes(
    options: Options,
    params: Mapping[str, str],
    place: Place,
    wait: int,
    follow: bool,
) -> Items[Change | Reset]:
    """Give every change after a place, to the end of the log or for ever."""
    patience = Patience(options, lasting=follow)
    if follow:
        wait = LONGEST_WAIT
    while True:
        request = Request(
            "/api/v1/changes",
            {**params, "after": place.cursor or "0", "wait": str(wait)},
            timeout=options.timeout + wait,
        )
        answer: Answer = yield from fetch(options, request, patience)
        page = answer.json()
        before = place.cursor
        try:
            if page["reset"] is not None:
                reset = _reset(page["reset"])
                place.move(reset.cursor)
                yield Give(reset)
            for value in page["data"]:
                if place.advance(value["cursor"]):
                    yield Give(decode_change(value))
            place.advance(page["next"])
            more = page["more"]
        except (KeyError, TypeError, ValueError) as error:
            raise Error("integrity", "the answer is not a list of changes", status=answer.status) from error
        if more and place.cursor != before:
            continue
        if not follow and not more:
            return
        # The service waits while there is nothing; this is for one that does not.
        if place.cursor == before:
            yield Sleep(options.rand.uniform(0.5, 1.0))


def stream(options: Options, params: Mapping[str, str], place: Place) -> Items[Change | Reset]:
    """Give the changes after a place, and every new one, for ever."""
    patience = Patience(options, lasting=True)
    while True:
        request = Request(
            "/api/v1/stream",
            dict(params) if place.cursor is None else {**params, "after": place.cursor},
            headers={"Accept": "text/event-stream"},
        )
        parser = Parser()
        try:
            answer: Answer = yield Open(request, IDLE)
            if answer.status >= 300:
                raise error_of(answer)
            if not answer.headers.get("content-type", "").startswith("text/event-stream"):
                raise Error("integrity", "the answer is not a stream: check base_url", status=answer.status)
            yield from _read(parser, place, patience)
            raise Error("connection", "the stream ended")
        except Error as error:
            pause = patience.pause(error)
        yield Close()
        asked = (parser.retry or 0.0) * options.rand.uniform(1.0, 1.5)
        yield Sleep(min(MAX_WAIT, max(pause, asked)))


def _read(parser: Parser, place: Place, patience: Patience) -> Items[Change | Reset]:
    greeted = False
    while True:
        chunk: bytes = yield Read()
        if not chunk:
            return
        for event in parser.feed(chunk):
            if event.event == "hello" and not greeted:
                greeted = True
                yield from _greet(event, place)
                patience.progress()
            elif event.event == "heartbeat":
                patience.progress()
                if _CURSOR.fullmatch(event.id):
                    place.advance(event.id)
            elif "." in event.event:
                change = _change(event)
                if change is None:
                    continue
                patience.progress()
                if place.advance(change.cursor):
                    yield Give(change)


def _change(event: ServerEvent) -> Change | None:
    """Return the change of an event, or None for an event of a later version that is not one."""
    value = json_object(event.data)
    try:
        if value is None:
            raise ValueError(event.data)
        change = decode_change(value)
        _parts(change.cursor)
        return change
    except (Error, ValueError) as error:
        if event.event not in EVENTS:
            return None
        raise Error("integrity", f"the event {event.event} of the stream is not a change") from error


def _greet(event: ServerEvent, place: Place) -> Items[Change | Reset]:
    """Note where a stream begins, and tell the caller if that is not where it wanted to continue."""
    hello = json_object(event.data) or {}
    told = None
    try:
        cursor = hello["cursor"]
        _, seq = _parts(cursor)
        reset = hello.get("reset")
        reason = hello.get("reason")
        if reset is not None:
            told = _reset(reset)
        elif reason is not None:
            told = _reset({"after": cursor, "reason": reason, "time": None})
    except (KeyError, TypeError, ValueError) as error:
        raise Error("integrity", "the first event of the stream is not a hello of Pregón") from error
    if told is not None:
        place.move(cursor)
        yield Give(told)
    elif place.cursor is None or place.cursor == str(seq):
        place.move(cursor)
