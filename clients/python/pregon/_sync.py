"""The client that blocks: it takes the steps of calls with httpx."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import httpx

from ._calls import Following, Listing, Single
from ._decode import Model
from ._errors import Error
from ._frames import Decimals, to_pandas, to_polars
from ._http import MAX_BODY, Answer, Request
from ._steps import Fetch, Give, Items, Open, Options, Read, Sleep, Step
from .models import Change, Reset

if TYPE_CHECKING:
    import pandas
    import polars

T = TypeVar("T")
M = TypeVar("M", bound=Model)


class Wire:
    """The connection of one call."""

    def __init__(self, http: httpx.Client, base_url: str, options: Options) -> None:
        self._http = http
        self._base_url = base_url
        self._options = options
        self._opened: httpx.Response | None = None
        self._chunks: Iterator[bytes] = iter(())

    def take(self, step: Step) -> Any:
        """Take a step. An error of the network is an Error."""
        try:
            if isinstance(step, Fetch):
                return self._fetch(step.request)
            if isinstance(step, Open):
                return self._open(step)
            if isinstance(step, Read):
                return next(self._chunks, b"")
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise connection_error(error) from error
        if isinstance(step, Sleep):
            time.sleep(step.seconds)
        else:
            self.close()
        return None

    def close(self) -> None:
        opened, self._opened = self._opened, None
        self._chunks = iter(())
        if opened is not None:
            opened.close()

    def _send(self, request: Request, timeout: httpx.Timeout, headers: dict[str, str]) -> httpx.Response:
        built = build(self._http, self._base_url, request, timeout, headers)
        return self._http.send(built, stream=True, follow_redirects=False)

    def _fetch(self, request: Request) -> Answer:
        seconds = request.timeout or self._options.timeout
        end = time.monotonic() + seconds
        with contextlib.closing(self._send(request, httpx.Timeout(seconds), {})) as response:
            check_encoding(response)
            return answer_of(response, self._body(response, end))

    def _body(self, response: httpx.Response, end: float) -> bytes:
        body = bytearray()
        for chunk in response.iter_bytes():
            grow(body, chunk, end)
        return bytes(body)

    def _open(self, step: Open) -> Answer:
        self.close()
        timeout = httpx.Timeout(self._options.timeout, read=step.idle)
        response = self._send(step.request, timeout, {"Accept-Encoding": "identity"})
        self._opened = response
        if response.status_code >= 300:
            try:
                check_encoding(response)
                return answer_of(response, self._body(response, time.monotonic() + self._options.timeout))
            finally:
                self.close()
        self._chunks = response.iter_raw()
        return answer_of(response, b"")


def connection_error(error: Exception) -> Error:
    return Error("connection", f"the service did not answer: {str(error) or type(error).__name__}")


def build(
    http: httpx.Client | httpx.AsyncClient,
    base_url: str,
    request: Request,
    timeout: httpx.Timeout,
    headers: dict[str, str],
) -> httpx.Request:
    all_headers = {**request.headers, **headers}
    if request.body is not None:
        all_headers["Content-Type"] = "application/json"
    return http.build_request(
        request.method,
        base_url + request.target,
        headers=all_headers,
        content=request.content,
        timeout=timeout,
    )


def check_encoding(response: httpx.Response) -> None:
    """Refuse an answer that may be much larger than its bytes, before any of it is decoded.

    Some bytes of gzip are at most a thousand times as many; other encodings have no such limit.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("gzip", "identity", ""):
        raise Error("integrity", f"the answer has the encoding {encoding[:40]!r}, and gzip was asked for")


def grow(body: bytearray, chunk: bytes, end: float) -> None:
    """Add bytes to an answer, within its limits of size and time."""
    body += chunk
    if len(body) > MAX_BODY:
        raise Error("integrity", f"the answer has more than {MAX_BODY >> 20} MiB")
    if time.monotonic() > end:
        raise Error("connection", "the answer did not come in time: set timeout= to wait longer")


def answer_of(response: httpx.Response, body: bytes) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(response.status_code, headers, body)


class Runner:
    """Runs the calls of a client."""

    def __init__(self, http: httpx.Client, base_url: str, options: Options) -> None:
        self.http = http
        self.base_url = base_url
        self.options = options

    def run(self, call: Single[T]) -> T:
        steps = call.run(self.options)
        with contextlib.closing(Wire(self.http, self.base_url, self.options)) as wire:
            try:
                step = next(steps)
                while True:
                    try:
                        result = wire.take(step)
                    except Error as error:
                        step = steps.throw(error)
                    else:
                        step = steps.send(result)
            except StopIteration as stop:
                value: T = stop.value
                return value

    def iterate(self, items: Items[T]) -> Generator[T, None, None]:
        with contextlib.closing(Wire(self.http, self.base_url, self.options)) as wire:
            try:
                step = next(items)
                while True:
                    if isinstance(step, Give):
                        yield step.item
                        step = next(items)
                        continue
                    try:
                        result = wire.take(step)
                    except Error as error:
                        step = items.throw(error)
                    else:
                        step = items.send(result)
            except StopIteration:
                return


class Pages(Generic[M]):
    """The items of all pages. Each iteration begins with the first page."""

    def __init__(self, runner: Runner, listing: Listing[M]) -> None:
        self._runner = runner
        self._listing = listing

    def __iter__(self) -> Iterator[M]:
        return self._runner.iterate(self._listing.items(self._runner.options))

    def take(self, count: int) -> list[M]:
        """Return the first items, and read no more pages than they need."""
        taken: list[M] = []
        if count <= 0:
            return taken
        with contextlib.closing(self._runner.iterate(self._listing.items(self._runner.options))) as items:
            for item in items:
                taken.append(item)
                if len(taken) == count:
                    break
        return taken

    def total(self) -> int:
        """Return how many items there are on all pages, with one request."""
        page = self._runner.run(Single(self._listing.first))
        total: int = page.get("total", len(page["data"]))
        return total

    def to_frame(self, *, decimals: Decimals = "float") -> pandas.DataFrame:
        """Return a pandas data frame of all pages.

        Times have the zone of Madrid, and days are times at midnight without a zone.
        Amounts and percentages are floats; with ``decimals="exact"`` they are Decimal objects.
        """
        return to_pandas(self._listing.model, self, decimals)

    def to_polars(self) -> polars.DataFrame:
        """Return a polars data frame of all pages."""
        return to_polars(self._listing.model, self)


class Changes:
    """An iterator over changes. Close it, or use it in a with statement, if it is left early."""

    def __init__(self, runner: Runner, following: Following) -> None:
        self._place = following.place
        self._items = runner.iterate(following.run(runner.options))

    @property
    def cursor(self) -> str | None:
        """Where to continue later: after the last item, and after what the filter left out since."""
        return self._place.cursor

    def __iter__(self) -> Iterator[Change | Reset]:
        return self

    def __next__(self) -> Change | Reset:
        return next(self._items)

    def close(self) -> None:
        """Close the connection."""
        self._items.close()

    def __enter__(self) -> Changes:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
