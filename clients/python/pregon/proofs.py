"""Verifies, without a network, that the log of a service has a report or a position.

See docs/proofs.md for what a proof says, and what it does not say.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import datetime
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from . import _ed25519
from ._decode import Model, parse_time
from ._errors import Error
from .models import REPORT_FIELDS, Proof

# The longest proof or report that is read, and the longest checkpoint.
MAX_TEXT = 16 << 20
MAX_CHECKPOINT = 64 << 10

# More hashes than the proof of any leaf has.
_MAX_PATH = 64

_SIMULATED_ORIGIN = "https://regulator.example/"
_SIMULATED_PATH = "/simulator/"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What a proof shows."""

    origin: str
    """The name of the log."""
    tree_size: int
    """How many changes the log had when the proof was made."""
    seq: int
    """The number of the change."""
    event: str
    time: datetime.datetime
    record: Mapping[str, Any]
    """The report or position as it is in the log."""
    checked: tuple[str, ...]
    """The fields that are as in the log."""
    unchecked: tuple[str, ...]
    """The fields that the log does not have, or that were not compared: nothing is shown about them."""


def verify(
    report: Model | Mapping[str, Any] | str | bytes,
    proof: Proof | Mapping[str, Any] | str | bytes,
    vkey: str,
) -> Verified:
    """Verify that the log has a report or a position exactly so.

    ``report`` and ``proof`` are what the client answered, or the JSON texts as they were
    downloaded. ``vkey`` is the key of the log, or several, one a line: take it from a place
    that you trust. If the keys did not sign the checkpoint of the proof, the Error has the kind
    ``signature``; if anything else is wrong, ``integrity``. It says what. If report and proof
    are merely of different changes, get both again.
    """
    given = _object(report, "the report")
    parts = _object(proof, "the proof")
    origin, size, root = _open_checkpoint(_text(parts, "checkpoint"), vkey)
    seq, index, tree_size = (_number(parts, name) for name in ("seq", "index", "tree_size"))
    if tree_size != size or index != seq - 1 or not 0 <= index < size:
        raise Error("integrity", "the proof is of another tree than its checkpoint")
    leaf = _bytes(_text(parts, "leaf"), "leaf")
    hashes = parts.get("hashes")
    if not isinstance(hashes, list) or len(hashes) > _MAX_PATH:
        raise Error("integrity", "the hashes of the proof are not a list of at most 64")
    if _root(index, size, leaf, [_bytes(step, "hashes", 32) for step in hashes]) != root:
        raise Error("integrity", "the leaf and the hashes of the proof do not lead to the root of its checkpoint")
    change = _object(leaf, "the leaf")
    record = change.get("record")
    if _number(change, "seq") != seq or not isinstance(record, dict):
        raise Error("integrity", f"the leaf is not that of seq {seq}")

    event = _text(change, "event")
    noun, _, _ = event.partition(".")
    if noun not in ("report", "position"):
        raise Error("integrity", f"the proof is of {event}, not of a report or a position")
    id, recorded_id = _text(given, "id"), _text(record, "id")
    if id != recorded_id:
        raise Error("integrity", f"this is the {noun} {id}, the proof is of {recorded_id}")
    salt = None if parts.get("salt") is None else _bytes(parts["salt"], "salt")
    checked, unchecked, different = _compare(noun, given, record, salt)
    if different:
        raise Error(
            "integrity",
            f"the {noun} differs from seq {seq} of the log in {', '.join(different)}. "
            f"If it was changed since, get it and the proof again",
        )
    return Verified(
        origin=origin,
        tree_size=size,
        seq=seq,
        event=event,
        time=_read_time(change.get("time")),
        record=record,
        checked=tuple(checked),
        unchecked=tuple(unchecked),
    )


# The parts of a proof.


def _object(value: Model | Mapping[str, Any] | str | bytes, what: str) -> Mapping[str, Any]:
    if isinstance(value, Model):
        return value.raw
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, (str, bytes)):
        raise Error("integrity", f"{what} is {type(value).__name__}, not a JSON object")
    if len(value) > MAX_TEXT:
        raise Error("integrity", f"{what} is longer than {MAX_TEXT >> 20} MiB")
    try:
        decoded = json.loads(value, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise Error("integrity", f"{what} is not JSON: {error}") from error
    if not isinstance(decoded, dict):
        raise Error("integrity", f"{what} is not a JSON object")
    return decoded


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that is there twice: one value would be compared, and a reader might use the other."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a field is there twice")
    return members


def _text(parts: Mapping[str, Any], name: str) -> str:
    value = parts.get(name)
    if not isinstance(value, str):
        raise Error("integrity", f"the report or the proof does not have {name}")
    return value


