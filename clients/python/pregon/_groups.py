"""The calls of both clients, by what they are about.

A call is described once, in ``_calls``; here it becomes a method, with the same arguments.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar

from . import _bulk, _calls
from ._async import AsyncChanges, AsyncPages, AsyncRunner
from ._calls import Following, Listing, Single
from ._decode import Model
from ._sync import Changes, Pages, Runner

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M", bound=Model)
F = TypeVar("F", bound=Callable[..., Any])


class Group:
    """Calls of a client."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner


class AsyncGroup:
    """Calls of an asynchronous client."""

    def __init__(self, runner: AsyncRunner) -> None:
        self._runner = runner


def _like(call: Callable[..., Any]) -> Callable[[F], F]:
    """Give a method the name, the arguments and the documentation of a call."""

    def apply(method: F) -> F:
        functools.update_wrapper(method, call)
        signature = inspect.signature(call)
        self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        setattr(method, "__signature__", signature.replace(parameters=[self, *signature.parameters.values()]))
        return method

    return apply


def _single(call: Callable[P, Single[T]]) -> Callable[Concatenate[Group, P], T]:
    @_like(call)
    def method(self: Group, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._runner.run(call(*args, **kwargs))

    return method


def _pages(call: Callable[P, Listing[M]]) -> Callable[Concatenate[Group, P], Pages[M]]:
    @_like(call)
    def method(self: Group, /, *args: P.args, **kwargs: P.kwargs) -> Pages[M]:
        return Pages(self._runner, call(*args, **kwargs))

    return method


def _changes(call: Callable[P, Following]) -> Callable[Concatenate[Group, P], Changes]:
    @_like(call)
    def method(self: Group, /, *args: P.args, **kwargs: P.kwargs) -> Changes:
        return Changes(self._runner, call(*args, **kwargs))

    return method


def _async_single(call: Callable[P, Single[T]]) -> Callable[Concatenate[AsyncGroup, P], Coroutine[Any, Any, T]]:
    @_like(call)
    async def method(self: AsyncGroup, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._runner.run(call(*args, **kwargs))

    return method


def _async_pages(call: Callable[P, Listing[M]]) -> Callable[Concatenate[AsyncGroup, P], AsyncPages[M]]:
    @_like(call)
    def method(self: AsyncGroup, /, *args: P.args, **kwargs: P.kwargs) -> AsyncPages[M]:
        return AsyncPages(self._runner, call(*args, **kwargs))

    return method


def _async_changes(call: Callable[P, Following]) -> Callable[Concatenate[AsyncGroup, P], AsyncChanges]:
    @_like(call)
    def method(self: AsyncGroup, /, *args: P.args, **kwargs: P.kwargs) -> AsyncChanges:
        return AsyncChanges(self._runner, call(*args, **kwargs))

    return method


class Reports(Group):
    """Reports: the disclosures of issuers."""

    search = _pages(_calls.search_reports)
    documents = _pages(_calls.search_documents)
    get = _single(_calls.get_report)
    counts = _single(_calls.count_reports)
    proof = _single(_calls.report_proof)


class Facts(Group):
    """What the documents of reports state."""

    list = _pages(_calls.list_facts)


class Calendar(Group):
    """The dates that documents state."""

    list = _pages(_calls.list_calendar)


class Positions(Group):
    """Who owns issuers, bets against them, and deals in their shares."""

    shorts = _pages(_calls.list_shorts)
    short_totals = _pages(_calls.short_totals)
    short_series = _pages(_calls.short_series)
    holdings = _pages(_calls.list_holdings)
    own_shares = _pages(_calls.list_own_shares)
    dealings = _pages(_calls.list_dealings)
    get = _single(_calls.get_position)
    proof = _single(_calls.position_proof)


class Issuers(Group):
    """The directory of issuers."""

    search = _pages(_calls.search_issuers)
    get = _single(_calls.get_issuer)


class Watchlists(Group):
    """The watchlists of the account. They need a key."""

    list = _single(_calls.list_watchlists)
    get = _single(_calls.get_watchlist)
    create = _single(_calls.create_watchlist)
    update = _single(_calls.update_watchlist)
    delete = _single(_calls.delete_watchlist)
    add = _single(_calls.add_to_watchlist)
    remove = _single(_calls.remove_from_watchlist)


class Bulk(Group):
    """Snapshots of everything."""

    snapshots = _single(_calls.list_snapshots)
    download = _single(_bulk.download)


class Service(Group):
    """The calls of a client that are in no group."""

    document = _single(_calls.document)
    stream = _changes(_calls.follow_stream)
    changes = _changes(_calls.list_changes)
    status = _single(_calls.status)
    verifier_key = _single(_calls.verifier_key)


class AsyncReports(AsyncGroup):
    """Reports: the disclosures of issuers."""

    search = _async_pages(_calls.search_reports)
    documents = _async_pages(_calls.search_documents)
    get = _async_single(_calls.get_report)
    counts = _async_single(_calls.count_reports)
    proof = _async_single(_calls.report_proof)


class AsyncFacts(AsyncGroup):
    """What the documents of reports state."""

    list = _async_pages(_calls.list_facts)


class AsyncCalendar(AsyncGroup):
    """The dates that documents state."""

    list = _async_pages(_calls.list_calendar)


class AsyncPositions(AsyncGroup):
    """Who owns issuers, bets against them, and deals in their shares."""

    shorts = _async_pages(_calls.list_shorts)
    short_totals = _async_pages(_calls.short_totals)
    short_series = _async_pages(_calls.short_series)
    holdings = _async_pages(_calls.list_holdings)
    own_shares = _async_pages(_calls.list_own_shares)
    dealings = _async_pages(_calls.list_dealings)
    get = _async_single(_calls.get_position)
    proof = _async_single(_calls.position_proof)


class AsyncIssuers(AsyncGroup):
    """The directory of issuers."""

    search = _async_pages(_calls.search_issuers)
    get = _async_single(_calls.get_issuer)


class AsyncWatchlists(AsyncGroup):
    """The watchlists of the account. They need a key."""

    list = _async_single(_calls.list_watchlists)
    get = _async_single(_calls.get_watchlist)
    create = _async_single(_calls.create_watchlist)
    update = _async_single(_calls.update_watchlist)
    delete = _async_single(_calls.delete_watchlist)
    add = _async_single(_calls.add_to_watchlist)
    remove = _async_single(_calls.remove_from_watchlist)


class AsyncBulk(AsyncGroup):
    """Snapshots of everything."""

    snapshots = _async_single(_calls.list_snapshots)
    download = _async_single(_bulk.download)


class AsyncService(AsyncGroup):
    """The calls of a client that are in no group."""

    document = _async_single(_calls.document)
    stream = _async_changes(_calls.follow_stream)
    changes = _async_changes(_calls.list_changes)
    status = _async_single(_calls.status)
    verifier_key = _async_single(_calls.verifier_key)
