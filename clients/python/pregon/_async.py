"""The client for asyncio: it takes the steps of calls with httpx."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import httpx

from ._calls import Following, Listing, Single
from ._decode import Model
from ._errors import Error
from ._frames import Decimals, to_pandas, to_polars
from ._http import Answer, Request
from ._steps import Fetch, Give, Items, Open, Options, Read, Sleep, Step
from ._sync import answer_of, build, check_encoding, connection_error, grow
from .models import Change, Reset

if TYPE_CHECKING:
    import pandas
    import polars

T = TypeVar("T")
M = TypeVar("M", bound=Model)


class AsyncWire:
    """The connection of one call."""

    def __init__(self, http: httpx.AsyncClient, base_url: str, options: Options) -> None:
        self._http = http
        self._base_url = base_url
        self._options = options
        self._opened: httpx.Response | None = None
        self._chunks: AsyncIterator[bytes] | None = None

    async def take(self, step: Step) -> Any:
        """Take a step. An error of the network is an Error."""
        try:
            if isinstance(step, Fetch):
                return await self._fetch(step.request)
            if isinstance(step, Open):
                return await self._open(step)
            if isinstance(step, Read):
                return await self._read()
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise connection_error(error) from error
        if isinstance(step, Sleep):
            await asyncio.sleep(step.seconds)
        else:
            await self.aclose()
        return None

    async def aclose(self) -> None:
        opened, self._opened = self._opened, None
        self._chunks = None
        if opened is not None:
            await opened.aclose()

    async def _read(self) -> bytes:
        if self._chunks is None:
            return b""
        try:
            return await self._chunks.__anext__()
        except StopAsyncIteration:
            return b""

    async def _send(self, request: Request, timeout: httpx.Timeout, headers: dict[str, str]) -> httpx.Response:
        built = build(self._http, self._base_url, request, timeout, headers)
        return await self._http.send(built, stream=True, follow_redirects=False)

    async def _fetch(self, request: Request) -> Answer:
        seconds = request.timeout or self._options.timeout
        end = time.monotonic() + seconds
        async with contextlib.aclosing(await self._send(request, httpx.Timeout(seconds), {})) as response:
            check_encoding(response)
            return answer_of(response, await self._body(response, end))

    async def _body(self, response: httpx.Response, end: float) -> bytes:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            grow(body, chunk, end)
        return bytes(body)

    async def _open(self, step: Open) -> Answer:
        await self.aclose()
        timeout = httpx.Timeout(self._options.timeout, read=step.idle)
        response = await self._send(step.request, timeout, {"Accept-Encoding": "identity"})
        self._opened = response
        if response.status_code >= 300:
            try:
                check_encoding(response)
                return answer_of(response, await self._body(response, time.monotonic() + self._options.timeout))
            finally:
                await self.aclose()
        self._chunks = response.aiter_raw()
        return answer_of(response, b"")


class AsyncRunner:
    """Runs the calls of a client."""

    def __init__(self, http: httpx.AsyncClient, base_url: str, options: Options) -> None:
        self.http = http
        self.base_url = base_url
        self.options = options

    async def run(self, call: Single[T]) -> T:
        steps = call.run(self.options)
        async with contextlib.aclosing(AsyncWire(self.http, self.base_url, self.options)) as wire:
            try:
                step = next(steps)
                while True:
                    try:
                        result = await wire.take(step)
                    except Error as error:
                        step = steps.throw(error)
                    else:
                        step = steps.send(result)
            except StopIteration as stop:
                value: T = stop.value
                return value

    async def iterate(self, items: Items[T]) -> AsyncGenerator[T, None]:
        async with contextlib.aclosing(AsyncWire(self.http, self.base_url, self.options)) as wire:
            try:
                step = next(items)
                while True:
                    if isinstance(step, Give):
                        yield step.item
                        step = next(items)
                        continue
                    try:
                        result = await wire.take(step)
                    except Error as error:
                        step = items.throw(error)
                    else:
                        step = items.send(result)
            except StopIteration:
                return


class AsyncPages(Generic[M]):
    """The items of all pages. Each iteration begins with the first page."""

    def __init__(self, runner: AsyncRunner, listing: Listing[M]) -> None:
        self._runner = runner
        self._listing = listing

    def __aiter__(self) -> AsyncIterator[M]:
        return self._runner.iterate(self._listing.items(self._runner.options))

    async def take(self, count: int) -> list[M]:
        """Return the first items, and read no more pages than they need."""
        taken: list[M] = []
        if count <= 0:
            return taken
        async with contextlib.aclosing(self._runner.iterate(self._listing.items(self._runner.options))) as items:
            async for item in items:
                taken.append(item)
                if len(taken) == count:
                    break
        return taken

    async def total(self) -> int:
        """Return how many items there are on all pages, with one request."""
        page = await self._runner.run(Single(self._listing.first))
        total: int = page.get("total", len(page["data"]))
        return total

    async def to_frame(self, *, decimals: Decimals = "float") -> pandas.DataFrame:
        """Return a pandas data frame of all pages, as that of Pages."""
        return to_pandas(self._listing.model, [item async for item in self], decimals)

    async def to_polars(self) -> polars.DataFrame:
        """Return a polars data frame of all pages."""
        return to_polars(self._listing.model, [item async for item in self])


class AsyncChanges:
    """An iterator over changes. Close it, or use it in a with statement, if it is left early."""

    def __init__(self, runner: AsyncRunner, following: Following) -> None:
        self._place = following.place
        self._items = runner.iterate(following.run(runner.options))

    @property
    def cursor(self) -> str | None:
        """Where to continue later: after the last item, and after what the filter left out since."""
        return self._place.cursor

    def __aiter__(self) -> AsyncIterator[Change | Reset]:
        return self

    async def __anext__(self) -> Change | Reset:
        return await self._items.__anext__()

    async def aclose(self) -> None:
        """Close the connection."""
        await self._items.aclose()

    async def __aenter__(self) -> AsyncChanges:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
