"""Runs clients/cases.json against the program: see clients/README.md."""

import asyncio
import contextlib
import dataclasses
import datetime
import hashlib
import json
import os
import pathlib
import tempfile
import threading
import urllib.parse
import urllib.request

import pytest

import pregon

SERVICE = os.environ.get("PREGON_URL", "")
KEY = os.environ.get("PREGON_KEY")
CONTROL = os.environ.get("PREGON_CONTROL", "")

# A case that takes longer fails.
LIMIT = 60.0

if not CONTROL:
    pytest.skip("TestClients in cmd/pregon runs it", allow_module_level=True)


def case_names():
    with open(os.environ["PREGON_CASES"], encoding="utf-8") as file:
        return [case["name"] for case in json.load(file)["cases"]]


def control(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(CONTROL + path, data=data, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=LIMIT) as response:
        text = response.read()
    return json.loads(text) if text else None


def python_name(name):
    """Return the name of an argument in Python."""
    if name in ("from", "in"):
        return name + "_"
    return name


POSITION_LISTS = {
    "short": "shorts",
    "holding": "holdings",
    "own_shares": "own_shares",
    "dealing": "dealings",
}

PAGED = {"reports.search", "facts.list", "calendar.list", "positions.list", "changes"}


class Outcome:
    """What a call gave to the caller."""

    def __init__(self, take):
        self.items = []
        self.resets = 0
        self.files = None
        self.take = take
        self.answer = None
        self.error = None


class Caller:
    """Makes the call of a case with either client."""

    def __init__(self, case, asynchronous):
        self.case = case
        self.asynchronous = asynchronous
        self.outcome = Outcome(case.get("take"))
        self.pending = list(case.get("during") or [])
        args = {python_name(name): value for name, value in (case.get("args") or {}).items()}
        if case["call"] in PAGED and "limit" in args:
            args["page_size"] = args.pop("limit")
        self.args = args

    def client(self):
        key = self.case.get("key") or KEY
        options = self.case.get("client") or {}
        kind = pregon.AsyncClient if self.asynchronous else pregon.Client
        return kind(SERVICE, None if key == "none" else key, **options)

    def call(self, client):
        """Return what the call returns, which the asynchronous client may have to await."""
        group, _, name = self.case["call"].rpartition(".")
        if self.case["call"] == "positions.list":
            name = POSITION_LISTS[self.args.pop("kind")]
        return getattr(getattr(client, group) if group else client, name)(**self.args)

    def act(self):
        """Do what the case wants when so many items were given."""
        while self.pending and self.pending[0]["after"] <= len(self.outcome.items):
            step = self.pending.pop(0)
            control(step["post"], step.get("body") or {})

    def give(self, item):
        """Keep an item, and report whether more are wanted."""
        if isinstance(item, pregon.Reset):
            self.outcome.resets += 1
        else:
            self.outcome.items.append(item)
            self.act()
        return self.outcome.take is None or len(self.outcome.items) < self.outcome.take

    def run(self):
        try:
            self.act()
            if self.case["call"] == "webhooks.verify":
                self.outcome.answer = pregon.webhooks.verify(**self.args)
            elif self.case["call"] == "proofs.verify":
                self.outcome.answer = pregon.proofs.verify(**self.args)
            elif self.asynchronous:
                asyncio.run(self.run_async())
            else:
                self.run_sync()
        except pregon.Error as error:
            self.outcome.error = error
        return self.outcome

    def run_sync(self):
        with contextlib.closing(self.client()) as client:
            if self.case["call"] == "bulk.download":
                kind, format, filters = self.split()
                with self.folder() as folder:
                    copy = client.bulk.download(folder, kinds=[kind], format=format)
                for item in client.changes(copy.cursor, **filters):
                    if not self.give(item):
                        break
                return
            result = self.call(client)
            if not hasattr(result, "__iter__"):
                self.outcome.answer = result
                return
            for item in result:
                if not self.give(item):
                    break

    async def run_async(self):
        async with self.client() as client:
            if self.case["call"] == "bulk.download":
                kind, format, filters = self.split()
                with self.folder() as folder:
                    copy = await client.bulk.download(folder, kinds=[kind], format=format)
                async for item in client.changes(copy.cursor, **filters):
                    if not self.give(item):
                        break
                return
            result = self.call(client)
            if not hasattr(result, "__aiter__"):
                result = await result
                if isinstance(result, list):
                    for item in result:
                        self.give(item)
                else:
                    self.outcome.answer = result
                return
            async for item in result:
                if not self.give(item):
                    break

    def split(self):
        """Return the arguments of a download, and those of the changes after it."""
        filters = dict(self.args)
        return filters.pop("kind"), filters.pop("format"), filters

    @contextlib.contextmanager
    def folder(self):
        """A folder for a download. The files that it has in the end are kept as their hashes."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                yield folder
            finally:
                paths = sorted(pathlib.Path(folder).iterdir())
                self.outcome.files = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]


def item_id(item):
    for name in ("cursor", "id", "uid", "report_id"):
        if hasattr(item, name):
            return getattr(item, name)
    raise AssertionError(f"an item without an id: {item}")


def value_at(value, path):
    for name in path.split("."):
        if isinstance(value, (list, tuple)):
            value = value[int(name)]
        elif isinstance(value, dict):
            value = value[name]
        else:
            value = getattr(value, python_name(name))
    return plain(value)


def plain(value):
    """Return a value as JSON has it."""
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat()
    if dataclasses.is_dataclass(value):
        return value.raw
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("name", case_names())
def test_case(name, asynchronous):
    case = control("/case", {"name": name})
    caller = Caller(case, asynchronous)
    thread = threading.Thread(target=run_and_keep, args=(caller,), daemon=True)
    thread.start()
    thread.join(LIMIT)
    assert not thread.is_alive(), f"it took longer than {LIMIT} seconds; items so far: {len(caller.outcome.items)}"
    if caller.failure is not None:
        raise caller.failure
    check(case, caller.outcome)


def run_and_keep(caller):
    caller.failure = None
    try:
        caller.run()
    except BaseException as failure:  # what fails in a thread is not seen otherwise
        caller.failure = failure


def check(case, outcome):
    expect = case["expect"]
    unknown = set(expect) - CHECKS.keys()
    assert not unknown, f"this runner does not know {unknown} of expect"
    if "error" not in expect and outcome.error is not None:
        raise outcome.error
    for name, wanted in {"reset": 0, **expect}.items():
        CHECKS[name](wanted, outcome)


def check_ids(wanted, outcome):
    assert [item_id(item) for item in outcome.items] == wanted


def check_ids_of(path, outcome):
    answer = control("/ids?path=" + urllib.parse.quote(path, safe=""))
    check_ids(answer["ids"][: outcome.take], outcome)


def check_files(wanted, outcome):
    assert outcome.files == wanted


def check_count(wanted, outcome):
    assert len(outcome.items) == wanted


def check_unique(wanted, outcome):
    ids = [item_id(item) for item in outcome.items]
    assert (len(set(ids)) == len(ids)) == wanted, [id for id in ids if ids.count(id) > 1]


def check_field(wanted, outcome):
    for path, value in wanted.items():
        assert value_at(outcome.answer, path) == value, path


def check_events(wanted, outcome):
    assert [item.event for item in outcome.items] == wanted


def check_reset(wanted, outcome):
    assert outcome.resets == wanted


def check_error(wanted, outcome):
    error = outcome.error
    assert error is not None, "no error was raised"
    for name, value in wanted.items():
        if name == "kind":
            assert error.kind == value, repr(error)
        elif name == "status":
            assert error.status == value, repr(error)
        elif name == "type":
            assert (error.problem or {}).get("type") == value, repr(error)
        elif name == "retry_after":
            assert (error.retry_after is not None) == value, repr(error)
        else:
            raise AssertionError(f"this runner does not know {name} of error")


def check_requests(wanted, outcome):
    made = control("/requests")
    assert wanted.get("min", 0) <= made["count"] <= wanted.get("max", made["count"]), made


CHECKS = {
    "ids": check_ids,
    "ids_of": check_ids_of,
    "count": check_count,
    "unique": check_unique,
    "files": check_files,
    "field": check_field,
    "events": check_events,
    "reset": check_reset,
    "error": check_error,
    "requests": check_requests,
}
