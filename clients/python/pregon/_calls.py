"""The calls of the API: each names its arguments, its path and what it answers, once for both clients."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, Literal, TypeVar

from ._changes import POSITION_MODELS, Place, changes, check_cursor, stream
from ._decode import Model, decode
from ._errors import Error
from ._http import Answer, Request, Value, query, retry_after, segment
from ._steps import Call, Give, Items, Options, Patience, Sleep, fetch
from .models import (
    REPORT_FIELDS,
    CalendarEntry,
    Change,
    Counts,
    DealingPosition,
    DocumentHit,
    DocumentPage,
    DocumentText,
    FactRow,
    HoldingPosition,
    Issuer,
    IssuerDetail,
    Position,
    PositionKind,
    Proof,
    Report,
    ReportDetail,
    Reset,
    SavedSearch,
    ShortPoint,
    ShortPosition,
    ShortTotal,
    Snapshot,
    Watchlist,
)

M = TypeVar("M", bound=Model)
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Day = str | datetime.date
Names = str | Iterable[str]
Amount = str | int | float | Decimal
Point = str | int | datetime.date
CountBy = Literal["issuer", "type", "category", "day", "month", "market", "sector", "kind"]

# The longest text of a document that is put together.
MAX_TEXT = 50_000_000

_PIECE = 200_000

# The fields of a report in a search. Without naming them, a list has only the first nine.
_REPORT_FIELDS = (*REPORT_FIELDS, "issuer_id", "categories", "url", "facts")


@dataclass(frozen=True, slots=True)
class Single(Generic[T_co]):
    """A call with one answer."""

    run: Callable[[Options], Call[T_co]]


@dataclass(frozen=True, slots=True)
class Listing(Generic[M]):
    """A call that answers a list, page by page."""

    path: str
    params: Mapping[str, str]
    model: type[M]
    key: Callable[[Mapping[str, Any]], str | bytes | None]
    """Identifies an item: one that was given is not given again when the pages shift."""
    paged: bool = True

    def first(self, options: Options) -> Call[Mapping[str, Any]]:
        """Return the first page."""
        answer: Answer = yield from fetch(options, Request(self.path, self.params))
        return _page(answer)

    def items(self, options: Options) -> Items[M]:
        """Give the items of all pages."""
        params = dict(self.params)
        seen: set[str | bytes] = set()
        number = 1
        while True:
            if number > 1:
                params["page"] = str(number)
            answer: Answer = yield from fetch(options, Request(self.path, params))
            page = _page(answer)
            for value in page["data"]:
                key = self.key(value)
                if key is not None:
                    if key in seen:
                        continue
                    seen.add(key)
                yield Give(decode(self.model, value))
            if not self.paged or not page["data"]:
                return
            if "limit" not in page or "total" not in page:
                raise Error("integrity", "the answer is not a page of a list", status=answer.status)
            if number * page["limit"] >= page["total"]:
                return
            if "as_of" in params and "as_of_seq" in page:
                params["as_of"] = str(page["as_of_seq"])  # all pages of one point
            number += 1


@dataclass(frozen=True, slots=True)
class Following:
    """A call that gives changes."""

    place: Place
    run: Callable[[Options], Items[Change | Reset]]


def _page(answer: Answer) -> Mapping[str, Any]:
    page = answer.json()
    data = page.get("data")
    numbers = (page.get("total", 0), page.get("limit", 1))
    well_formed = isinstance(data, list) and all(isinstance(value, Mapping) for value in data)
    if not well_formed or not all(isinstance(number, int) for number in numbers):
        raise Error("integrity", "the answer is not a list", status=answer.status)
    return page


def _id(value: Any, name: str = "id") -> str | None:
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else None


def _whole(value: Mapping[str, Any]) -> bytes:
    """Identify an item without an id by all of it. A hash is short, however many items there are."""
    try:
        text = json.dumps(value, sort_keys=True)
    except RecursionError:
        raise Error("integrity", "an item of the list is nested too deeply") from None
    return hashlib.sha256(text.encode()).digest()


def _one(model: type[M], path: str, params: Mapping[str, Value] | None = None) -> Single[M]:
    return _send(model, Request(path, query(params or {})))


def _send(model: type[M], request: Request) -> Single[M]:
    def run(options: Options) -> Call[M]:
        answer = yield from fetch(options, request)
        return decode(model, answer.json())

    return Single(run)


def _value(request: Request) -> Single[dict[str, Any]]:
    def run(options: Options) -> Call[dict[str, Any]]:
        answer = yield from fetch(options, request)
        return answer.json()

    return Single(run)


def _data_of(model: type[M], request: Request) -> Single[list[M]]:
    def run(options: Options) -> Call[list[M]]:
        answer = yield from fetch(options, request)
        return [decode(model, value) for value in _page(answer)["data"]]

    return Single(run)


# Reports.


def search_reports(
    search: str | None = None,
    *,
    type: str | None = None,
    issuer: Names | None = None,
    from_: Day | None = None,
    to: Day | None = None,
    category: str | None = None,
    fact: str | None = None,
    min_amount: Amount | None = None,
    currency: str | None = None,
    kind: str | None = None,
    market: str | None = None,
    sector: str | None = None,
    without: str | None = None,
    watchlist: str | None = None,
    in_: Literal["document"] | None = None,
    as_of: Point | None = None,
    page_size: int = 50,
) -> Listing[Report]:
    """Return the reports that pass all filters, the newest first.

    Reports that are published while the pages are read are not in the list, and none is in
    it twice. With ``as_of`` all pages are of exactly one point in time.
    """
    params: dict[str, Value] = {
        "search": search,
        "type": type,
        "issuer": issuer,
        "from": from_,
        "to": to,
        "category": category,
        "fact": fact,
        "min_amount": min_amount,
        "currency": currency,
        "kind": kind,
        "market": market,
        "sector": sector,
        "without": without,
        "watchlist": watchlist,
        "in": in_,
        "fields": _REPORT_FIELDS,
        "as_of": as_of,
        "limit": page_size,
    }
    return Listing("/api/v1/reports", query(params), Report, _id)


def get_report(id: str, *, as_of: Point | None = None) -> Single[ReportDetail]:
    """Return one report in full."""
    return _one(ReportDetail, "/api/v1/reports/" + segment(id), {"as_of": as_of})


def count_reports(
    by: CountBy,
    search: str | None = None,
    *,
    type: str | None = None,
    issuer: Names | None = None,
    from_: Day | None = None,
    to: Day | None = None,
    category: str | None = None,
    fact: str | None = None,
    min_amount: Amount | None = None,
    currency: str | None = None,
    kind: str | None = None,
    market: str | None = None,
    sector: str | None = None,
    without: str | None = None,
    watchlist: str | None = None,
    in_: Literal["document"] | None = None,
    as_of: Point | None = None,
    limit: int | None = None,
    page: int | None = None,
) -> Single[Counts]:
    """Return how many reports pass the filters, by a property: one page of at most 50 values."""
    params: dict[str, Value] = {
        "by": by,
        "search": search,
        "type": type,
        "issuer": issuer,
        "from": from_,
        "to": to,
        "category": category,
        "fact": fact,
        "min_amount": min_amount,
        "currency": currency,
        "kind": kind,
        "market": market,
        "sector": sector,
        "without": without,
        "watchlist": watchlist,
        "in": in_,
        "as_of": as_of,
        "limit": limit,
        "page": page,
    }
    return _one(Counts, "/api/v1/reports/counts", params)


def report_proof(id: str) -> Single[Proof]:
    """Return the proof that a report is in the log: see pregon.proofs.verify."""
    return _one(Proof, f"/api/v1/reports/{segment(id)}/proof")


def search_documents(
    search: str,
    *,
    type: str | None = None,
    issuer: Names | None = None,
    from_: Day | None = None,
    to: Day | None = None,
    category: str | None = None,
    fact: str | None = None,
    min_amount: Amount | None = None,
    currency: str | None = None,
    kind: str | None = None,
    market: str | None = None,
    sector: str | None = None,
    without: str | None = None,
    watchlist: str | None = None,
    page_size: int = 50,
) -> Listing[DocumentHit]:
    """Return the reports with the words in their document, with the passages. It needs a key."""
    params: dict[str, Value] = {
        "search": search,
        "type": type,
        "issuer": issuer,
        "from": from_,
        "to": to,
        "category": category,
        "fact": fact,
        "min_amount": min_amount,
        "currency": currency,
        "kind": kind,
        "market": market,
        "sector": sector,
        "without": without,
        "watchlist": watchlist,
        "limit": page_size,
    }
    return Listing("/api/v1/search/documents", query(params), DocumentHit, lambda hit: _id(hit.get("report")))


def document(id: str, *, offset: int | None = None, max_chars: int | None = None) -> Single[DocumentText]:
    """Return the text of the document of a report. It needs a key.

    This is the whole text; with ``offset`` or ``max_chars`` it is one piece of it. While the
    service has not read the document, it asks again, as after other answers of 503; then the
    error is of the kind ``unavailable``, with ``retry_after``.
    """
    path = f"/api/v1/reports/{segment(id)}/document"
    whole = offset is None and max_chars is None

    def piece(options: Options, start: int | None, length: int | None) -> Call[DocumentText]:
        params = query({"offset": start, "max_chars": length})
        answer: Answer = yield from fetch(options, Request(path, params))
        patience = Patience(options)
        while answer.status == 202:
            yield Sleep(patience.pause(_pending(answer, id)))
            answer = yield from fetch(options, Request(path, params))
        return decode(DocumentText, answer.json())

    def run(options: Options) -> Call[DocumentText]:
        if not whole:
            return (yield from piece(options, offset, max_chars))
        first: DocumentText = yield from piece(options, None, _PIECE)
        pages = list(first.text)
        following = first.next_offset
        while following is not None:
            if following > MAX_TEXT:
                raise Error("invalid", f"the text has more than {MAX_TEXT} characters: read it with offset and max_chars")
            part: DocumentText = yield from piece(options, following, _PIECE)
            if part.sha256 != first.sha256 or not _beyond(part.next_offset, following):
                raise Error("integrity", "the document changed while it was read: read it again")
            _append(pages, part.text)
            following = part.next_offset
        return dataclasses.replace(first, text=pages, next_offset=None)

    return Single(run)


def _beyond(following: int | None, offset: int) -> bool:
    return following is None or following > offset


def _append(pages: list[DocumentPage], more: list[DocumentPage]) -> None:
    """Append pages of a text; the first may continue the last one."""
    for page in more:
        if pages and pages[-1].page == page.page:
            pages[-1] = dataclasses.replace(pages[-1], text=pages[-1].text + page.text)
        else:
            pages.append(page)


def _pending(answer: Answer, id: str) -> Error:
    return Error(
        "unavailable",
        f"the document of {id} is not read yet: try again later",
        status=answer.status,
        retry_after=retry_after(answer.headers),
    )


# Facts and the calendar.


def list_facts(
    kind: str | None = None,
    *,
    search: str | None = None,
    issuer: Names | None = None,
    from_: Day | None = None,
    to: Day | None = None,
    min_amount: Amount | None = None,
    currency: str | None = None,
    market: str | None = None,
    sector: str | None = None,
    watchlist: str | None = None,
    order: Literal["published", "amount"] | None = None,
    page_size: int = 50,
) -> Listing[FactRow]:
    """Return what documents state, such as the dividends or the shares that were bought back."""
    params: dict[str, Value] = {
        "kind": kind,
        "search": search,
        "issuer": issuer,
        "from": from_,
        "to": to,
        "min_amount": min_amount,
        "currency": currency,
        "market": market,
        "sector": sector,
        "watchlist": watchlist,
        "order": order,
        "limit": page_size,
    }
    return Listing("/api/v1/facts", query(params), FactRow, _whole)


def list_calendar(
    *,
    from_: Day | None = None,
    to: Day | None = None,
    issuer: Names | None = None,
    kind: str | None = None,
    market: str | None = None,
    sector: str | None = None,
    watchlist: str | None = None,
    page_size: int = 500,
) -> Listing[CalendarEntry]:
    """Return the dates that documents state, from today on unless days are given."""
    params: dict[str, Value] = {
        "from": from_,
        "to": to,
        "issuer": issuer,
        "kind": kind,
        "market": market,
        "sector": sector,
        "watchlist": watchlist,
        "limit": page_size,
    }
    return Listing("/api/v1/calendar", query(params), CalendarEntry, lambda entry: _id(entry, "uid"))


# Positions.


def list_shorts(
    *,
    issuer: Names | None = None,
    holder: str | None = None,
    from_: Day | None = None,
    to: Day | None = None,
    current: bool | None = None,
    market: str | None = None,
    sector: str | None = None,
    watchlist: str | None = None,
    as_of: Point | None = None,
    page_size: int = 50,
) -> Listing[ShortPosition]:
    """Return net short positions."""
    params: dict[str, Value] = {
        "issuer": issuer,
        "holder": holder,
        "from": from_,
        "to": to,
        "current": current,
        "market": market,
        "sector": sector,
        "watchlist": watchlist,
        "as_of": as_of,
        "limit": page_size,
    }
    return Listing("/api/v1/shorts", query(params), ShortPosition, _id)


def list_holdings(
    *,
    issuer: Names | None = None,
    holder: str | None = None,
    from_: Day | None = None,
    to: Day | None = None,
    current: bool | None = None,
    market: str | None = None,
    sector: str | None = None,
    watchlist: str | None = None,
    as_of: Point | None = None,
    page_size: int = 50,
) -> Listing[HoldingPosition]:
    """Return significant holdings of voting rights. Do not add them up: see docs/positions.md."""
    params: dict[str, Value] = {
        "issuer": issuer,
        "holder": holder,
        "from": from_,
        "to": to,
        "current": current,
        "market": market,
        "sector": sector,
        "watchlist": watchlist,
        "as_of": as_of,
        "limit": page_size,
    }
    return Listing("/api/v1/holdings", query(params), HoldingPosition, _id)


def list_own_shares(
    *,
    issuer: Names | None = None,
    from_: Day | None = None,
    to: Day | None = None,
    current: bool | None = None,
    market: str | None = None,
    sector: str | None = None,
    watchlist: str | None = None,
    as_of: Point | None = None,
    page_size: int = 50,
) -> Listing[HoldingPosition]:
    """Return the shares that issuers hold of themselves."""
    params: dict[str, Value] = {
        "issuer": issuer,
        "from": from_,
        "to": to,
        "current": current,
        "market": market,
        "sector": sector,
        "watchlist": watchlist,
        "as_of": as_of,
        "limit": page_size,
    }
    return Listing("/api/v1/own-shares", query(params), HoldingPosition, _id)


def list_dealings(
    *,
    issuer: Names | None = None,
    person: str | None = None,
    side: Literal["buy", "sell", "other"] | None = None,
    from_: Day | None = None,
    to: Day | None = None,
    min_amount: Amount | None = None,
    currency: str | None = None,
    market: str | None = None,
    sector: str | None = None,
    watchlist: str | None = None,
    as_of: Point | None = None,
    page_size: int = 50,
) -> Listing[DealingPosition]:
    """Return the notices of dealings of managers. ``person`` needs one ``issuer``."""
    params: dict[str, Value] = {
        "issuer": issuer,
        "person": person,
        "side": side,
        "from": from_,
        "to": to,
        "min_amount": min_amount,
        "currency": currency,
        "market": market,
        "sector": sector,
        "watchlist": watchlist,
        "as_of": as_of,
        "limit": page_size,
    }
    return Listing("/api/v1/dealings", query(params), DealingPosition, _id)


def short_totals(
    *,
    issuer: Names | None = None,
    market: str | None = None,
    sector: str | None = None,
    watchlist: str | None = None,
    as_of: Point | None = None,
    page_size: int = 50,
) -> Listing[ShortTotal]:
    """Return the sums of short positions by issuer, the largest first."""
    params: dict[str, Value] = {
        "issuer": issuer,
        "market": market,
        "sector": sector,
        "watchlist": watchlist,
        "as_of": as_of,
        "limit": page_size,
    }
    return Listing("/api/v1/shorts/totals", query(params), ShortTotal, _whole)


def short_series(issuer: str, *, as_of: Point | None = None) -> Listing[ShortPoint]:
    """Return how the sum of the short positions in one issuer changed."""
    params = query({"issuer": issuer, "as_of": as_of})
    return Listing("/api/v1/shorts/series", params, ShortPoint, lambda point: None, paged=False)


def get_position(id: str, *, as_of: Point | None = None) -> Single[Position]:
    """Return one position, as the model of its kind."""
    request = Request("/api/v1/positions/" + segment(id), query({"as_of": as_of}))

    def run(options: Options) -> Call[Position]:
        answer: Answer = yield from fetch(options, request)
        value = answer.json()
        return decode(POSITION_MODELS.get(str(value.get("kind")), Position), value)

    return Single(run)


def position_proof(id: str) -> Single[Proof]:
    """Return the proof that a position is in the log: see pregon.proofs.verify."""
    return _one(Proof, f"/api/v1/positions/{segment(id)}/proof")


# Issuers.


def search_issuers(
    search: str | None = None,
    *,
    kind: str | None = None,
    market: str | None = None,
    sector: str | None = None,
    limit: int = 50,
) -> Listing[Issuer]:
    """Return the issuers that match best: at most 50."""
    params = query({"search": search, "kind": kind, "market": market, "sector": sector, "limit": limit})
    return Listing("/api/v1/issuers", params, Issuer, _id, paged=False)


def get_issuer(id: str, *, as_of: Point | None = None) -> Single[IssuerDetail]:
    """Return one issuer in full, by tax number, ISIN, LEI or register number."""
    return _one(IssuerDetail, "/api/v1/issuers/" + segment(id), {"as_of": as_of})


# Watchlists.


def list_watchlists() -> Single[list[Watchlist]]:
    """Return the watchlists of the account."""
    return _data_of(Watchlist, Request("/api/v1/account/watchlists"))


def get_watchlist(id: str) -> Single[Watchlist]:
    """Return one watchlist."""
    return _one(Watchlist, _watchlist(id))


def create_watchlist(
    name: str,
    *,
    issuers: Iterable[str] = (),
    filters: Iterable[SavedSearch] = (),
) -> Single[Watchlist]:
    """Create a watchlist of issuers, by identifier, ticker or name, and saved searches."""
    body = {"name": name, "issuers": list(issuers), "filters": [_saved(search) for search in filters]}
    return _send(Watchlist, Request("/api/v1/account/watchlists", method="POST", body=body))


def update_watchlist(
    id: str,
    *,
    name: str | None = None,
    issuers: Iterable[str] | None = None,
    filters: Iterable[SavedSearch] | None = None,
    order: int | None = None,
) -> Single[Watchlist]:
    """Change what is given of a watchlist: issuers and filters replace all of theirs."""
    body: dict[str, Any] = {}
    if name is not None:
        body["name"] = name
    if issuers is not None:
        body["issuers"] = list(issuers)
    if filters is not None:
        body["filters"] = [_saved(search) for search in filters]
    if order is not None:
        body["order"] = order
    return _send(Watchlist, Request(_watchlist(id), method="PATCH", body=body))


def delete_watchlist(id: str) -> Single[None]:
    """Delete a watchlist."""

    def run(options: Options) -> Call[None]:
        yield from fetch(options, Request(_watchlist(id), method="DELETE"))

    return Single(run)


def add_to_watchlist(id: str, issuer: str) -> Single[Watchlist]:
    """Add an issuer to a watchlist, which may have it already."""
    return _send(Watchlist, Request(_watchlist(id) + "/entries", method="POST", body={"issuer": issuer}))


def remove_from_watchlist(id: str, issuer: str) -> Single[Watchlist]:
    """Remove an issuer from a watchlist, which may not have it."""
    return _send(Watchlist, Request(_watchlist(id) + "/entries", {"issuer": issuer}, method="DELETE"))


def _watchlist(id: str) -> str:
    return "/api/v1/account/watchlists/" + segment(id)


def _saved(search: SavedSearch) -> dict[str, Any]:
    return {"filter": search.filter, **({} if search.name is None else {"name": search.name})}


# Changes.


def follow_stream(
    *,
    after: str | int | None = None,
    events: Names | None = None,
    search: str | None = None,
    type: str | None = None,
    issuer: Names | None = None,
    from_: Day | None = None,
    to: Day | None = None,
    category: str | None = None,
    fact: str | None = None,
    min_amount: Amount | None = None,
    currency: str | None = None,
    kind: str | None = None,
    market: str | None = None,
    sector: str | None = None,
    without: str | None = None,
    watchlist: str | None = None,
    in_: Literal["document"] | None = None,
    position: Names | None = None,
    holder: str | None = None,
    min_percent: Amount | None = None,
    side: Literal["buy", "sell", "other"] | None = None,
) -> Following:
    """Return the changes as they happen, for ever. It needs a key.

    It begins after the cursor ``after``, or without one with the next change; ``after=0`` is
    the beginning of everything. When the connection breaks it connects again and continues
    where it was: no change is missing or given twice. If the first connection fails, the
    retries of the client count; later ones are made until one succeeds.

    An item is a Change, or a Reset if a backup of the service was restored.
    """
    params: dict[str, Value] = {
        "events": events,
        "search": search,
        "type": type,
        "issuer": issuer,
        "from": from_,
        "to": to,
        "category": category,
        "fact": fact,
        "min_amount": min_amount,
        "currency": currency,
        "kind": kind,
        "market": market,
        "sector": sector,
        "without": without,
        "watchlist": watchlist,
        "in": in_,
        "position": position,
        "holder": holder,
        "min_percent": min_percent,
        "side": side,
    }
    place = Place(None if after is None else check_cursor(after))
    sent = query(params)
    return Following(place, lambda options: stream(options, sent, place))


def list_changes(
    after: str | int,
    *,
    follow: bool = False,
    wait: int = 0,
    events: Names | None = None,
    search: str | None = None,
    type: str | None = None,
    issuer: Names | None = None,
    from_: Day | None = None,
    to: Day | None = None,
    category: str | None = None,
    fact: str | None = None,
    min_amount: Amount | None = None,
    currency: str | None = None,
    kind: str | None = None,
    market: str | None = None,
    sector: str | None = None,
    without: str | None = None,
    watchlist: str | None = None,
    in_: Literal["document"] | None = None,
    position: Names | None = None,
    holder: str | None = None,
    min_percent: Amount | None = None,
    side: Literal["buy", "sell", "other"] | None = None,
    page_size: int = 1000,
) -> Following:
    """Return the changes after a cursor, to the end of the log. It needs a key.

    ``after=0`` is the beginning of everything. If there is none yet, the service may wait
    ``wait`` seconds for the first, at most 25. With ``follow`` the call never ends, as a
    stream, and works also where a proxy does not let streams through.

    An item is a Change, or a Reset if a backup of the service was restored.
    """
    params: dict[str, Value] = {
        "events": events,
        "search": search,
        "type": type,
        "issuer": issuer,
        "from": from_,
        "to": to,
        "category": category,
        "fact": fact,
        "min_amount": min_amount,
        "currency": currency,
        "kind": kind,
        "market": market,
        "sector": sector,
        "without": without,
        "watchlist": watchlist,
        "in": in_,
        "position": position,
        "holder": holder,
        "min_percent": min_percent,
        "side": side,
        "limit": page_size,
    }
    place = Place(check_cursor(after))
    sent = query(params)
    return Following(place, lambda options: changes(options, sent, place, wait, follow))


# The rest.


def list_snapshots() -> Single[list[Snapshot]]:
    """Return the snapshots of everything, the newest first."""
    return _data_of(Snapshot, Request("/api/v1/bulk"))


def status() -> Single[dict[str, Any]]:
    """Return the state of the service and of its source, as the API answers it."""
    return _value(Request("/api/v1/status"))


def verifier_key() -> Single[str]:
    """Return the key of the log that the service states. Keep it: pregon.proofs.verify needs it."""

    def run(options: Options) -> Call[str]:
        answer: Answer = yield from fetch(options, Request("/log/vkey", headers={"Accept": "text/plain"}))
        return answer.body.decode("utf-8", "replace").strip()

    return Single(run)
