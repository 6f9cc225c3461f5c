"""What the clients send, repeat, refuse and show, with a service that is a function."""

import asyncio
import datetime
import gzip
import inspect
import json
import random
from decimal import Decimal

import httpx
import pytest

import pregon
from pregon import _calls, _groups, _http
from pregon._decode import decode, parse_time

KEY = "pregon_live_secret"
ADDRESS = "https://pregon.example"

REPORT = {
    "id": "ip-1",
    "company_name": "X",
    "ticker": None,
    "type": "IP",
    "title": "T",
    "summary": None,
    "published_at": "2026-11-19T16:14:11+01:00",
    "cnmv_registration_number": "1",
    "pdf_url": None,
}


class Service:
    """Answers requests from a list, and keeps what came."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **options):
        options.setdefault("key", KEY)
        return pregon.Client(ADDRESS, transport=httpx.MockTransport(self), **options)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    waits = []
    monkeypatch.setattr("pregon._sync.time.sleep", waits.append)
    return waits


def ok(value):
    return httpx.Response(200, json=value)


def page(*ids, total, limit=2):
    return ok({"data": [{**REPORT, "id": id} for id in ids], "total": total, "limit": limit, "page": 1})


def problem(status, **headers):
    body = {"type": "urn:pregon:problem:x", "title": "X", "status": status, "detail": "why", "instance": "R1"}
    return httpx.Response(status, json=body, headers=headers)


# What is sent.


def test_headers():
    service = Service(page(total=0))
    list(service.client(key=KEY + "\n").reports.search("dividendo", from_=datetime.date(2026, 1, 2), issuer=["A", "B"]))
    request = service.requests[0]
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["user-agent"].startswith(f"pregon-python/{pregon.__version__}")
    parameters = dict(request.url.params)
    assert parameters["search"] == "dividendo"
    assert parameters["from"] == "2026-01-02"
    assert parameters["issuer"] == "A,B"
    assert "to" not in parameters


def test_ids_cannot_leave_their_path():
    service = Service(problem(404))
    with pytest.raises(pregon.Error):
        service.client().reports.get("../account?x=1#y")
    assert service.requests[0].url.raw_path == b"/api/v1/reports/..%2Faccount%3Fx%3D1%23y"
    with pytest.raises(pregon.Error, match="not an id"):
        service.client().reports.get("..")


def test_a_time_without_zone_is_refused():
    with pytest.raises(pregon.Error, match="without a zone"):
        Service().client().reports.get("ip-1", as_of=datetime.datetime(2026, 1, 1))


@pytest.mark.parametrize("given, sent", [(0.5, "0.5"), (3, "3"), (1e-07, "0.0000001"), (Decimal("1E+3"), "1000"), ("0.5", "0.5")])
def test_numbers(given, sent):
    assert _http.query({"min_percent": given}) == {"min_percent": sent}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), Decimal("NaN"), object(), [1], "\ud800", ["\ud800"]])
def test_arguments_that_are_none(value):
    with pytest.raises(pregon.Error, match="min_percent") as raised:
        Service().client().changes(0, min_percent=value)
    assert raised.value.kind == "invalid"


# The key.


@pytest.mark.parametrize("address", ["http://pregon.example", "http://10.0.0.1:8080", "http://127.0.0.1.example", "http://x.localhost"])
def test_no_key_without_encryption(address):
    with pytest.raises(pregon.Error, match="without encryption"):
        pregon.Client(address, KEY)
    pregon.Client(address)
    pregon.Client(address, KEY, insecure_http=True)


@pytest.mark.parametrize("address", ["http://127.0.0.1:8080", "http://[::1]:8080/", "http://localhost", ADDRESS + "/base/"])
def test_addresses_for_a_key(address):
    assert not pregon.Client(address, KEY).base_url.endswith("/")


@pytest.mark.parametrize("kind", [pregon.Client, pregon.AsyncClient])
def test_no_proxy_receives_the_key_of_this_machine(kind, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://proxy.example:3128")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    for address in ("http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"):
        http = kind(address, KEY)._runner.http
        assert http._transport_for_url(httpx.URL(address)) is http._transport
    https = kind(ADDRESS, KEY)._runner.http
    assert https._transport_for_url(httpx.URL(ADDRESS)) is not https._transport


@pytest.mark.parametrize("address", ["pregon.example", "ftp://x", "https://", "http://[", f"https://x/?key={KEY}", f"https://u:{KEY}@x/"])
def test_addresses_that_are_none(address):
    with pytest.raises(pregon.Error) as raised:
        pregon.Client(address)
    assert raised.value.kind == "invalid"


@pytest.mark.parametrize("key", ["", " ", "a b", "a\nb", "añb"])
def test_keys_that_are_none(key):
    with pytest.raises(pregon.Error) as raised:
        pregon.Client(ADDRESS, key)
    assert raised.value.kind == "invalid"


def test_the_key_is_never_shown():
    service = Service(httpx.ConnectError("no route"))
    client = service.client(retries=0)
    with pytest.raises(pregon.Error) as raised:
        client.reports.get("ip-1")
    shown = [repr(client), str(client), repr(raised.value), str(raised.value), repr(client.reports), repr(vars(client))]
    assert not any(KEY in text for text in shown)


def test_redirects_are_not_followed():
    service = Service(httpx.Response(307, headers={"location": "https://elsewhere.example/"}))
    with pytest.raises(pregon.Error, match="redirects to 'https://elsewhere.example/'") as raised:
        service.client().reports.get("ip-1")
    assert raised.value.kind == "invalid"
    assert len(service.requests) == 1


# Retries.


def test_retries_wait_as_the_service_says(no_waiting):
    service = Service(problem(503, **{"retry-after": "7"}), httpx.ReadError("cut"), page("ip-1", total=1))
    assert [report.id for report in service.client().reports.search()] == ["ip-1"]
    assert 7 <= no_waiting[0] <= 8
    assert 0 < no_waiting[1] <= 1


def test_retries_end(no_waiting):
    service = Service(*[problem(503)] * 10)
    with pytest.raises(pregon.Error) as raised:
        service.client(retries=3).reports.get("ip-1")
    error = raised.value
    assert (error.kind, error.status, error.problem["title"], error.request_id) == ("unavailable", 503, "X", "R1")
    assert len(service.requests) == 4
    assert no_waiting == sorted(no_waiting)


@pytest.mark.parametrize(
    "status, kind",
    [(401, "unauthorized"), (404, "not_found"), (409, "conflict"), (410, "not_found"), (422, "invalid"), (501, "unavailable")],
)
def test_kinds(status, kind):
    with pytest.raises(pregon.Error) as raised:
        Service(problem(status)).client().reports.get("ip-1")
    assert raised.value.kind == kind


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 416])
def test_mistakes_are_not_repeated(status):
    service = Service(problem(status))
    with pytest.raises(pregon.Error):
        service.client().reports.get("ip-1")
    assert len(service.requests) == 1


def test_a_long_wait_is_for_the_caller():
    service = Service(problem(429, **{"retry-after": "3600"}))
    with pytest.raises(pregon.Error) as raised:
        service.client().reports.get("ip-1")
    assert (raised.value.kind, raised.value.retry_after) == ("rate_limited", 3600)


def test_what_changes_something_is_sent_once():
    calls = [
        lambda lists: lists.create("mine", issuers=["A"]),
        lambda lists: lists.update("w1", name="mine"),
        lambda lists: lists.add("w1", "A"),
    ]
    for call in calls:
        for failure in (httpx.ReadError("cut"), problem(429), problem(503)):
            service = Service(failure)
            with pytest.raises(pregon.Error):
                call(service.client().watchlists)
            assert service.requests[0].method in ("POST", "PATCH")


def test_what_is_deleted_may_be_deleted_again():
    for call in (lambda lists: lists.delete("w1"), lambda lists: lists.remove("w1", "A")):
        service = Service(httpx.ReadError("cut"), problem(404))
        with pytest.raises(pregon.Error) as raised:
            call(service.client().watchlists)
        assert (raised.value.kind, len(service.requests)) == ("not_found", 2)


def test_what_is_sent_as_json():
    service = Service(problem(400))
    with pytest.raises(pregon.Error):
        service.client().watchlists.create("mine", issuers=["A"])
    assert json.loads(service.requests[0].content) == {"name": "mine", "issuers": ["A"], "filters": []}


@pytest.mark.parametrize(
    "value, seconds",
    [
        ("5", 5),
        ("", None),
        ("-1", None),
        ("soon", None),
        ("99999999999999", 1e9),
        ("Thu, 19 Nov 2026 00:00:00 +99999999999999", None),
        ("Thu, 19 Nov 2026 15:00:10 GMT", 10),
        ("Thu, 19 Nov 2026 14:00:00 GMT", 0),
    ],
)
def test_retry_after(value, seconds):
    now = datetime.datetime(2026, 11, 19, 15, tzinfo=datetime.timezone.utc)
    assert _http.retry_after({"retry-after": value}, now) == seconds


def test_waits_are_bounded():
    rand = random.Random(1)
    for attempt in (1, 2, 5, 100, 10**6):
        assert 0 < _http.delay(attempt, pregon.Error("connection", "x"), rand) <= 30
        assert _http.delay(attempt, pregon.Error("unavailable", "x", retry_after=60), rand) <= 60


# Pages.


def test_pages_that_shift():
    """A report that is published meanwhile moves the last one of a page to the next."""
    service = Service(page("c", "b", total=3), page("b", "a", total=4))
    assert [report.id for report in service.client().reports.search(page_size=2)] == ["c", "b", "a"]


def test_take_reads_no_more_pages():
    service = Service(page("c", "b", total=4))
    assert len(service.client().reports.search(page_size=2).take(2)) == 2
    assert len(service.requests) == 1


def test_pages_of_one_point():
    first = {"data": [{**REPORT, "id": "b"}], "total": 2, "limit": 1, "page": 1, "as_of_seq": 41}
    service = Service(ok(first), ok({**first, "data": [REPORT], "page": 2}))
    list(service.client().reports.search(as_of="2026-01-01", page_size=1))
    assert service.requests[1].url.params["as_of"] == "41"


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"[]",
        b"[" * 10**5,
        b"\xff",
        b'{"data": 5, "total": 1, "limit": 1}',
        b'{"data": [5]}',
        b'{"data": [{}], "limit": 1, "total": 1}',
        json.dumps({"data": [REPORT]}).encode(),
        json.dumps({"data": [{**REPORT, "title": 5}], "limit": 1, "total": 1}).encode(),
        json.dumps({"data": [{**REPORT, "title": True}], "limit": 1, "total": 1}).encode(),
        json.dumps({"data": [{**REPORT, "published_at": [5]}], "limit": 1, "total": 1}).encode(),
    ],
    ids=lambda body: ascii(body[:40]),
)
def test_answers_that_are_none_of_the_service(body):
    service = Service(httpx.Response(200, content=body))
    with pytest.raises(pregon.Error) as raised:
        list(service.client().reports.search())
    assert raised.value.kind == "integrity"


@pytest.mark.parametrize(
    "body",
    [b"[" * 10**5, b'{"detail": 5}', b'{"detail": [[]]}', b"\xff"],
    ids=lambda body: ascii(body[:40]),
)
def test_problems_that_are_none(body):
    with pytest.raises(pregon.Error, match="status 404") as raised:
        Service(httpx.Response(404, content=body)).client().reports.get("ip-1")
    assert (raised.value.kind, raised.value.problem) == ("not_found", None)


def test_a_problem_without_detail():
    problem = {"type": "about:blank", "title": "Not Found", "status": 404}
    with pytest.raises(pregon.Error, match="Not Found") as raised:
        Service(httpx.Response(404, json=problem)).client().reports.get("ip-1")
    assert raised.value.problem == problem


def test_an_item_without_an_id_is_kept_as_a_hash():
    """A list of facts can have millions of items: what is kept of each must be short."""
    assert len(_calls._whole({"title": "x" * 10**5})) == 32
    assert _calls._whole({"a": 1, "b": "\ud800"}) == _calls._whole({"b": "\ud800", "a": 1})
    assert _calls._whole({"evidence": 1}) != _calls._whole({"evidence": 2})


@pytest.mark.parametrize("entry", [{"uid": []}, {"uid": 5}, {"uid": None}])
def test_entries_of_the_calendar_that_are_none(entry):
    service = Service(ok({"data": [entry], "total": 1, "limit": 1}))
    with pytest.raises(pregon.Error) as raised:
        list(service.client().calendar.list())
    assert raised.value.kind == "integrity"


def test_answers_are_bounded(monkeypatch):
    monkeypatch.setattr("pregon._sync.MAX_BODY", 1000)
    service = Service(httpx.Response(200, content=b"x" * 1001))
    with pytest.raises(pregon.Error, match="MiB"):
        service.client().reports.get("ip-1")


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd", "gzip, gzip"])
@pytest.mark.parametrize("status", [200, 404])
def test_encodings_that_were_not_asked_for(encoding, status):
    stream = httpx.ByteStream(b"x")  # it is not decoded when the answer is made
    service = Service(httpx.Response(status, stream=stream, headers={"content-encoding": encoding}))
    with pytest.raises(pregon.Error, match="encoding") as raised:
        service.client().reports.get("ip-1")
    assert raised.value.kind == "integrity"
    assert service.requests[0].headers["accept-encoding"] == "gzip"


def test_an_encoded_answer():
    content = gzip.compress(json.dumps({"state": "live"}).encode())
    answer = httpx.Response(200, stream=httpx.ByteStream(content), headers={"content-encoding": "gzip"})
    assert Service(answer).client().status() == {"state": "live"}


def test_unknown_fields_are_kept():
    report = decode(pregon.models.Report, {**REPORT, "later": 5})
    assert report.extra == {"later": 5}
    assert report.raw["later"] == 5


@pytest.mark.parametrize("text", ["2026-11-19T16:14:11Z", "2026-11-19T16:14:11.5+01:00", "2026-11-19T16:14:11.123456789Z"])
def test_times(text):
    assert parse_time(text).tzinfo is not None


def test_a_pending_document_is_an_error_with_a_time():
    answer = httpx.Response(202, json={"id": "ip-1", "document": {}}, headers={"retry-after": "9"})
    with pytest.raises(pregon.Error) as raised:
        Service(answer).client(retries=0).document("ip-1")
    assert (raised.value.kind, raised.value.retry_after) == ("unavailable", 9)


def test_a_pending_document_is_asked_for_again(no_waiting):
    pending = httpx.Response(202, json={"id": "ip-1", "document": {}}, headers={"retry-after": "9"})
    service = Service(pending, pending, problem(410))
    with pytest.raises(pregon.Error) as raised:
        service.client().document("ip-1")
    assert (raised.value.kind, len(service.requests)) == ("not_found", 3)
    assert all(9 <= seconds <= 10 for seconds in no_waiting)


# Changes.


def change(seq, epoch="k3"):
    return {
        **REPORT,
        "id": f"ip-{seq}",
        "seq": seq,
        "cursor": f"{epoch}-{seq}",
        "event": "report.published",
        "occurred_at": "2026-11-19T16:14:11+01:00",
        "changed": [],
        "later": True,
    }


def stream(*events, hello=None):
    start = {"cursor": "k3-0", "after": 0, "reset": None, "reason": None, **(hello or {})}
    text = f"event: hello\ndata: {json.dumps(start)}\n\n"
    for name, value in events:
        text += f"id: {value.get('cursor', '')}\nevent: {name}\ndata: {json.dumps(value)}\n\n"
    content = httpx.ByteStream(text.encode())
    return httpx.Response(200, stream=content, headers={"content-type": "text/event-stream"})


def published(*seqs, epoch="k3"):
    return [("report.published", change(seq, epoch)) for seq in seqs]


def take(changes, count):
    with changes:
        return [next(changes) for _ in range(count)]


def test_a_stream_continues_and_repeats_nothing():
    service = Service(
        stream(*published(1, 2, 2, 1)),
        httpx.ReadError("cut"),
        problem(503),
        stream(*published(2, 3), ("status", {"state": "live"}), ("heartbeat", {"cursor": "k3-9"})),
        stream(*published(10)),
    )
    items = take(service.client(retries=0).stream(type="IP"), 4)
    assert [item.seq for item in items] == [1, 2, 3, 10]
    assert [request.url.params.get("after") for request in service.requests] == [None, "k3-2", "k3-2", "k3-2", "k3-9"]
    assert items[0].record.title == "T" and items[0].record.extra == {"later": True}


def test_a_reset_is_an_item():
    reset = {"reason": "restored", "after": "new-1", "time": None}
    service = Service(
        stream(*published(5)),
        stream(*published(2, epoch="new"), hello={"cursor": "new-1", "reset": reset}),
    )
    one, two, three = take(service.client().stream(after="k3-4"), 3)
    assert (one.cursor, three.cursor) == ("k3-5", "new-2")
    assert isinstance(two, pregon.Reset) and (two.cursor, two.event) == ("new-1", "reset")


def test_a_cursor_that_is_ahead_is_a_reset():
    service = Service(stream(*published(8), hello={"cursor": "k3-7", "reason": "ahead"}))
    one, two = take(service.client().stream(after=99), 2)
    assert isinstance(one, pregon.Reset) and two.seq == 8


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_stream_ends_when_it_is_refused(status):
    service = Service(stream(*published(1)), problem(status))
    changes = service.client().stream()
    assert next(changes).seq == 1
    with pytest.raises(pregon.Error) as raised:
        next(changes)
    assert raised.value.status == status


def raw(text):
    content = httpx.ByteStream(text.encode())
    return httpx.Response(200, stream=content, headers={"content-type": "text/event-stream"})


HELLO = 'event: hello\ndata: {"cursor": "k3-0"}\n\n'


def test_a_quiet_stream_that_is_cut_does_not_end():
    """A proxy may cut each connection before its first heartbeat."""
    service = Service(*[raw(HELLO)] * 8, stream(*published(1)))
    assert take(service.client(retries=2).stream(), 1)[0].seq == 1


def test_a_stream_without_a_hello_ends():
    service = Service(*[raw(": refused\n\n")] * 9)
    with pytest.raises(pregon.Error) as raised:
        next(service.client(retries=2).stream())
    assert (raised.value.kind, len(service.requests)) == ("connection", 3)


@pytest.mark.parametrize("retry, least, most", [(2000, 2, 3), (999999999, 60, 60)])
def test_the_time_that_a_stream_asks_for(retry, least, most, no_waiting):
    service = Service(raw(f"retry: {retry}\n" + HELLO), stream(*published(1)))
    take(service.client().stream(), 1)
    assert least <= no_waiting[0] <= most


@pytest.mark.parametrize(
    "event",
    [
        "event: notice\ndata: hello\n\n",
        "event: notice\ndata: [[[\n\n",
        "event: system.notice\ndata: hello\n\n",
        "event: system.notice\ndata: [1]\n\n",
        'event: system.notice\ndata: {"cursor": 5}\n\n',
        'event: system.notice\ndata: {"cursor": "k3-9"}\n\n',
        "event: heartbeat\nid: x\ndata: x\n\n",
        "event: goodbye\ndata: x\n\n",
    ],
)
def test_events_of_a_later_version(event):
    first = json.dumps(change(1))
    service = Service(raw(f"{HELLO}{event}event: report.published\ndata: {first}\n\n"))
    assert take(service.client(retries=0).stream(), 1)[0].seq == 1


@pytest.mark.parametrize(
    "text",
    [
        HELLO + "event: report.published\ndata: hello\n\n",
        HELLO + "event: report.published\ndata: " + "[" * 10**5 + "\n\n",
        HELLO + 'event: report.published\ndata: {"cursor": 5}\n\n',
        *(f"{HELLO}event: report.published\ndata: {json.dumps({**change(1), 'cursor': bad})}\n\n" for bad in (5, "x", None)),
        "event: hello\ndata: x\n\n",
        'event: hello\ndata: {"cursor": 5}\n\n',
        'event: hello\ndata: {"cursor": "x"}\n\n',
        'event: hello\ndata: {"cursor": "k3-1", "reset": 5}\n\n',
        'event: hello\ndata: {"cursor": "k3-1", "reset": {"after": 5}}\n\n',
    ],
    ids=lambda text: ascii(text[-60:]),
)
def test_streams_that_are_none_of_the_service(text):
    with pytest.raises(pregon.Error) as raised:
        changes = Service(raw(text)).client(retries=0).stream()
        while True:
            assert isinstance(next(changes), pregon.Reset)
    assert raised.value.kind == "integrity"


@pytest.mark.parametrize(
    "page",
    [
        {"next": 5},
        {"next": "x"},
        {"data": ["x"]},
        {"data": 5},
        {"data": [{**REPORT, "cursor": 5}]},
        {"data": [{**REPORT, "cursor": "x"}]},
        {"reset": 5},
        {"reset": "x"},
        {"reset": {"after": "x"}},
        {"reset": {"after": 5}},
        {"reset": {"after": "k3-1", "time": "x"}},
    ],
)
def test_pages_of_changes_that_are_none(page):
    service = Service(ok({"data": [], "reset": None, "next": "k3-1", "more": False, **page}))
    with pytest.raises(pregon.Error) as raised:
        list(service.client().changes(0))
    assert raised.value.kind == "integrity"


def test_changes_that_wait_end():
    body = {"data": [], "reset": None, "next": "k3-1", "more": False}
    service = Service(ok(body))
    assert list(service.client().changes(0, wait=25)) == []
    assert service.requests[0].url.params["wait"] == "25"


def test_changes_to_the_end():
    body = {"next_after": 0, "newest": 3, "ahead": False, "reset": None}
    service = Service(
        ok({**body, "data": [change(1), change(2)], "next": "k3-2", "more": True}),
        ok({**body, "data": [change(2), change(3)], "next": "k3-3", "more": False}),
    )
    changes = service.client().changes(0)
    assert [item.seq for item in changes] == [1, 2, 3]
    assert changes.cursor == "k3-3"
    assert [request.url.params["after"] for request in service.requests] == ["0", "k3-2"]


@pytest.mark.parametrize("cursor", ["", "k3-", "x", "k3-²", "K3-1", -1, "k3-1\n"])
def test_cursors_that_are_none(cursor):
    with pytest.raises(pregon.Error, match="not a cursor"):
        Service().client().changes(cursor)


# Both clients.


def test_the_asynchronous_client_has_the_same_calls():
    for name, group in vars(_groups).items():
        if not inspect.isclass(group) or not issubclass(group, _groups.Group):
            continue
        other = getattr(_groups, "Async" + name)
        calls = [call for call in vars(group) if not call.startswith("_")]
        assert calls == [call for call in vars(other) if not call.startswith("_")]
        for call in calls:
            one, two = getattr(group, call), getattr(other, call)
            assert inspect.signature(one).parameters == inspect.signature(two).parameters
            assert one.__doc__, call


def test_the_asynchronous_client():
    async def main():
        service = Service(page("b", total=2, limit=1), page("a", total=2, limit=1), stream(*published(1)))
        async with pregon.AsyncClient(ADDRESS, KEY, transport=httpx.MockTransport(service)) as client:
            ids = [report.id async for report in client.reports.search(page_size=1)]
            async with client.stream() as changes:
                return ids, (await changes.__anext__()).seq

    assert asyncio.run(main()) == (["b", "a"], 1)
