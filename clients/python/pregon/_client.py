"""The two clients."""

from __future__ import annotations

import random
from types import TracebackType

import httpx

from . import _groups
from ._async import AsyncRunner
from ._errors import Error
from ._http import check_base_url, client_headers, uses_proxies
from ._steps import Options
from ._sync import Runner

DEFAULT_RETRIES = 4
DEFAULT_TIMEOUT = 30.0


def _options(retries: int, timeout: float) -> Options:
    if retries < 0:
        raise Error("invalid", f"retries is {retries}: use 0 or more")
    if timeout <= 0:
        raise Error("invalid", f"timeout is {timeout}: use a number of seconds above 0")
    return Options(retries, timeout, random.Random())


class Client(_groups.Service):
    """A client of a Pregón service.

    - ``base_url`` is its address, such as ``https://pregon.example``.
    - ``key`` is a key or a token. Without one, lists and reports may be read, 60 requests a
      minute. Over http:// it is sent to this machine only, unless ``insecure_http`` is true.
    - ``retries`` is how often a request is repeated, after an answer such as 429 or 503, or
      none. What creates or changes something (POST and PATCH) is never sent again. A wait that the service asks for with Retry-After is kept, up to a minute.
    - ``timeout`` is the time for one whole answer, in seconds.
    - ``transport`` replaces the network, for tests and proxies.

    It may be used by several threads, and in a with statement, which closes its connections.
    """

    def __init__(
        self,
        base_url: str,
        key: str | None = None,
        *,
        retries: int = DEFAULT_RETRIES,
        timeout: float = DEFAULT_TIMEOUT,
        insecure_http: bool = False,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.base_url = check_base_url(base_url, key, insecure_http)
        http = httpx.Client(
            headers=client_headers(key),
            transport=transport,
            trust_env=uses_proxies(self.base_url),
        )
        runner = Runner(http, self.base_url, _options(retries, timeout))
        super().__init__(runner)
        self.reports = _groups.Reports(runner)
        self.facts = _groups.Facts(runner)
        self.calendar = _groups.Calendar(runner)
        self.positions = _groups.Positions(runner)
        self.issuers = _groups.Issuers(runner)
        self.watchlists = _groups.Watchlists(runner)
        self.bulk = _groups.Bulk(runner)

    def close(self) -> None:
        """Close all connections."""
        self._runner.http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.base_url!r})"


class AsyncClient(_groups.AsyncService):
    """A client of a Pregón service for asyncio, with the calls and arguments of Client."""

    def __init__(
        self,
        base_url: str,
        key: str | None = None,
        *,
        retries: int = DEFAULT_RETRIES,
        timeout: float = DEFAULT_TIMEOUT,
        insecure_http: bool = False,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.base_url = check_base_url(base_url, key, insecure_http)
        http = httpx.AsyncClient(
            headers=client_headers(key),
            transport=transport,
            trust_env=uses_proxies(self.base_url),
        )
        runner = AsyncRunner(http, self.base_url, _options(retries, timeout))
        super().__init__(runner)
        self.reports = _groups.AsyncReports(runner)
        self.facts = _groups.AsyncFacts(runner)
        self.calendar = _groups.AsyncCalendar(runner)
        self.positions = _groups.AsyncPositions(runner)
        self.issuers = _groups.AsyncIssuers(runner)
        self.watchlists = _groups.AsyncWatchlists(runner)
        self.bulk = _groups.AsyncBulk(runner)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._runner.http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"AsyncClient({self.base_url!r})"
