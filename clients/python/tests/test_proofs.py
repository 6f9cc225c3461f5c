"""Proofs of trees of all small sizes are accepted, and every alteration is refused."""

import base64
import hashlib
import json

import pytest

import pregon
from pregon import _ed25519, proofs

ORIGIN = "pregon.example/log"

REPORT = {
    "id": "ip-1",
    "type": "IP",
    "cnmv_registration_number": "1",
    "company_name": "X, S.A.",
    "ticker": None,
    "title": "«Título»",
    "summary": None,
    "published_at": "2026-11-19T16:14:11+01:00",
    "pdf_url": "http://127.0.0.1:8080/simulator/ver?t=1",
    "categories": ["Uno", "Dos"],
    "attribution": {"source": "x"},
    "later": 1,
}

RECORD = {
    "id": "ip-1",
    "type": "IP",
    "cnmv_registration_number": "1",
    "company_name": "X, S.A.",
    "title": "«Título»",
    "published_at": "2026-11-19T15:14:11Z",
    "category": "Uno - Dos  - Uno",
    "pdf_url": "https://regulator.example/ver?t=1",
}

POSITION = {"id": "holding-1", "kind": "holding", "state": "current", "current": True, "holder": "Doña María", "percent_total": "3.1"}


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def b64(data):
    return base64.b64encode(data).decode()


# An Ed25519 key that signs: RFC 8032, 5.1.6.


class Key:
    def __init__(self, seed):
        digest = hashlib.sha512(seed).digest()
        self.scalar = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | (1 << 254)
        self.prefix = digest[32:]
        self.public = _ed25519._encode(_ed25519._multiply(self.scalar, _ed25519._BASE))

    def sign(self, message):
        r = int.from_bytes(hashlib.sha512(self.prefix + message).digest(), "little") % _ed25519._L
        point = _ed25519._encode(_ed25519._multiply(r, _ed25519._BASE))
        h = int.from_bytes(hashlib.sha512(point + self.public + message).digest(), "little")
        return point + ((r + h * self.scalar) % _ed25519._L).to_bytes(32, "little")

    def id(self, name):
        return sha(name.encode(), b"\n\x01", self.public)[:4]

    def vkey(self, name=ORIGIN):
        return "+".join((name, self.id(name).hex(), b64(b"\x01" + self.public)))

    def line(self, text, name=ORIGIN):
        return f"\u2014 {name} {b64(self.id(name) + self.sign(text.encode()))}\n"


KEY = Key(b"k" * 32)


# The tree of RFC 6962, written as it defines it.


def split(leaves):
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return leaves[:k], leaves[k:]


def root(leaves):
    if len(leaves) == 1:
        return sha(b"\0", leaves[0])
    left, right = split(leaves)
    return sha(b"\1", root(left), root(right))


def path(index, leaves):
    if len(leaves) == 1:
        return []
    left, right = split(leaves)
    if index < len(left):
        return [*path(index, left), root(right)]
    return [*path(index - len(left), right), root(left)]


def prove(index, size, record, event="report.published", key=KEY, salt=None):
    leaf = {"seq": index + 1, "event": event, "time": "2026-11-19T15:14:12.000001Z", "changed": [], "record": record}
    leaves = [b"%d" % n for n in range(size)]
    leaves[index] = json.dumps(leaf, ensure_ascii=False, separators=(",", ":")).encode()
    text = f"{ORIGIN}\n{size}\n{b64(root(leaves))}\n"
    proof = {
        "seq": index + 1,
        "index": index,
        "tree_size": size,
        "leaf": b64(leaves[index]),
        "hashes": [b64(step) for step in path(index, leaves)],
        "checkpoint": text + "\n" + Key(b"w" * 32).line(text, "witness.example") + key.line(text),
    }
    return proof if salt is None else {**proof, "salt": b64(salt)}


def test_every_leaf_of_small_trees():
    for size in range(1, 14):
        for index in range(size):
            shown = proofs.verify(REPORT, prove(index, size, RECORD), KEY.vkey())
            assert (shown.seq, shown.tree_size, shown.origin) == (index + 1, size, ORIGIN)


def test_what_is_checked():
    shown = proofs.verify(json.dumps(REPORT), json.dumps(prove(2, 7, RECORD)), "\n" + KEY.vkey() + "\n")
    assert set(shown.unchecked) == {"attribution", "later", "ticker"}
    assert set(shown.checked) == REPORT.keys() - set(shown.unchecked)


def refused(kind, report, proof, vkey=None):
    with pytest.raises(pregon.Error) as raised:
        proofs.verify(report, proof, KEY.vkey() if vkey is None else vkey)
    assert raised.value.kind == kind, raised.value
    return str(raised.value)


