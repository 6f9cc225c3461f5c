"""The error of every call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Kind = Literal[
    "not_found",
    "unauthorized",
    "forbidden",
    "rate_limited",
    "invalid",
    "conflict",
    "unavailable",
    "connection",
    "integrity",
    "signature",
]


class Error(Exception):
    """The error of every call of this package.

    ``kind`` is one of

    - ``not_found``: there is no such report, issuer, position or document, or not any more;
    - ``unauthorized``: a key is missing, wrong or revoked;
    - ``forbidden``: the key is valid, but not for this;
    - ``rate_limited``: too many requests; ``retry_after`` has the seconds to wait;
    - ``invalid``: an argument is not allowed; the message and ``problem`` say which;
    - ``conflict``: it is not possible as things are now;
    - ``unavailable``: the service cannot answer now;
    - ``connection``: there was no answer, or it was cut off;
    - ``integrity``: a file, proof or answer is not what it should be;
    - ``signature``: a webhook is not signed with the secret, or too old; or a proof is not
      signed with a given key.

    ``status`` is the HTTP status, ``problem`` the problem document of the service, and
    ``retry_after`` the seconds after which to try again; each is None if there is none.
    """

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        status: int | None = None,
        problem: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.status = status
        self.problem = problem
        self.retry_after = retry_after

    @property
    def request_id(self) -> str | None:
        """The id of the request, by which the operator of the service finds it in the log."""
        instance = (self.problem or {}).get("instance")
        return instance if isinstance(instance, str) else None

    def __repr__(self) -> str:
        return f"Error({self.kind!r}, {str(self)!r}, status={self.status!r})"
