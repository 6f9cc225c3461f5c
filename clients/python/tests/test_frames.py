"""Data frames have the types of the fields, also when they are empty."""

import datetime
from decimal import Decimal

import pandas

from pregon._decode import decode
from pregon._frames import to_pandas
from pregon.models import DealingPosition, FactRow, Report, ShortPosition

SHORT = {
    "id": "short-1",
    "kind": "short",
    "issuer_id": None,
    "issuer_name": "X",
    "lei": None,
    "isin": "ES0SIM000010",
    "holder": "Y",
    "holder_erased": False,
    "date": "2026-03-04",
    "percent": "0.5",
    "current": True,
    "state": "current",
    "first_seen_at": "2026-07-01T00:30:00.5+02:00",
    "source_url": None,
    "later": {"of": "a newer service"},
}


def test_types():
    frame = to_pandas(ShortPosition, [decode(ShortPosition, SHORT)], "float")
    assert str(frame["percent"].dtype) == "float64"
    assert str(frame["date"].dtype) == "datetime64[ns]"
    assert str(frame["first_seen_at"].dtype) == "datetime64[ns, Europe/Madrid]"
    assert str(frame["current"].dtype) == "boolean"
    assert str(frame["isin"].dtype) == "string"
    assert frame["first_seen_at"][0].date() == datetime.date(2026, 7, 1)
    assert frame["lei"].isna().all()
    assert "attribution_source" in frame


def test_exact():
    frame = to_pandas(ShortPosition, [decode(ShortPosition, SHORT)], "exact")
    assert frame["percent"][0] == Decimal("0.5")


def test_empty_frames_have_the_same_types():
    for model, item in ((ShortPosition, SHORT),):
        full = to_pandas(model, [decode(model, item)], "float")
        pandas.testing.assert_series_equal(to_pandas(model, [], "float").dtypes, full.dtypes)
    for model in (Report, DealingPosition, FactRow):
        assert len(to_pandas(model, [], "float")) == 0
    assert to_pandas(FactRow, [], "float").groupby("company_name")["amount"].sum().empty


def test_facts_have_a_column_for_each_field():
    value = {
        "report_id": "oir-1",
        "type": "OIR",
        "company_name": "X",
        "ticker": None,
        "issuer_id": None,
        "title": "T",
        "published_at": "2026-11-19T16:14:11+01:00",
        "kind": "buyback_trades",
        "headline": None,
        "headline_en": None,
        "evidence": None,
    }
    one = decode(FactRow, {**value, "fields": {"amount": "10.50", "from": "2026-11-09", "currency": "EUR"}})
    two = decode(FactRow, {**value, "fields": {"shares": "3", "first_call": "2026-05-28T12:00", "kind": "odd"}})
    frame = to_pandas(FactRow, [one, two], "float")
    assert frame["amount"].tolist()[0] == 10.5 and frame["amount"].isna().tolist() == [False, True]
    assert frame["shares"][1] == 3
    assert frame["from"][0] == pandas.Timestamp("2026-11-09")
    assert frame["first_call"][1] == "2026-05-28T12:00"
    assert frame["kind"].tolist() == ["buyback_trades"] * 2 and frame["fact_kind"][1] == "odd"
    assert "fields" not in frame and "evidence" not in frame