def other(value):
    """Return another value of the same type."""
    if isinstance(value, list):
        return [*value, "x"]
    if value is None:
        return "x"
    if isinstance(value, str) and value.startswith("2026"):
        return "2026-11-19T16:14:12+01:00"
    return value + "x"


@pytest.mark.parametrize("field", sorted(REPORT.keys() - {"attribution", "later", "ticker"}))
def test_an_altered_field(field):
    message = refused("integrity", {**REPORT, field: other(REPORT[field])}, prove(0, 3, RECORD))
    assert field in message or field == "id"


@pytest.mark.parametrize("field", ["title", "company_name", "pdf_url"])
def test_a_field_that_is_missing(field):
    report = {name: value for name, value in REPORT.items() if name != field}
    assert f"{field} (missing)" in refused("integrity", report, prove(0, 3, RECORD))


def test_a_field_that_is_there_twice():
    text = json.dumps(REPORT).replace('"title"', '"title": "x", "title"', 1)
    assert "twice" in refused("integrity", text, prove(0, 3, RECORD))


@pytest.mark.parametrize("name", ["seq", "index", "tree_size"])
@pytest.mark.parametrize("value", [0, -1, 2, 100, None, True, "1", 1.0, 1 << 60])
def test_altered_numbers(name, value):
    proof = prove(0, 3, RECORD)
    if proof[name] != value or type(proof[name]) is not type(value):
        refused("integrity", REPORT, {**proof, name: value})


def test_altered_hashes():
    proof = prove(3, 9, RECORD)
    for at, step in enumerate(proof["hashes"]):
        for bad in (b64(sha(b"x")), "x", None, b64(b"short")):
            refused("integrity", REPORT, {**proof, "hashes": [*proof["hashes"][:at], bad, *proof["hashes"][at + 1 :]]})
    refused("integrity", REPORT, {**proof, "hashes": proof["hashes"][:-1]})
    refused("integrity", REPORT, {**proof, "hashes": [*proof["hashes"], step]})
    refused("integrity", REPORT, {**proof, "hashes": proof["hashes"] * 64})


def test_an_altered_leaf():
    proof = prove(0, 3, RECORD)
    refused("integrity", REPORT, {**proof, "leaf": prove(0, 3, {**RECORD, "title": "x"})["leaf"]})


def test_altered_checkpoints():
    proof = prove(0, 3, RECORD)
    note = proof["checkpoint"]
    refused("signature", REPORT, {**proof, "checkpoint": note.replace("\n3\n", "\n4\n")})
    refused("signature", REPORT, {**proof, "checkpoint": note.replace(ORIGIN, "other.example/log")})
    refused("signature", REPORT, {**proof, "checkpoint": note[: note.index("\u2014")]})
    for bad in ("", "x", note.replace("\n3\n", "\n03\n"), note.replace("\n3\n", "\n\n"), note.replace("\n\n", "\n")):
        refused("integrity", REPORT, {**proof, "checkpoint": bad})


def test_other_keys():
    proof = prove(0, 3, RECORD)
    refused("signature", REPORT, proof, Key(b"x" * 32).vkey())
    refused("signature", REPORT, proof, Key(b"w" * 32).vkey("witness.example"))
    for bad in ("", "x", KEY.vkey()[:-2], KEY.vkey("other")[5:], KEY.vkey().replace("+", "-")):
        refused("invalid", REPORT, proof, bad)
    assert proofs.verify(REPORT, proof, Key(b"x" * 32).vkey() + "\n" + KEY.vkey())


def test_another_report():
    assert "ip-2" in refused("integrity", {**REPORT, "id": "ip-2"}, prove(0, 3, RECORD))


@pytest.mark.parametrize("given", [None, 5, []])
def test_what_is_no_report(given):
    refused("integrity", given, prove(0, 3, RECORD))
    refused("integrity", REPORT, given)


def test_a_proof_of_an_issuer():
    refused("integrity", REPORT, prove(0, 3, RECORD, event="issuer.updated"))


# Parts of a report.


def shown(recorded, given, noun="report"):
    """Verify an answer whose record has these fields too."""
    if noun == "report":
        return proofs.verify({**REPORT, **given}, prove(0, 3, {**RECORD, **recorded}), KEY.vkey())
    record = {"id": "dealing-1", "kind": "dealing", "state": "current", **recorded}
    answer = {"id": "dealing-1", "kind": "dealing", "state": "current", **given}
    return proofs.verify(answer, prove(0, 3, record, "position.published"), KEY.vkey())


def differs(recorded, given, noun="report"):
    with pytest.raises(pregon.Error, match="differs") as raised:
        shown(recorded, given, noun)
    assert raised.value.kind == "integrity"