def _number(parts: Mapping[str, Any], name: str) -> int:
    value = parts.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 48:
        raise Error("integrity", f"the proof does not have the number {name}")
    return value


def _bytes(value: Any, what: str, length: int | None = None) -> bytes:
    try:
        decoded = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError, TypeError):
        raise Error("integrity", f"{what} of the proof is not base64") from None
    if length is not None and len(decoded) != length:
        raise Error("integrity", f"{what} of the proof does not have {length} bytes")
    return decoded


def _sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def _root(index: int, size: int, leaf: bytes, path: list[bytes]) -> bytes | None:
    """Return the root to which a leaf and its audit path lead (RFC 9162, 2.1.3.2), or None."""
    at, last = index, size - 1
    root = _sha256(b"\0", leaf)
    for step in path:
        if last == 0:
            return None
        if at % 2 or at == last:
            root = _sha256(b"\1", step, root)
            while at % 2 == 0 and at:
                at, last = at // 2, last // 2
        else:
            root = _sha256(b"\1", root, step)
        at, last = at // 2, last // 2
    return root if last == 0 else None


def _open_checkpoint(note: str, vkey: str) -> tuple[str, int, bytes]:
    """Return the origin, the size and the root of a checkpoint that one of the keys signed."""
    keys = [_parse_key(line) for line in vkey.split("\n") if line.strip()]
    if not keys:
        raise Error("invalid", "vkey is empty: it is NAME+ID+KEY, such as the service states at /log/vkey")
    text, blank, signatures = note.partition("\n\n")
    lines = text.split("\n")
    if len(note) > MAX_CHECKPOINT or not blank or len(lines) < 3 or "" in lines:
        raise Error("integrity", "the checkpoint is not a signed note with the lines origin, size and root")
    if not (lines[1].isascii() and lines[1].isdigit()) or str(int(lines[1][:20])) != lines[1] or int(lines[1]) >= 1 << 48:
        raise Error("integrity", "the size of the checkpoint is not a number")
    try:
        signed = (text + "\n").encode()
    except UnicodeEncodeError:
        raise Error("integrity", "the checkpoint has half a character") from None
    for line in signatures.removesuffix("\n").split("\n"):
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.rpartition(" ")
        if dash != "\u2014" or name != lines[0]:
            continue  # of a witness
        signature = _bytes(encoded, "a signature")
        for key_name, key_id, key in keys:
            if key_name != name or key_id != signature[:4]:
                continue
            if not _ed25519.verify(key, signed, signature[4:]):
                raise Error("signature", "the signature of the checkpoint is wrong: its text was changed")
            return lines[0], int(lines[1]), _bytes(lines[2], "the root", 32)
    raise Error(
        "signature",
        "none of the given keys signed the checkpoint. If the log has a new key, or was restored, take its "
        "new key from a place that you trust",
    )


def _parse_key(line: str) -> tuple[str, bytes, bytes]:
    """Return the name, the id and the key of a verifier key: NAME+ID+KEY."""
    name, _, rest = line.strip().partition("+")
    id, _, encoded = rest.partition("+")
    try:
        key = base64.b64decode(encoded, validate=True)
        key_id = bytes.fromhex(id)
        own_id = _sha256(name.encode(), b"\n", key)[:4]
    except (binascii.Error, ValueError):
        key, key_id, own_id = b"", b"", b""
    if len(key) != 33 or key[0] != 1 or key_id != own_id:
        raise Error("invalid", "vkey is not NAME+ID+KEY of a log, such as the service states at /log/vkey")
    return name, key_id, key[1:]


# The comparison of an answer with the record in the log.

_Record = Mapping[str, Any]

# Returns the value of a field of an answer that follows from a record: JSON, or a rule.
_Expected = Callable[[_Record], Any]


class _Rule:
    """Decides whether a value of an answer is the one that a record demands."""

    def __init__(self, accepts: Callable[[Any], bool]) -> None:
        self.accepts = accepts


def _same(given: Any, expected: Any, path: str, unknown: set[str]) -> bool:
    """Report whether a value of an answer is the one expected, and note the fields that were not expected."""
    if isinstance(expected, _Rule):
        return expected.accepts(given)
    if isinstance(expected, dict):
        if not isinstance(given, Mapping):
            return False
        unknown.update(f"{path}.{name}" for name in given if name not in expected)
        return all(_same(given.get(name), value, f"{path}.{name}", unknown) for name, value in expected.items())
    if isinstance(expected, list):
        if not isinstance(given, list) or len(given) != len(expected):
            return False
        return all(_same(one, other, path, unknown) for one, other in zip(given, expected))
    # In Python, True == 1.
    return isinstance(given, bool) == isinstance(expected, bool) and bool(given == expected)


def _plain(name: str) -> _Expected:
    """Expect the member of this name. The log leaves out what is null or empty."""
    return lambda record: record.get(name) or None


