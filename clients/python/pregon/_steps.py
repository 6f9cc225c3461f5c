"""What a call does, as steps that a client takes.

A call is a generator, the same for both clients. It yields steps, and receives what they
result in; an error of the network is raised in it. So paging, retries, streams and
downloads are written once, and a client only moves bytes.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ._errors import Error
from ._http import Answer, Request, delay, error_of, may_repeat

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Fetch:
    """Send a request and read the whole answer. Results in an Answer."""

    request: Request


@dataclass(frozen=True, slots=True)
class Open:
    """Send a request. Results in an Answer, without its body if its status is below 300."""

    request: Request
    idle: float
    """Seconds without a byte after which Read raises an error."""


@dataclass(frozen=True, slots=True)
class Read:
    """Read some bytes of the answer that was opened. Results in none at its end."""


@dataclass(frozen=True, slots=True)
class Close:
    """Close the answer that was opened."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Give(Generic[T_co]):
    """Give an item to the caller."""

    item: T_co


Step = Fetch | Open | Read | Close | Sleep
Call = Generator[Step, Any, T]
Items = Generator[Step | Give[T], Any, None]


@dataclass(frozen=True, slots=True)
class Options:
    """What all calls of a client share."""

    retries: int
    timeout: float
    rand: random.Random


class Patience:
    """Decides whether a call goes on after an error, and after how long."""

    def __init__(self, options: Options, lasting: bool = False) -> None:
        self._options = options
        self._lasting = lasting
        """A lasting call has no limit of retries once it was connected."""
        self._connected = False
        self._failures = 0

    def progress(self) -> None:
        """Note that the service answered."""
        self._connected = True
        self._failures = 0

    def pause(self, error: Error) -> float:
        """Return the seconds to wait, or raise the error if the call must end."""
        self._failures += 1
        if self._lasting and self._connected:
            if error.kind not in ("connection", "unavailable", "rate_limited"):
                raise error
        elif not may_repeat(error) or self._failures > self._options.retries:
            raise error
        return delay(self._failures, error, self._options.rand)


def fetch(options: Options, request: Request, patience: Patience | None = None) -> Call[Answer]:
    """Send a request, again if it fails and may succeed later."""
    patience = patience or Patience(options)
    while True:
        try:
            answer: Answer = yield Fetch(request)
            if answer.status >= 300:
                raise error_of(answer)
        except Error as error:
            if not request.repeatable:
                raise
            pause = patience.pause(error)
        else:
            patience.progress()
            return answer
        yield Sleep(pause)