READ = {"status": "ready", "link": "https://a", "sha256": "ab", "type": "pdf", "pages": 2, "method": "text", "language": "es"}

DOCUMENT = {
    "status": "ready",
    "reason": None,
    "sha256": "ab",
    "type": "pdf",
    "bytes": 0,
    "pages": 2,
    "method": "text",
    "language": "es",
}

UNREAD = {**dict.fromkeys(DOCUMENT), "status": "pending", "reason": "The document waits for its turn to be read."}


def test_a_document():
    at = {"pdf_url": "https://a"}
    recorded = {**at, "document": READ}
    assert "document" in shown(recorded, {**at, "document": DOCUMENT}).checked
    assert "document.later" in shown(recorded, {**at, "document": {**DOCUMENT, "later": 1}}).unchecked
    for name, value in {"status": "failed", "reason": "x", "sha256": "x", "bytes": None, "pages": 3, "language": None}.items():
        differs(recorded, {**at, "document": {**DOCUMENT, name: value}})
    for value in (None, 5, "x", [], UNREAD):
        differs(recorded, {**at, "document": value})


@pytest.mark.parametrize("status", ["ready", "failed"])
def test_a_document_with_another_link(status):
    """The service reads a document again whose link has changed; until then it shows nothing of the old one."""
    at = {"pdf_url": "https://b"}
    recorded = {**at, "document": {**READ, "status": status}}
    verified = shown(recorded, {**at, "document": UNREAD})
    assert "document" in verified.checked and "document.reason" in verified.unchecked
    differs(recorded, {**at, "document": {**DOCUMENT, "status": status}})
    differs(recorded, {**at, "document": {**UNREAD, "sha256": "ab"}})


RELATED = {"id": "ip-0", "cnmv_registration_number": "0", "published_at": "2026-11-18T15:00:00Z", "text": "T"}


def test_related_reports():
    given = {**RELATED, "published_at": "2026-11-18T16:00:00+01:00"}
    assert "related" in shown({"related": [RELATED]}, {"related": [given]}).checked
    for value in (None, [], [{**given, "id": "ip-5"}], [{**given, "published_at": None}], [given, given]):
        differs({"related": [RELATED]}, {"related": value})
    differs({}, {"related": [given]})


def test_the_precision_of_a_time():
    assert "time_precision" in shown({"time_from": "list"}, {"time_precision": "minute"}).checked
    assert "time_precision" in shown({}, {"time_precision": None}).checked
    differs({"time_from": "list"}, {"time_precision": "second"})


def test_a_name_that_is_not_shown():
    """It may be withheld only as one that was erased."""
    recorded = {"holder_sealed": "0" * 64}
    assert "person" in shown(recorded, {"person": None, "person_erased": True}, "position").checked
    differs(recorded, {"person": None, "person_erased": False}, "position")
    assert {"person", "person_erased"} <= set(shown(recorded, {"person": "X", "person_erased": False}, "position").unchecked)
    differs({"holder": "X"}, {"person": "X", "person_erased": True}, "position")


EVIDENCE = {"sentence": "S", "page": 1, "quote": "Q"}


def test_evidence():
    recorded = {"evidence": [{"text": "S", "page": 1, "quote": "Q"}]}
    assert "evidence" in shown(recorded, {"evidence": [EVIDENCE]}).checked
    assert "evidence.later" in shown(recorded, {"evidence": [{**EVIDENCE, "later": None}]}).unchecked
    for value in (None, 5, [], ["x"], [{**EVIDENCE, "page": True}], [{**EVIDENCE, "quote": "x"}], [EVIDENCE, EVIDENCE]):
        differs(recorded, {"evidence": value})
    differs({}, {"evidence": None})


FACT = {"kind": "dividend", "fields": {"gross_per_share": "1"}}


def test_facts():
    recorded = {"facts": [FACT], "facts_rules": "3"}
    assert "facts" in shown(recorded, {"facts": [FACT]}).checked
    detailed = shown(recorded, {"facts": [{**FACT, "rows": [], "evidence": {}}]})
    assert "facts.rows and facts.evidence" in detailed.unchecked
    for value in (None, 5, [], ["x"], [{**FACT, "headline": "x"}], [{**FACT, "fields": {**FACT["fields"], "x": "y"}}]):
        differs(recorded, {"facts": value})


def test_facts_of_a_document_without_any():
    assert "facts" in shown({"facts_rules": "3"}, {"facts": []}).checked
    differs({"facts_rules": "3"}, {"facts": None})
    assert "facts" in shown({}, {"facts": None}).checked
    differs({}, {"facts": []})


