"""Requests of a webhook, good and forged."""

import base64
import hashlib
import hmac
import json

import pytest

import pregon
from pregon import webhooks

SECRET = "whsec_" + base64.b64encode(b"a secret of the webhook").decode()
OTHER = "whsec_" + base64.b64encode(b"another secret").decode()
NOW = 1_800_000_000

BODY = json.dumps(
    {
        "id": "ip-1",
        "company_name": "X",
        "ticker": None,
        "type": "IP",
        "title": "Título",
        "published_at": "2026-11-16T07:41:12+01:00",
        "cnmv_registration_number": "1",
        "pdf_url": None,
        "seq": 4711,
        "cursor": "k3-4711",
        "event": "report.published",
        "occurred_at": "2026-11-16T07:41:13.02+01:00",
        "changed": [],
        "truncated": True,
    },
    ensure_ascii=False,
)


def signature(secret, body=BODY, id="msg_1", at=NOW):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return "v1," + base64.b64encode(hmac.digest(key, f"{id}.{at}.{body}".encode(), hashlib.sha256)).decode()


def headers(*signatures, at=NOW):
    return {"Webhook-Id": "msg_1", "Webhook-Timestamp": str(at), "Webhook-Signature": " ".join(signatures)}


def test_good():
    for body in (BODY, BODY.encode()):
        change = webhooks.verify(body, headers(signature(SECRET)), SECRET, now=NOW + 299)
        assert (change.event, change.cursor, change.record.title) == ("report.published", "k3-4711", "Título")
        assert change.record.summary is None


def test_two_signatures_or_secrets():
    both = headers(signature(OTHER), signature(SECRET))
    assert webhooks.verify(BODY, both, SECRET, now=NOW)
    assert webhooks.verify(BODY, headers("v1a,x", "ñ", "\udcff", signature(SECRET)), SECRET, now=NOW)
    assert webhooks.verify(BODY, headers(signature(SECRET)), [OTHER, SECRET], now=NOW)


def test_headers_of_frameworks():
    good = headers(signature(SECRET))
    assert webhooks.verify(BODY, {name: [value] for name, value in good.items()}, SECRET, now=NOW)
    assert webhooks.verify(BODY, {name.lower().encode(): value.encode() for name, value in good.items()}, SECRET, now=NOW)
    for odd in (None, 5, [], [None], [good["Webhook-Id"], "x"]):
        with pytest.raises(pregon.Error) as raised:
            webhooks.verify(BODY, {**good, "Webhook-Id": odd}, SECRET, now=NOW)
        assert raised.value.kind == "signature"


@pytest.mark.parametrize(
    "given, body",
    [
        (headers(signature(OTHER)), BODY),
        (headers(signature(SECRET)), BODY + " "),
        (headers(signature(SECRET)[:-4]), BODY),
        (headers(signature(SECRET).removeprefix("v1,")), BODY),
        (headers("v1,"), BODY),
        (headers(), BODY),
        ({}, BODY),
        (headers(signature(SECRET), at="now"), BODY),
        (headers(signature(SECRET), at=NOW + 1), BODY),
        ({**headers(signature(SECRET)), "Webhook-Id": "msg_2"}, BODY),
        ({**headers(signature(SECRET)), "Webhook-Id": "msg_\udcff"}, BODY),
        (headers(signature(SECRET)), "\ud800"),
    ],
)
def test_forged(given, body):
    with pytest.raises(pregon.Error) as raised:
        webhooks.verify(body, given, SECRET, now=NOW)
    assert raised.value.kind == "signature"
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize("body", ["[1]", "[" * 10**5, "{}", BODY.replace('"k3-4711"', "5")], ids=["list", "deep", "empty", "cursor"])
def test_bodies_that_are_none(body):
    with pytest.raises(pregon.Error) as raised:
        webhooks.verify(body, headers(signature(SECRET, body)), SECRET, now=NOW)
    assert raised.value.kind == "integrity"


@pytest.mark.parametrize("seconds", [-301, 301, 10**6])
def test_too_old_or_too_new(seconds):
    with pytest.raises(pregon.Error, match="seconds") as raised:
        webhooks.verify(BODY, headers(signature(SECRET)), SECRET, now=NOW + seconds)
    assert raised.value.kind == "signature"


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_ñ", "not base64!"])
def test_secrets_that_are_none(secret):
    with pytest.raises(pregon.Error) as raised:
        webhooks.verify(BODY, headers(signature(SECRET)), secret, now=NOW)
    assert raised.value.kind == "invalid"
