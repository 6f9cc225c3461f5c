"""Server-Sent Events, as the HTML standard defines them."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from ._errors import Error

# The longest event that is kept in memory; those of the service have a few kilobytes.
MAX_EVENT = 4 << 20


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of a stream."""

    event: str
    data: str
    id: str
    """The last id that the stream had, of this event or one before."""


class Parser:
    """Splits the bytes of a stream into events.

    The bytes may be cut anywhere. An event that is not complete when the stream ends is
    dropped, as the standard demands.
    """

    def __init__(self) -> None:
        self.retry: float | None = None
        """Seconds to wait before a reconnection, if the stream said so."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._line: list[str] = []
        self._after_cr = False
        self._at_start = True
        self._event = ""
        self._data: list[str] = []
        self._id = ""
        self._size = 0

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Return the events that are complete with these bytes."""
        text = self._decoder.decode(chunk)
        if text and self._at_start:
            text = text.removeprefix("\ufeff")
            self._at_start = False
        if text and self._after_cr:
            # The line ended with \r at the end of the bytes before: a \n belongs to it.
            text = text.removeprefix("\n")
            self._after_cr = False
        if text.endswith("\r"):
            self._after_cr = True
        self._size += len(text)
        *complete, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        events = []
        for line in complete:
            self._line.append(line)
            event = self._end_of_line("".join(self._line))
            self._line.clear()
            if event is not None:
                events.append(event)
        if rest:
            self._line.append(rest)
        if self._size > MAX_EVENT:
            raise Error("integrity", f"the stream has an event of more than {MAX_EVENT >> 20} MiB")
        return events

    def _end_of_line(self, line: str) -> ServerEvent | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry = int(value[:9]) / 1000
        return None

    def _dispatch(self) -> ServerEvent | None:
        event = self._event or "message"
        data = self._data
        self._event = ""
        self._data = []
        self._size = 0
        if not data:
            return None
        return ServerEvent(event, "\n".join(data), self._id)
