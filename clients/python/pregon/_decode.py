"""Decodes the JSON of the service into dataclasses, by the types of their fields."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import json
import re
import types
import typing
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

from ._errors import Error

M = TypeVar("M", bound="Model")

_Decoder = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What the service answered: the known fields, and everything as it came.

    A newer service may send fields that this version does not know. They are in ``extra``,
    and never an error.
    """

    raw: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False, compare=False)
    """The JSON object as the service sent it."""

    @property
    def extra(self) -> dict[str, Any]:
        """The fields that this version of the package does not know."""
        known = api_names(type(self))
        return {name: value for name, value in self.raw.items() if name not in known}


def json_object(text: str | bytes) -> dict[str, Any] | None:
    """Return a JSON object, or None if the text is none."""
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return decoded if isinstance(decoded, dict) else None


def api_names(model: type[Model]) -> frozenset[str]:
    """Return the names that the API has for the fields of a model."""
    return frozenset(name for name, _, _, _ in _plan(model).values())


def decode(model: type[M], value: Any) -> M:
    """Return the model of a JSON object."""
    if not isinstance(value, Mapping):
        raise Error("integrity", f"the answer has {type(value).__name__} in place of an object for {model.__name__}")
    fields: dict[str, Any] = {"raw": value}
    for attribute, (name, decoder, optional, required) in _plan(model).items():
        found = value.get(name)
        if found is None:
            if required and not optional:
                raise Error("integrity", f"the answer does not have {name}, which {model.__name__} always has")
            if required:
                fields[attribute] = None
            continue
        try:
            fields[attribute] = decoder(found)
        except (ValueError, TypeError, InvalidOperation, AttributeError) as error:
            shown = repr(found[:100]) if isinstance(found, str) else type(found).__name__
            raise Error("integrity", f"the answer has {shown} as {name} of {model.__name__}") from error
    return model(**fields)


_Plan = dict[str, tuple[str, _Decoder, bool, bool]]

_plans: dict[type[Model], _Plan] = {}


def _plan(model: type[Model]) -> _Plan:
    """Return, for each field, its name in the API, its decoder, and whether it may be null or must be there."""
    if model not in _plans:
        _plans[model] = _make_plan(model)
    return _plans[model]


def _make_plan(model: type[Model]) -> _Plan:
    hints = typing.get_type_hints(model)
    plan: _Plan = {}
    for field in dataclasses.fields(model):
        if field.name == "raw":
            continue
        hint = hints[field.name]
        optional = hint is Any or type(None) in typing.get_args(hint)
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        plan[field.name] = (field.name.rstrip("_"), _decoder(hint), optional, required)
    return plan


def value_type(hint: Any) -> Any:
    """Return the type of a field without None."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        rest = [arm for arm in typing.get_args(hint) if arm is not type(None)]
        if len(rest) == 1:
            return rest[0]
    return hint


def _decoder(hint: Any) -> _Decoder:
    hint = value_type(hint)
    if hint is datetime.datetime:
        return parse_time
    if hint is datetime.date:
        return datetime.date.fromisoformat
    if hint is Decimal:
        return _decimal
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin is list:
        item = _decoder(arguments[0])
        return lambda values: [item(value) for value in _typed(list, values)]
    if origin is dict:
        member = _decoder(arguments[1])
        return lambda values: {name: member(value) for name, value in _typed(dict, values).items()}
    if isinstance(hint, type) and issubclass(hint, Model):
        return functools.partial(decode, hint)
    if hint in (str, int, bool):
        return functools.partial(_typed, hint)
    return lambda value: value


def _typed(kind: type, value: Any) -> Any:
    if not isinstance(value, kind) or kind is int and isinstance(value, bool):
        raise TypeError(value)
    return value


def _decimal(value: Any) -> Decimal:
    if not isinstance(value, (str, int, float)):
        raise TypeError(value)
    decoded = Decimal(str(value))
    if not decoded.is_finite():
        raise ValueError(value)
    return decoded


_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")


def parse_time(text: str) -> datetime.datetime:
    """Return a time with its zone. Python 3.10 itself reads only some forms of RFC 3339."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(text)
    seconds, fraction, zone = match.groups()
    micros = (fraction or "").ljust(6, "0")[:6]
    return datetime.datetime.fromisoformat(f"{seconds}.{micros}{'+00:00' if zone == 'Z' else zone}")