TRADE = {
    "nature": "N",
    "side": "buy",
    "date": "2026-01-02",
    "volume": "2",
    "price": "3",
    "currency": "EUR",
    "page": 1,
    "quote": "Q",
}

SHOWN_TRADE = {**TRADE, "isin": None, "instrument": None, "venue": None}


def test_trades():
    recorded = {"document_status": "ready", "trades": [TRADE]}
    given = {"trades": [SHOWN_TRADE], "amount": "6.0"}
    assert {"trades", "amount"} <= set(shown(recorded, given, "position").checked)
    later = {"trades": [{**SHOWN_TRADE, "later": None}]}
    assert "trades.later" in shown(recorded, later, "position").unchecked
    for value in (None, 5, [], ["x"], [{**SHOWN_TRADE, "page": True}], [{**SHOWN_TRADE, "venue": "XMAD"}]):
        differs(recorded, {"trades": value}, "position")
    for value in (None, 6, [1], True, "x", "7", "sNaN"):
        differs(recorded, {"amount": value}, "position")
    differs({}, {"trades": []}, "position")


@pytest.mark.parametrize(
    "recorded",
    [
        {"facts": 5, "facts_rules": "1"},
        {"facts": ["x"], "facts_rules": "1"},
        {"evidence": 5},
        {"evidence": ["x"]},
        {"document": 5},
        {"document": ["x"]},
        {"published_at": 5},
        {"id": []},
    ],
)
def test_records_that_are_none(recorded):
    given = {"facts": [], "evidence": [], "document": {}}
    refused("integrity", {**REPORT, **given}, prove(0, 3, {**RECORD, **recorded}))


def test_half_a_character():
    salt = b"s" * 32
    sealed = position_record(holder_sealed=hashlib.sha256(salt + b"?").hexdigest())
    refused("integrity", {**POSITION, "holder": "\ud800"}, prove(1, 4, sealed, "position.updated", salt=salt))
    proof = prove(0, 3, RECORD)
    refused("integrity", REPORT, {**proof, "checkpoint": proof["checkpoint"].replace(ORIGIN, "\ud800")})
    refused("integrity", {**REPORT, "id": "\ud800"}, proof)
    refused("invalid", REPORT, proof, "\ud800" + KEY.vkey())


# Names of people.


def position_record(**sealed):
    return {"id": "holding-1", "kind": "holding", "state": "current", "percent": "3.1", **sealed}


def test_a_sealed_name():
    salt = b"s" * 32
    sealed = position_record(holder_sealed=hashlib.sha256(salt + POSITION["holder"].encode()).hexdigest())
    event = "position.published"
    assert "holder" in proofs.verify(POSITION, prove(1, 4, sealed, event, salt=salt), KEY.vkey()).checked
    assert "holder" in proofs.verify(POSITION, prove(1, 4, sealed, event), KEY.vkey()).unchecked
    refused("integrity", {**POSITION, "holder": "Otra"}, prove(1, 4, sealed, event, salt=salt))
    refused("integrity", POSITION, prove(1, 4, sealed, event, salt=b"t" * 32))


def test_an_erased_name():
    erased = position_record(holder_sealed="0" * 64, holder_erased=True)
    event = "position.backfilled"
    assert "holder" in proofs.verify({**POSITION, "holder": None}, prove(1, 4, erased, event), KEY.vkey()).checked
    refused("integrity", POSITION, prove(1, 4, erased, event))


def test_a_name_that_is_not_sealed():
    open_record = position_record(holder="Fondo, S.A.")
    event = "position.updated"
    assert proofs.verify({**POSITION, "holder": "Fondo, S.A."}, prove(1, 4, open_record, event), KEY.vkey())
    refused("integrity", POSITION, prove(1, 4, open_record, event))


# Signatures: the vectors of RFC 8032, 7.1.

VECTORS = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


@pytest.mark.parametrize("key, message, signature", VECTORS)
def test_signatures(key, message, signature):
    key, message, signature = (bytes.fromhex(text) for text in (key, message, signature))
    assert _ed25519.verify(key, message, signature)
    assert not _ed25519.verify(key, message + b"x", signature)
    for at in range(0, 64, 7):
        altered = bytearray(signature)
        altered[at] ^= 1
        assert not _ed25519.verify(key, message, bytes(altered))
    # s + L is the same scalar, and another signature.
    s = int.from_bytes(signature[32:], "little") + _ed25519._L
    assert not _ed25519.verify(key, message, signature[:32] + s.to_bytes(32, "little"))
    assert not _ed25519.verify(key[:31], message, signature)
    assert not _ed25519.verify(b"\xff" * 32, message, signature)
