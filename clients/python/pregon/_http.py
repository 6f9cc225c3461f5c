"""Requests, answers and retries, without a network: the clients only move bytes."""

from __future__ import annotations

import datetime
import email.utils
import ipaddress
import json
import random
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from ._decode import json_object
from ._errors import Error, Kind
from ._version import VERSION

USER_AGENT = f"pregon-python/{VERSION} Python/{sys.version_info.major}.{sys.version_info.minor}"

# The longest answer that is kept in memory. A page of the API has well under one megabyte,
# and the text of a document at most 200,000 characters.
MAX_BODY = 32 << 20

# The longest time that is waited before a request is repeated. If the service asks for
# more, the caller gets the error, with the time in retry_after.
MAX_WAIT = 60.0

# 202: a document is not read yet.
_REPEATED_STATUSES = frozenset({202, 429, 500, 502, 503, 504})

_LOOPBACK = ipaddress.IPv4Network("127.0.0.0/8")
_LOOPBACK6 = ipaddress.IPv6Address("::1")

_KINDS: dict[int, Kind] = {
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    409: "conflict",
    410: "not_found",
    429: "rate_limited",
}

# What a parameter of a request may be.
Value = str | int | float | bool | Decimal | datetime.date | Iterable[str] | None


@dataclass(frozen=True, slots=True)
class Request:
    """A request, relative to the address of the service."""

    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    """What is sent as JSON."""
    timeout: float | None = None
    """Seconds in which the whole answer must come; None for that of the client."""

    @property
    def repeatable(self) -> bool:
        """Reports whether the request may be sent again after a failure: a second one changes nothing more."""
        return self.method in ("GET", "PUT", "DELETE")

    @property
    def target(self) -> str:
        return self.path + ("?" + urlencode(self.params) if self.params else "")

    @property
    def content(self) -> bytes | None:
        return None if self.body is None else json.dumps(self.body).encode()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    def json(self) -> dict[str, Any]:
        """Return the decoded body, which must be a JSON object."""
        decoded = json_object(self.body)
        if decoded is None:
            raise Error(
                "integrity",
                "the answer is not a JSON object: check that base_url is the address of a Pregón service",
                status=self.status,
            )
        return decoded


def segment(text: str) -> str:
    """Return text as one segment of a path."""
    if text in ("", ".", ".."):
        raise Error("invalid", f"{text!r} is not an id")
    return quote(_whole_text("the id", text), safe="")


def _whole_text(name: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Error("invalid", f"{name} is {text[:100]!r}, which has half a character") from None
    return text


def query(values: Mapping[str, Value]) -> dict[str, str]:
    """Return the parameters of a request as the API writes them, without those that are None."""
    return {name: _text(name, value) for name, value in values.items() if value is not None}


def _text(name: str, value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise Error("invalid", f"{name} is a time without a zone: use datetime.now(timezone.utc), or a date")
        return value.isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, str):
        return _whole_text(name, value)
    if isinstance(value, (int, float, Decimal)):
        number = Decimal(str(value))
        if not number.is_finite():
            raise Error("invalid", f"{name} is {value}: use a number")
        return format(number, "f")
    try:
        return _whole_text(name, ",".join(value or ()))
    except TypeError:
        raise Error("invalid", f"{name} is {type(value).__name__}: use a text, or texts in a list") from None


def check_base_url(base_url: str, key: str | None, insecure_http: bool) -> str:
    """Return the address without a slash at its end, or raise an error if it cannot be used."""
    try:
        parts = urlsplit(base_url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Error("invalid", f"base_url is {base_url!r}: use an address such as https://pregon.example")
    if parts.query or parts.fragment or parts.username or parts.password:
        raise Error("invalid", "base_url must not have a query, a fragment or a password: pass the key as key=")
    if key and parts.scheme == "http" and not insecure_http and not is_loopback(parts.hostname):
        raise Error(
            "invalid",
            f"base_url is {base_url!r}, and a key would be sent to it without encryption: use https://, "
            "or insecure_http=True in a network that you trust",
        )
    return base_url.rstrip("/")


def uses_proxies(base_url: str) -> bool:
    """Report whether the proxies of the environment are used for an address.

    They are not for http to this machine: a proxy would receive the key without encryption.
    """
    parts = urlsplit(base_url)
    return parts.scheme != "http" or not is_loopback(parts.hostname or "")


def is_loopback(host: str) -> bool:
    """Report whether a host is this machine: localhost, 127.0.0.0/8 or ::1."""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address in _LOOPBACK or address == _LOOPBACK6


def client_headers(key: str | None) -> dict[str, str]:
    """Return the headers of all requests of a client."""
    headers = {
        "User-Agent": USER_AGENT,
        "Accept": "application/json",
        "Accept-Encoding": "gzip",
    }
    if key is None:
        return headers
    key = key.strip()  # a file with a key ends with a new line
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise Error("invalid", "the key is empty, or has a space or another character that no key has: copy it again")
    headers["Authorization"] = "Bearer " + key
    return headers


def error_of(answer: Answer) -> Error:
    """Return the error that an answer of 300 or more means."""
    problem = json_object(answer.body)
    texts = [problem[name] for name in ("detail", "title") if isinstance(problem.get(name), str)] if problem else []
    if texts:
        message = texts[0]
    elif 300 <= answer.status < 400:
        # A redirect is not followed, so that a key is never sent to another address.
        location = answer.headers.get("location", "another address")
        message = f"the service redirects to {location!r}: use the address of the service itself as base_url"
    else:
        message = f"the service answered with status {answer.status}"
    kind: Kind = _KINDS.get(answer.status, "unavailable" if answer.status >= 500 else "invalid")
    return Error(
        kind,
        message,
        status=answer.status,
        problem=problem if texts else None,
        retry_after=retry_after(answer.headers),
    )


def retry_after(headers: Mapping[str, str], now: datetime.datetime | None = None) -> float | None:
    """Return the seconds that the header Retry-After asks for, or None."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return min(float(value), 1e9)  # which is thirty years
    try:
        at = email.utils.parsedate_to_datetime(value)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=datetime.timezone.utc)
    now = now or datetime.datetime.now(datetime.timezone.utc)
    return max(0.0, (at - now).total_seconds())


def may_repeat(error: Error) -> bool:
    """Report whether a request that failed may succeed when it is repeated soon."""
    if error.kind == "connection":
        return True
    return error.status in _REPEATED_STATUSES and (error.retry_after or 0) <= MAX_WAIT


def delay(attempt: int, error: Error, rand: random.Random) -> float:
    """Return the seconds to wait before a request is sent again, after so many attempts.

    The time grows with each attempt and differs between clients, so that they do not all
    come back at once. It is never less than what the service asks for.
    """
    longest = min(30.0, 0.5 * 2.0 ** min(attempt - 1, 16))
    jitter = rand.uniform(longest / 2, longest)
    if error.retry_after is None:
        return jitter
    return min(MAX_WAIT, error.retry_after + rand.uniform(0, min(1.0, jitter)))
