"""Compares the OpenAPI document of the service with what this client knows.

What is new in the document fails a test, which says what. Either the client learns it, or it
is added to what is left out, with the reason.
"""

import inspect
import json
import os
import pathlib
import urllib.request

import pytest

from pregon import _calls, models
from pregon._changes import EVENTS
from pregon._decode import api_names

HERE = pathlib.Path(__file__).parent

# The operations of the client, by their id.
OPERATIONS = {
    "getReports": _calls.search_reports,
    "getReport": _calls.get_report,
    "getReportCounts": _calls.count_reports,
    "getReportProof": _calls.report_proof,
    "getReportDocument": _calls.document,
    "searchDocuments": _calls.search_documents,
    "getFacts": _calls.list_facts,
    "getCalendar": _calls.list_calendar,
    "getShorts": _calls.list_shorts,
    "getShortTotals": _calls.short_totals,
    "getShortSeries": _calls.short_series,
    "getHoldings": _calls.list_holdings,
    "getOwnShares": _calls.list_own_shares,
    "getDealings": _calls.list_dealings,
    "getPosition": _calls.get_position,
    "getPositionProof": _calls.position_proof,
    "getIssuers": _calls.search_issuers,
    "getIssuer": _calls.get_issuer,
    "getWatchlists": _calls.list_watchlists,
    "getWatchlist": _calls.get_watchlist,
    "createWatchlist": _calls.create_watchlist,
    "changeWatchlist": _calls.update_watchlist,
    "deleteWatchlist": _calls.delete_watchlist,
    "addToWatchlist": _calls.add_to_watchlist,
    "removeFromWatchlist": _calls.remove_from_watchlist,
    "streamEvents": _calls.follow_stream,
    "getChanges": _calls.list_changes,
    "getBulk": _calls.list_snapshots,
    "getStatus": _calls.status,
    "getVerifierKey": _calls.verifier_key,
}

# The parts of the API that are not in the client, by the beginning of the path, or by
# operation, and why.
LEFT_OUT_PATHS = {
    "/.well-known/": "documents for agents and programs that discover the service",
    "/api/auth/": "a token is exchanged by the program that has the assertion",
    "/api/mcp": "agents have clients of the Model Context Protocol",
    "/oauth/": "the protocol of applications that people connect",
    "/llms": "documents for agents",
    "/robots.txt": "for search engines",
    "/healthz": "for operators",
    "/readyz": "for operators",
    "/openapi": "the reference itself",
    "/log/tile/": "pregon verify checks the whole log",
    "/api/v1/account/alerts": "set up by people, in the console",
    "/api/v1/account/channels": "set up by people, in the console",
    "/api/v1/account/apps": "administration of an account, in the console",
    "/api/v1/account/keys": "administration of an account, in the console",
    "/api/v1/account/owners": "administration of a service",
    "/api/v1/account/sessions": "administration of an account, in the console",
    "/api/v1/account/usage": "administration of an account, in the console",
    "/api/v1/account/export": "administration of an account, in the console",
    "/api/v1/webhooks": "set up once, with curl or in the console; pregon.webhooks verifies what they send",
}
LEFT_OUT_OPERATIONS = {
    "getIndex": "a list of links",
    "getAccount": "administration of an account, in the console",
    "deleteAccount": "administration of an account, in the console",
    "getBulkFile": "bulk.download reads it, with ranges",
    "getCheckpoint": "a proof has its checkpoint; pregon verify compares checkpoints",
    "getChangeProof": "reports.proof and positions.proof prove the newest change",
    "getReportHistory": "client.changes has the changes of everything",
    "getIssuerHistory": "client.changes has the changes of everything",
    "getPositionHistory": "client.changes has the changes of everything",
    "getOwnership": "positions has the same, list by list",
    "getAnalytics": "statistics of the site; a frame of reports has them for any filter",
    "getCompleteness": "read by those who check a service",
    "getCalendarFeed": "for calendar programs",
    "getSuggestions": "for forms",
    "getValues": "for forms",
    "createStreamTicket": "for pages in a browser",
    "shareWatchlist": "links are made by people, in the console",
    "endWatchlistShare": "links are made by people, in the console",
    "renewWatchlistFeed": "links are made by people, in the console",
    "endWatchlistFeed": "links are made by people, in the console",
    "importWatchlist": "for the files of other programs; create and update take identifiers, tickers and names",
}

# Parameters that are in no call, and why.
LEFT_OUT_PARAMETERS = {
    "dialect": "of CSV",
    "page": "the client reads all pages",
    "fields": "a search always has all fields",
    "last_event_id": "after is the same",
    "ticket": "for pages in a browser",
}

# The names of parameters that differ in Python.
RENAMED = {
    "from_": "from",
    "in_": "in",
    "page_size": "limit",
}

# Arguments of calls that are no parameters of the API.
OWN_ARGUMENTS = {
    "getChanges": {"follow"},
    "createWatchlist": {"name", "issuers", "filters"},
    "changeWatchlist": {"name", "issuers", "filters", "order"},
    "addToWatchlist": {"issuer"},
}

