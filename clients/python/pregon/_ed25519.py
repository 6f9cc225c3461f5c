"""Verifies signatures of Ed25519, as RFC 8032 defines them.

It handles no secrets, so that it need not take constant time, and a proof needs one
signature, so that its few milliseconds do not matter.
"""

from __future__ import annotations

import hashlib

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)

# A point of the curve in extended coordinates: X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z.
_Point = tuple[int, int, int, int]

_ZERO: _Point = (0, 1, 1, 0)


def verify(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Report whether a signature of a message was made with the key."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    key = _decode(public_key)
    s = int.from_bytes(signature[32:], "little")
    if key is None or s >= _L:
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    h = int.from_bytes(digest, "little") % _L
    x, y, z, t = key
    return _encode(_add(_multiply(s, _BASE), _multiply(h, (_P - x, y, z, _P - t)))) == signature[:32]


def _add(one: _Point, other: _Point) -> _Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _multiply(scalar: int, point: _Point) -> _Point:
    result = _ZERO
    while scalar:
        if scalar & 1:
            result = _add(result, point)
        point = _add(point, point)
        scalar >>= 1
    return result


def _decode(encoded: bytes) -> _Point | None:
    """Return a point, or None if the bytes are not one in its normal form."""
    y = int.from_bytes(encoded, "little")
    sign = y >> 255
    y &= (1 << 255) - 1
    if y >= _P:
        return None
    x2 = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(x2, (_P + 3) // 8, _P)
    if (x * x - x2) % _P:
        x = x * _ROOT % _P
    if (x * x - x2) % _P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = _P - x
    return x, y, 1, x * y % _P


def _encode(point: _Point) -> bytes:
    inverse = pow(point[2], _P - 2, _P)
    x = point[0] * inverse % _P
    y = point[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _base() -> _Point:
    point = _decode((4 * pow(5, _P - 2, _P) % _P).to_bytes(32, "little"))
    assert point is not None
    return point


_BASE = _base()
