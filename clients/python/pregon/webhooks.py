"""Verifies the requests that a service sends to a webhook, signed as Standard Webhooks says."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Iterable, Mapping
from typing import Any

from ._changes import decode_change
from ._decode import json_object
from ._errors import Error
from .models import Change

# How far the time of a request may be from that of this machine, in seconds.
TOLERANCE = 300.0


def verify(
    body: bytes | str,
    headers: Mapping[str, Any],
    secret: str | Iterable[str],
    *,
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> Change:
    """Return the change of a request, or raise an Error of the kind ``signature``.

    ``headers`` are those of any framework: texts, bytes, or lists of them. ``body`` is what came, not JSON that was encoded again. ``secret`` is that of the webhook
    (``whsec_…``), or several while one is replaced. A delivery can come twice: keep the
    header ``webhook-id`` of those that were processed. The event of a sample that was asked
    for with ``…/test`` is ``webhook.test``, and its cursor is empty.
    """
    content = _encode(body) if isinstance(body, str) else bytes(body)
    lower = {_header_text(name).lower(): value for name, value in headers.items()}
    id = _header(lower, "webhook-id")
    timestamp = _header(lower, "webhook-timestamp")
    signatures = _header(lower, "webhook-signature").split()

    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 16):
        raise Error("signature", "the header webhook-timestamp is not a number of seconds")
    age = (time.time() if now is None else now) - int(timestamp)
    if not abs(age) <= tolerance:
        raise Error(
            "signature",
            f"the request was signed {abs(age):.0f} seconds {'ago' if age > 0 else 'in the future'}, and "
            f"{tolerance:.0f} are allowed: it was repeated by a stranger, or the clock of this machine is wrong",
        )
    message = _encode(f"{id}.{timestamp}.") + content
    secrets = [secret] if isinstance(secret, str) else list(secret)
    wanted = [b"v1," + base64.b64encode(hmac.digest(_key(text), message, hashlib.sha256)) for text in secrets]
    # All are compared, so that the time does not say which one was right.
    matches = [hmac.compare_digest(given.encode(errors="replace"), want) for given in signatures for want in wanted]
    if not any(matches):
        raise Error("signature", "the request is not signed with this secret")
    decoded = json_object(content)
    if decoded is None:
        raise Error("integrity", "the body of the request is not a JSON object")
    if decoded.get("event") == "webhook.test":
        decoded.setdefault("cursor", "")  # the sample of a test is not a change of the log
    return decode_change(decoded)


def _header(headers: Mapping[str, Any], name: str) -> str:
    value = headers.get(name)
    value = " ".join(map(_header_text, value)) if isinstance(value, (list, tuple)) else _header_text(value)
    if not value:
        raise Error("signature", f"the request does not have the header {name}")
    return value


def _header_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value if isinstance(value, str) else ""


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Error("signature", "the request has half a character, which nobody signs") from None


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.strip().removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise Error("invalid", "the secret is not one of a webhook: it begins with whsec_, and base64 follows")
    return key
