"""Data frames: a row for each item, a column for each field, with the types of the fields."""

from __future__ import annotations

import dataclasses
import datetime
import typing
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from ._decode import Model, value_type
from ._errors import Error
from .models import FactRow

if TYPE_CHECKING:
    import pandas
    import polars

Decimals = Literal["float", "exact"]

# The zone of the regulator, so that the day of a time is the day of the regulator.
ZONE = "Europe/Madrid"

# What the fields of facts are; all others are texts. See docs/facts.md.
_FACT_NUMBERS = (
    "gross_per_share",
    "revenue",
    "ebitda",
    "net_profit",
    "max_amount",
    "max_shares",
    "shares",
    "amount",
    "voting_rights",
    "capital",
    "new_shares",
    "price",
    "capital_after",
    "acceptance",
    "bought",
    "sold",
    "balance_shares",
    "balance_cash",
)
_FACT_DAYS = (
    "ex_date",
    "record_date",
    "payment_date",
    "ends_on",
    "from",
    "to",
    "as_of",
    "effective",
)

_Columns = dict[str, Any]
_Row = dict[str, Any]


def columns(model: type[Model]) -> _Columns:
    """Return the type of each column; the fields of an object inside are ``object_field``."""
    hints = typing.get_type_hints(model)
    result: _Columns = {}
    for field in dataclasses.fields(model):
        if field.name == "raw":
            continue
        hint = value_type(hints[field.name])
        if isinstance(hint, type) and issubclass(hint, Model):
            for name, inner in columns(hint).items():
                result[f"{field.name}_{name}"] = inner
        else:
            result[field.name.rstrip("_")] = hint
    return result


def row(item: Model) -> _Row:
    """Return the cells of an item."""
    hints = typing.get_type_hints(type(item))
    cells: _Row = {}
    for field in dataclasses.fields(item):
        if field.name == "raw":
            continue
        value = getattr(item, field.name)
        hint = value_type(hints[field.name])
        if isinstance(hint, type) and issubclass(hint, Model):
            inner = row(value) if value is not None else dict.fromkeys(columns(hint))
            for name, cell in inner.items():
                cells[f"{field.name}_{name}"] = cell
        else:
            cells[field.name.rstrip("_")] = value
    return cells


def table(model: type[Model], items: Iterable[Model]) -> tuple[_Columns, list[_Row]]:
    """Return the types of the columns, and the rows."""
    types = columns(model)
    if model is FactRow:
        return _facts(types, items)
    return types, [row(item) for item in items]


def _facts(types: _Columns, items: Iterable[Model]) -> tuple[_Columns, list[_Row]]:
    """Return facts with a column for each of their fields, such as ``shares`` and ``amount``."""
    types = {name: hint for name, hint in types.items() if name not in ("fields", "evidence")}
    rows = []
    for item in items:
        cells = row(item)
        fields: dict[str, str] = cells.pop("fields")
        cells.pop("evidence")
        for name, text in fields.items():
            column = f"fact_{name}" if name in FactRow.__dataclass_fields__ else name
            types.setdefault(column, _fact_type(name))
            cells[column] = _fact_value(name, text)
        rows.append(cells)
    if not rows:
        # A program that names a column works with no facts too.
        for name in (*_FACT_NUMBERS, *_FACT_DAYS, "currency"):
            types.setdefault(name, _fact_type(name))
    return types, rows


def _fact_type(name: str) -> Any:
    if name in _FACT_NUMBERS:
        return Decimal
    return datetime.date if name in _FACT_DAYS else str


def _fact_value(name: str, text: str) -> Any:
    kind = _fact_type(name)
    try:
        if kind is Decimal:
            return Decimal(text)
        # A time may follow the day: 2026-05-28T12:00.
        return datetime.date.fromisoformat(text[:10]) if kind is datetime.date else text
    except (ArithmeticError, ValueError):
        return None


def to_pandas(model: type[Model], items: Iterable[Model], decimals: Decimals) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError:
        raise Error("invalid", "to_frame needs pandas: pip install 'pregon[pandas]'") from None
    types, rows = table(model, items)
    series = {}
    for name, hint in types.items():
        cells = [cell.get(name) for cell in rows]
        if hint is datetime.datetime:
            series[name] = pandas.to_datetime(pandas.Series(cells, dtype=object), utc=True).dt.tz_convert(ZONE)
        elif hint is datetime.date:
            series[name] = pandas.to_datetime(pandas.Series(cells, dtype=object), errors="coerce")
        elif hint is Decimal and decimals == "float":
            numbers = [None if cell is None else float(cell) for cell in cells]
            series[name] = pandas.Series(numbers, dtype="float64")
        elif hint is bool:
            series[name] = pandas.Series(cells, dtype="boolean")
        elif hint is int:
            series[name] = pandas.Series(cells, dtype="Int64")
        elif hint is str:
            series[name] = pandas.Series(cells, dtype="string")
        else:
            series[name] = pandas.Series(cells, dtype=object)
    return pandas.DataFrame(series)


def to_polars(model: type[Model], items: Iterable[Model]) -> polars.DataFrame:
    try:
        import polars
    except ImportError:
        raise Error("invalid", "to_polars needs polars: pip install 'pregon[polars]'") from None
    types, rows = table(model, items)
    kinds = {
        datetime.datetime: polars.Datetime("us", "UTC"),
        datetime.date: polars.Date,
        Decimal: polars.Float64,
        bool: polars.Boolean,
        int: polars.Int64,
        str: polars.Utf8,
    }
    data = []
    for name, hint in types.items():
        cells = [cell.get(name) for cell in rows]
        if hint is datetime.datetime:
            cells = [None if cell is None else cell.astimezone(datetime.timezone.utc) for cell in cells]
        elif hint is Decimal:
            cells = [None if cell is None else float(cell) for cell in cells]
        data.append(polars.Series(name, cells, dtype=kinds.get(hint, polars.Object)))
    return polars.DataFrame(data)