# The model of each schema.
SCHEMAS = {
    "Attribution": models.Attribution,
    "CalendarEntry": models.CalendarEntry,
    "ChosenReport": models.Report,
    "Count": models.Count,
    "CountList": models.Counts,
    "DealingPosition": models.DealingPosition,
    "DocumentText": models.DocumentText,
    "Event": models.Change,
    "Evidence": models.Evidence,
    "Fact": models.Fact,
    "FactQuote": models.Quote,
    "FactRow": models.FactRow,
    "FilingDocument": models.FilingDocument,
    "HoldingPosition": models.HoldingPosition,
    "Issuer": models.Issuer,
    "IssuerDetail": models.IssuerDetail,
    "ListedIssuer": models.ListedIssuer,
    "Party": models.Party,
    "Proof": models.Proof,
    "RelatedReport": models.RelatedReport,
    "Report": models.Report,
    "ReportDetail": models.ReportDetail,
    "SavedSearch": models.SavedSearch,
    "ShortPoint": models.ShortPoint,
    "ShortPosition": models.ShortPosition,
    "ShortTotalRow": models.ShortTotal,
    "Snapshot": models.Snapshot,
    "SnapshotFile": models.SnapshotFile,
    "Snippet": models.Snippet,
    "Trade": models.Trade,
    "Watchlist": models.Watchlist,
}

# Fields of a schema that its model does not have, and why.
LEFT_OUT_FIELDS = {
    ("Event", "holder"): "of the record",
    ("Event", "holder_erased"): "of the record",
    ("Event", "person"): "of the record",
    ("Event", "person_erased"): "of the record",
    ("Event", "kind"): "of the record",
    ("Event", "state"): "of the record",
}


@pytest.fixture(scope="module")
def document():
    url = os.environ.get("PREGON_URL")
    if not url:
        pytest.skip("it compares with the service at PREGON_URL: TestClients in cmd/pregon runs it")
    with urllib.request.urlopen(url + "/openapi.json", timeout=60) as response:
        return json.load(response)


def operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method in ("get", "post", "patch", "put", "delete"):
                parameters = [*methods.get("parameters", []), *operation.get("parameters", [])]
                yield path, operation["operationId"], [resolve(document, one) for one in parameters]


def resolve(document, value):
    if "$ref" not in value:
        return value
    found = document
    for name in value["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return found


def test_every_operation_is_known(document):
    unknown = [
        f"{operation} ({path})"
        for path, operation, _ in operations(document)
        if operation not in OPERATIONS
        and operation not in LEFT_OUT_OPERATIONS
        and not path.startswith(tuple(LEFT_OUT_PATHS))
    ]
    assert not unknown, f"new operations: {unknown}: add them to the client, or to what this test leaves out"


def test_every_known_operation_exists(document):
    there = {operation for _, operation, _ in operations(document)}
    gone = (OPERATIONS.keys() | LEFT_OUT_OPERATIONS.keys()) - there
    assert not gone, f"operations that the service does not have: {sorted(gone)}"
    paths = list(document["paths"])
    stale = [start for start in LEFT_OUT_PATHS if not any(path.startswith(start) for path in paths)]
    assert not stale, f"paths that the service does not have: {stale}"


def test_every_parameter_is_known(document):
    wrong = []
    for _, operation, parameters in operations(document):
        call = OPERATIONS.get(operation)
        if call is None:
            continue
        has = {RENAMED.get(name, name) for name in inspect.signature(call).parameters}
        has -= OWN_ARGUMENTS.get(operation, set())
        wanted = {one["name"] for one in parameters if one["in"] != "header"}
        wrong += [f"{operation} lacks {name}" for name in wanted - has - LEFT_OUT_PARAMETERS.keys()]
        wrong += [f"{operation} has {name}, which the service ignores" for name in has - wanted]
    assert not wrong, f"{wrong}: add them to the calls of the client, or to what this test leaves out"


def test_every_field_is_known(document):
    wrong = []
    for name, model in SCHEMAS.items():
        fields = set(document["components"]["schemas"][name]["properties"])
        known = api_names(model)
        wrong += [f"{name}.{field}" for field in fields - known if (name, field) not in LEFT_OUT_FIELDS]
    assert not wrong, f"new fields: {wrong}: add them to pregon/models.py, or to what this test leaves out"


def test_every_event_is_known(document):
    events = set(document["components"]["schemas"]["Event"]["properties"]["event"]["enum"])
    assert events == EVENTS, f"events that differ: {sorted(events ^ EVENTS)}: change EVENTS in pregon/_changes.py"


def test_no_field_is_made_up(document):
    there = {}
    for name, model in SCHEMAS.items():
        there.setdefault(model, set()).update(document["components"]["schemas"][name]["properties"])
    # A list has fields of a report that the full report does not have, and the reverse.
    there[models.ReportDetail] |= there[models.Report]
    wrong = [f"{model.__name__}.{field}" for model, fields in there.items() for field in api_names(model) - fields - {"record"}]
    assert not wrong, f"fields that the service does not have: {wrong}"


def test_what_may_be_null_may_be_none(document):
    """A field that the service may leave out, or answer with null, is not demanded."""
    from pregon._decode import _plan

    wrong = []
    for name, model in SCHEMAS.items():
        schema = document["components"]["schemas"][name]
        if name == "ChosenReport":  # has the fields that were asked for, and the client asks for all
            continue
        for field, _, optional, required in _plan(model).values():
            if field not in schema["properties"]:
                continue
            kind = resolve(document, schema["properties"][field])
            arms = [resolve(document, arm).get("type") for arm in kind.get("anyOf", kind.get("oneOf", []))]
            nullable = "null" in kind.get("type", []) or "null" in arms
            demanded = required and not optional
            if demanded and (nullable or field not in schema.get("required", [])):
                wrong.append(f"{name}.{field}")
    assert not wrong, f"fields that may be missing or null: {wrong}"