def _read_time(value: Any) -> datetime.datetime:
    try:
        return parse_time(value)
    except (TypeError, ValueError):
        shown = repr(value[:40]) if isinstance(value, str) else type(value).__name__
        raise Error("integrity", f"{shown} is not a time") from None


def _time(name: str) -> _Expected:
    def expected(record: _Record) -> Any:
        if name not in record:
            return None
        recorded = _read_time(record[name])
        return _Rule(lambda value: value is not None and _read_time(value) == recorded)

    return expected


def _link(name: str) -> _Expected:
    """Expect an address. In those of the simulated market the service shows its own host."""

    def expected(record: _Record) -> Any:
        recorded = record.get(name) or None
        if not isinstance(recorded, str) or not recorded.startswith(_SIMULATED_ORIGIN):
            return recorded
        path = _SIMULATED_PATH + recorded.removeprefix(_SIMULATED_ORIGIN)

        def shown(value: Any) -> bool:
            return value == recorded or isinstance(value, str) and value.startswith("http") and value.endswith(path)

        return _Rule(shown)

    return expected


def _list(name: str) -> _Expected:
    return lambda record: record.get(name) or []


def _members(record: _Record, name: str) -> list[_Record]:
    """Return the objects of a list of a record."""
    members = record.get(name) or []
    if not isinstance(members, list) or not all(isinstance(member, Mapping) for member in members):
        raise Error("integrity", f"{name} of the record in the log is not a list of objects")
    return members


def _categories(record: _Record) -> Any:
    line = " ".join(str(record.get("category", "")).split())
    names = [name.strip() for name in f" {line} ".split(" - ")]
    return list(dict.fromkeys(name for name in names if name))


def _related(record: _Record) -> Any:
    return [
        {
            "id": one.get("id"),
            "cnmv_registration_number": one.get("cnmv_registration_number"),
            "published_at": _time("published_at")(one),
            "text": one.get("text"),
        }
        for one in _members(record, "related")
    ]


# How exact the time of publication is, by where it was read.
_PRECISIONS = {
    "list": "minute",
    "permalink": "second",
    "feed": "second",
}


def _time_precision(record: _Record) -> Any:
    return _PRECISIONS.get(str(record.get("time_from")))


def _evidence(name: str) -> _Expected:
    def expected(record: _Record) -> Any:
        return [
            {
                "sentence": one.get("text"),
                "page": one.get("page"),
                "quote": one.get("quote"),
            }
            for one in _members(record, name)
        ]

    return expected


_DOCUMENT_FIELDS = (
    "sha256",
    "type",
    "bytes",
    "pages",
    "method",
    "language",
)


def _document(record: _Record) -> Any:
    """Expect the document. Only a reason that the service itself recorded is in the log."""
    recorded = record.get("document") or {}
    if not isinstance(recorded, Mapping):
        raise Error("integrity", "document of the record in the log is not an object")
    status = recorded.get("status")
    link = record.get("pdf_url")
    described = dict.fromkeys(_DOCUMENT_FIELDS)
    if status is None:
        return {**described, "status": _Rule(lambda value: value in ("none", "pending"))}
    if status in ("ready", "failed") and link and link != recorded.get("link"):
        return {**described, "status": "pending"}  # it has another link now, and is read again
    described.update((name, recorded.get(name) or None) for name in _DOCUMENT_FIELDS)
    ready = status == "ready"
    return {
        **described,
        "status": status,
        "reason": recorded.get("reason") or None,
        "bytes": recorded.get("bytes", 0) if ready else None,
        "pages": recorded.get("pages", 0) if ready else None,
    }


# The parts of a fact of which the log has only a hash.
_FACT_DETAILS = ("rows", "evidence")


def _facts(record: _Record) -> Any:
    """Expect exactly these facts, but for their rows and quotes."""
    if "facts_rules" not in record:
        return None  # the document was not examined
    return [_fact({"fields": {}, **fact}) for fact in _members(record, "facts")]


def _fact(recorded: _Record) -> _Rule:
    def accepts(value: Any) -> bool:
        if not isinstance(value, Mapping):
            return False
        return {name: member for name, member in value.items() if name not in _FACT_DETAILS} == recorded

    return _Rule(accepts)


def _current(record: _Record) -> Any:
    return record.get("state") == "current"


# What the log leaves out of a trade if it is not known.
_EMPTY_TRADE = {
    "isin": None,
    "instrument": None,
    "venue": None,
}


def _trades(record: _Record) -> Any:
    if record.get("document_status") != "ready":
        return None
    return [{**_EMPTY_TRADE, **trade} for trade in _members(record, "trades")]


_NUMBER = re.compile(r"[0-9]{1,100}(\.[0-9]{1,100})?")


