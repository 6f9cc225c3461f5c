"""What the service answers, with types.

Percentages and amounts are ``Decimal``, so that no digit is lost; times are datetimes with
a zone, and days are dates. All models have ``extra`` and ``raw``.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from ._decode import Model

ReportType = Literal["IP", "HR", "OIR"]
PositionKind = Literal["short", "holding", "own_shares", "dealing"]

# The fields that every report has.
REPORT_FIELDS = (
    "id",
    "company_name",
    "ticker",
    "type",
    "title",
    "summary",
    "published_at",
    "cnmv_registration_number",
    "pdf_url",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution(Model):
    """Where the information comes from."""

    source: str
    url: str | None
    notice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote(Model):
    """The words of a document that state a value."""

    page: int
    quote: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Model):
    """What a document states. Values are texts: numbers with a point, dates as YYYY-MM-DD."""

    kind: str
    fields: dict[str, str]
    rows: list[dict[str, str]] | None = None
    evidence: dict[str, Quote] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRow(Model):
    """A fact with its report."""

    report_id: str
    type: str
    company_name: str
    ticker: str | None
    issuer_id: str | None
    title: str
    published_at: datetime.datetime
    kind: str
    fields: dict[str, str]
    headline: str | None
    headline_en: str | None
    evidence: dict[str, Quote] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Model):
    """A report as in lists. What follows ``pdf_url`` is only in searches and in full reports."""

    id: str
    company_name: str
    ticker: str | None
    type: str
    title: str
    summary: str | None
    published_at: datetime.datetime
    cnmv_registration_number: str
    pdf_url: str | None
    issuer_id: str | None = None
    categories: list[str] | None = None
    url: str | None = None
    """The page of the report at the service; only in searches."""
    facts: list[Fact] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Model):
    """A sentence of a summary, and where the document says so."""

    sentence: str
    page: int
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FilingDocument(Model):
    """The state of the document of a report."""

    status: str
    reason: str | None
    sha256: str | None
    type: str | None
    bytes: int | None
    pages: int | None
    method: str | None
    language: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedReport(Model):
    """A report that another one refers to."""

    id: str | None
    cnmv_registration_number: str
    published_at: datetime.datetime | None
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportDetail(Report):
    """A report in full."""

    nif: str | None
    categories_en: list[str]
    eu_class: str | None
    source_url: str | None
    related: list[RelatedReport]
    corrected_by: str | None
    time_precision: str | None
    suspect_time: bool
    registered_at: datetime.datetime
    first_seen_at: datetime.datetime
    available_at: datetime.datetime
    enriched_at: datetime.datetime | None
    text_ready_at: datetime.datetime | None
    summary_ready_at: datetime.datetime | None
    document: FilingDocument
    summary_method: str | None
    summary_language: str | None
    evidence: list[Evidence]
    summary_en: str | None
    evidence_en: list[Evidence]
    facts_ready_at: datetime.datetime | None
    headline: str | None
    headline_en: str | None
    attribution: Attribution
    as_of_seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(Model):
    """How many reports have one value."""

    value: str | None
    name: str
    name_en: str | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts(Model):
    """How many reports there are, by some property: one page of it."""

    by: str
    data: list[Count]
    total: int
    values: int
    page: int
    limit: int
    seq: int
    as_of_seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet(Model):
    """A passage of a document with words of a search, which are at ``marks``."""

    page: int
    text: str
    marks: list[list[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentHit(Model):
    """A report with the words of a search in its document."""

    report: Report
    snippets: list[Snippet]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPage(Model):
    """The text of one page of a document, or a part of it."""

    page: int
    text: str
    method: str
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineEntry(Model):
    """A heading of a document."""

    title: str
    page: int
    level: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentText(Model):
    """The text of a document."""

    id: str
    sha256: str
    type: str
    bytes: int
    pages: int
    language: str | None
    method: str
    notes: list[str]
    outline: list[OutlineEntry]
    text: list[DocumentPage]
    offset: int
    next_offset: int | None
    total_chars: int
    token_estimate: int
    text_ready_at: datetime.datetime | None
    pdf_url: str | None
    attribution: Attribution

    def __str__(self) -> str:
        """Return the text of all pages, with an empty line between two pages."""
        return "\n\n".join(page.text for page in self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarEntry(Model):
    """A date that a document states."""

    uid: str
    date: datetime.date
    time: datetime.datetime | None
    kind: str
    status: str
    issuer_id: str | None
    company_name: str
    report_id: str
    title: str
    title_en: str
    headline: str | None
    headline_en: str | None
    updated_at: datetime.datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer(Model):
    """An issuer as in lists."""

    id: str
    name: str
    cif: str | None
    ticker: str | None
    market: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Party(Model):
    """The manager or the depositary of a fund."""

    id: str | None
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuerDetail(Issuer):
    """An issuer in full."""

    kind: str | None
    sector: str | None
    isins: list[str]
    lei: str | None
    former_names: list[str]
    aliases: list[str]
    manager: Party | None
    depositary: Party | None
    capital: Decimal | None
    voting_rights: Decimal | None
    voting_rights_on: datetime.date | None
    report_count: int | None
    latest_reports: list[Report]
    attribution: Attribution
    as_of_seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Position(Model):
    """An entry of a register: what all kinds of positions have."""

    id: str
    kind: str
    issuer_id: str | None
    issuer_name: str | None
    lei: str | None
    state: str | None
    first_seen_at: datetime.datetime | None
    source_url: str | None
    attribution: Attribution | None = None
    as_of_seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortPosition(Position):
    """A net short position."""

    isin: str | None
    holder: str | None
    holder_erased: bool
    date: datetime.date
    percent: Decimal
    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldingPosition(Position):
    """A significant holding, or the own shares of an issuer."""

    holder: str | None
    holder_erased: bool
    number: str
    registered_on: datetime.date | None
    percent_shares: Decimal | None
    percent_direct: Decimal | None
    percent_indirect: Decimal | None
    percent_instruments: Decimal | None
    percent_total: Decimal | None
    current: bool
    annulled_by: str | None
    document_url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade(Model):
    """A row of a notice of dealings."""

    isin: str | None
    instrument: str | None
    nature: str
    side: str
    date: datetime.date
    venue: str | None
    volume: Decimal
    price: Decimal
    currency: str
    page: int
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DealingPosition(Position):
    """A notice of dealings of a manager or of somebody closely associated with one."""

    number: str
    registered_on: datetime.date | None
    person: str | None
    person_erased: bool
    relation: str | None
    rectifies: list[str]
    rectified_by: list[str]
    document_url: str | None
    document_status: str
    document_reason: str | None
    amount: Decimal | None
    currency: str | None
    aggregates: str | None
    trades: list[Trade] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortTotal(Model):
    """The sum of the published short positions in one issuer."""

    issuer_id: str | None
    issuer_name: str | None
    lei: str | None
    isin: str | None
    percent: Decimal
    holders: int
    date: datetime.date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortPoint(Model):
    """The sum of the published short positions of one issuer from a day on."""

    date: datetime.date
    percent: Decimal
    holders: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedIssuer(Model):
    """An issuer in a watchlist."""

    id: str
    name: str | None
    ticker: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSearch(Model):
    """A filter in a watchlist."""

    filter: dict[str, str]
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Watchlist(Model):
    """A list of issuers and saved searches. Secrets of links are only in ``raw``."""

    id: str
    name: str
    order: int
    entries: int
    issuers: list[ListedIssuer]
    filters: list[SavedSearch]
    key: str | None
    created_at: datetime.datetime
    updated_at: datetime.datetime
    share: Any = field(default=None, repr=False)
    feed: Any = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotFile(Model):
    """A file of a snapshot."""

    kind: str
    format: str
    url: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot(Model):
    """All reports, issuers and positions at one point of the log."""

    id: str
    seq: int
    cursor: str
    epoch: str
    as_of: datetime.datetime
    created_at: datetime.datetime
    partial: bool
    files: list[SnapshotFile]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof(Model):
    """Proves that a change is in the log: see pregon.proofs.verify."""

    seq: int
    index: int
    tree_size: int
    leaf: str
    hashes: list[str]
    checkpoint: str
    salt: str | None = None


Record = Report | Issuer | ShortPosition | HoldingPosition | DealingPosition


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Model):
    """A change of the log: an item of streams, of changes, and the body of a webhook."""

    event: str
    """What happened, such as ``report.published``."""
    cursor: str
    """Where to continue: keep it after the change was processed."""
    seq: int
    occurred_at: datetime.datetime
    changed: list[str]
    """The names of the fields that changed."""
    id: str
    """The id of the report, issuer or position."""
    record: Record | None = None
    """The report, issuer or position after the change; None if this version does not know its kind."""
    issuer_id: str | None = None
    corrected_by: str | None = None
    facts: list[Fact] | None = None
    registered_at: datetime.datetime | None = None
    first_seen_at: datetime.datetime | None = None
    available_at: datetime.datetime | None = None
    enriched_at: datetime.datetime | None = None
    text_ready_at: datetime.datetime | None = None
    summary_ready_at: datetime.datetime | None = None
    facts_ready_at: datetime.datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset(Model):
    """Not a change, but the message that a backup of the service was restored.

    Of what you have, all until ``time`` is in the log of the service too. What came after it
    may be gone, and comes again, with other cursors, when the service reads it again. Remove
    what you have of later changes, or load everything again; the changes that follow
    continue after ``cursor``. ``time`` is None if no common change is known.
    """

    event: str = "reset"
    reason: str
    cursor: str
    time: datetime.datetime | None