def _amount(record: _Record) -> Any:
    """The amount of a notice is that of all trades, if they have one currency."""
    trades = _members(record, "trades")
    if not trades or len({str(trade.get("currency")) for trade in trades}) > 1:
        return None
    try:
        amount = sum(Decimal(trade["volume"]) * Decimal(trade["price"]) for trade in trades)
    except (ArithmeticError, KeyError, TypeError, ValueError):
        raise Error("integrity", "a trade of the record in the log has no volume and price") from None

    def accepts(value: Any) -> bool:
        if not isinstance(value, str) or not _NUMBER.fullmatch(value):
            return False
        return Decimal(value) == amount

    return _Rule(accepts)


_FIELDS: dict[str, dict[str, _Expected]] = {
    "report": {
        **{
            name: _plain(name)
            for name in (
                "id",
                "type",
                "cnmv_registration_number",
                "company_name",
                "nif",
                "title",
                "summary",
                "summary_method",
                "summary_language",
                "summary_en",
                "corrected_by",
            )
        },
        **{
            name: _time(name)
            for name in (
                "published_at",
                "first_seen_at",
                "available_at",
                "enriched_at",
                "text_ready_at",
                "summary_ready_at",
                "facts_ready_at",
            )
        },
        "registered_at": _time("published_at"),
        "pdf_url": _link("pdf_url"),
        "source_url": _link("source_url"),
        "categories": _categories,
        "related": _related,
        "time_precision": _time_precision,
        "evidence": _evidence("evidence"),
        "evidence_en": _evidence("evidence_en"),
        "document": _document,
        "facts": _facts,
    },
    "position": {
        **{
            name: _plain(name)
            for name in (
                "id",
                "kind",
                "issuer_name",
                "lei",
                "isin",
                "state",
                "number",
                "date",
                "registered_on",
                "percent",
                "percent_shares",
                "percent_direct",
                "percent_indirect",
                "percent_instruments",
                "relation",
                "annulled_by",
                "document_reason",
                "aggregates",
            )
        },
        "percent_total": _plain("percent"),
        "first_seen_at": _time("first_seen_at"),
        "source_url": _link("source_url"),
        "document_url": _link("document_url"),
        "rectifies": _list("rectifies"),
        "rectified_by": _list("rectified_by"),
        "current": _current,
        "trades": _trades,
        "amount": _amount,
    },
}

# The fields that every answer has.
_REQUIRED = {
    "report": REPORT_FIELDS,
    "position": ("id", "kind", "state"),
}


def _compare(
    noun: str,
    given: Mapping[str, Any],
    record: _Record,
    salt: bytes | None,
) -> tuple[list[str], list[str], list[str]]:
    """Return the fields that are as in the record, that were not compared, and that differ."""
    rules = dict(_FIELDS[noun])
    if noun == "report" and record.get("ticker"):
        rules["ticker"] = _plain("ticker")  # otherwise it may come from the directory
    if noun == "position":
        names = [given[name] for name in ("holder", "person") if given.get(name) is not None]
        sealed = record.get("holder_sealed") and not record.get("holder_erased")
        if not (sealed and names and salt is None):
            for name in ("holder", "person"):
                rules[name] = _name(salt)
                rules[name + "_erased"] = _erased(bool(names))
    checked, unchecked, different = [], [], []
    unknown: set[str] = set()
    for name in sorted(given):
        rule = rules.get(name)
        if rule is None:
            unchecked.append(name)
        elif _same(given[name], rule(record), name, unknown):
            checked.append(name)
        else:
            different.append(name)
    unchecked += sorted(unknown)
    if "facts" in checked and any(name in fact for fact in given["facts"] or [] for name in _FACT_DETAILS):
        unchecked.append("facts.rows and facts.evidence")
    different += [f"{name} (missing)" for name in _REQUIRED[noun] if name not in given]
    return checked, unchecked, different


def _erased(named: bool) -> _Expected:
    """Expect a name that is not shown to be said to be erased."""
    return lambda record: bool(record.get("holder_erased")) or bool(record.get("holder_sealed")) and not named


def _name(salt: bytes | None) -> _Expected:
    """Expect the name of a holder, which the log may have only as a commitment."""

    def expected(record: _Record) -> Any:
        if record.get("holder_erased"):
            return None
        sealed = record.get("holder_sealed")
        if not sealed:
            return record.get("holder") or None

        def opens(value: Any) -> bool:
            if value is None and salt is None:
                return True  # it is not shown, and said to be erased
            try:
                name = value.encode() if isinstance(value, str) else b""
            except UnicodeEncodeError:
                return False  # half a character, which JSON can have
            return hashlib.sha256((salt or b"") + name).hexdigest() == sealed

        return _Rule(opens)

    return expected
