// Reads the Parquet files of an export with DuckDB and compares them with the JSON
// Lines of the same snapshot.
//
//   node parquet.mjs REPORTS.parquet REPORTS.jsonl ISSUERS.parquet ISSUERS.jsonl POSITIONS.parquet POSITIONS.jsonl
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { DuckDBInstance } from '@duckdb/node-api'

const [reportFile, reportLines, issuerFile, issuerLines, positionFile, positionLines] = process.argv.slice(2)
const db = await (await DuckDBInstance.create(':memory:')).connect()
const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjectsJson()
const lines = async (file) => (await readFile(file, 'utf8')).trim().split('\n').map((line) => JSON.parse(line))
const check = (name, got, want) => {
  assert.deepEqual(got, want, name)
  console.log('ok', name)
}
await db.run("SET TimeZone = 'UTC'")

const types = async (file) => Object.fromEntries((await rows(`DESCRIBE SELECT * FROM '${file}'`)).map((c) => [c.column_name, c.column_type]))
const time = 'TIMESTAMP WITH TIME ZONE'
const special = {
  published_at: time, first_seen_at: time, available_at: time, enriched_at: time, text_ready_at: time, summary_ready_at: time, facts_ready_at: time,
  cnmv_registration_number: 'BIGINT', document_pages: 'BIGINT', document_bytes: 'BIGINT', categories: 'VARCHAR[]', related: 'VARCHAR[]',
  isins: 'VARCHAR[]', former_names: 'VARCHAR[]', aliases: 'VARCHAR[]',
  rectifies: 'VARCHAR[]', rectified_by: 'VARCHAR[]', holder_natural: 'BOOLEAN', holder_erased: 'BOOLEAN', backfilled: 'BOOLEAN',
}
for (const file of [reportFile, issuerFile, positionFile]) {
  const got = await types(file)
  check(`types of ${Object.keys(got).length} columns`, got, Object.fromEntries(Object.keys(got).map((name) => [name, special[name] ?? 'VARCHAR'])))
  const codecs = await rows(`SELECT DISTINCT compression FROM parquet_metadata('${file}')`)
  check('compression', codecs, [{ compression: 'ZSTD' }])
  const lists = await rows(`SELECT name FROM parquet_schema('${file}') WHERE converted_type = 'LIST' OR logical_type LIKE 'ListType%'`)
  check('lists', lists.map((l) => l.name).sort(), Object.keys(got).filter((name) => got[name].endsWith('[]')).sort())
}

// Instants as microseconds: a Date has milliseconds only.
const micros = (t) => (t ? String(BigInt(Date.parse(t.replace(/\.\d+/, ''))) * 1000n + BigInt((t.match(/:\d\d\.(\d+)/)?.[1] ?? '').padEnd(6, '0').slice(0, 6))) : null)
const reports = await lines(reportLines)
const times = ['published_at', 'first_seen_at', 'available_at', 'enriched_at', 'text_ready_at', 'summary_ready_at', 'facts_ready_at']
const columns = ['id', 'type', 'company_name', 'title', 'summary', 'pdf_url', 'nif', 'source_url', 'corrected_by', 'summary_method', 'summary_en']
const got = await rows(`SELECT ${columns}, cnmv_registration_number AS number, categories, related, document_bytes, document_pages,
  ${times.map((t) => `epoch_us(${t}) AS ${t}`)} FROM '${reportFile}'`)
check('values of reports', got, reports.map((r) => ({
  ...Object.fromEntries(columns.map((c) => [c, r[c] ?? null])), number: r.cnmv_registration_number,
  categories: [...new Set((r.category ?? '').split(/\s+-\s+/).map((c) => c.trim()).filter(Boolean))],
  related: (r.related ?? []).map((o) => o.id ?? o.cnmv_registration_number),
  document_bytes: r.document?.bytes ? String(r.document.bytes) : null, document_pages: r.document?.pages ? String(r.document.pages) : null,
  ...Object.fromEntries(times.map((t) => [t, micros(r[t])])),
})))

const issuers = await lines(issuerLines)
check('values of issuers', await rows(`SELECT id, name, ticker, market, kind, isins, former_names FROM '${issuerFile}'`), issuers.map((i) => ({
  id: i.id, name: i.name, ticker: i.ticker ?? null, market: i.market ?? null, kind: i.kind ?? null, isins: i.isins ?? [], former_names: i.former_names ?? [],
})))
const joined = await rows(`SELECT count(*) AS n FROM '${reportFile}' r JOIN '${issuerFile}' i ON r.issuer_id = i.id WHERE i.ticker IS NOT NULL AND r.ticker IS NULL`)
check('reports have the ticker of their issuer', joined, [{ n: '0' }])

const positions = await lines(positionLines)
const texts = ['id', 'kind', 'issuer_name', 'holder', 'state', 'number', 'date', 'registered_on', 'percent', 'relation', 'aggregates', 'source_url', 'document_url']
check('values of positions', await rows(`SELECT ${texts}, rectifies, holder_natural, holder_erased, backfilled, trades IS NULL AS unread,
  epoch_us(first_seen_at) AS seen FROM '${positionFile}'`), positions.map((p) => ({
  ...Object.fromEntries(texts.map((c) => [c, p[c] ?? null])), rectifies: p.rectifies ?? [], holder_natural: p.natural ?? false, holder_erased: p.holder_erased ?? false,
  backfilled: p.backfilled ?? false, unread: p.document_status !== 'ready', seen: micros(p.first_seen_at),
})))
// The queries of docs/data.md.
const percents = await rows(`SELECT CAST(percent AS DECIMAL(9, 4)) AS percent FROM '${positionFile}' WHERE kind = 'short' AND state = 'current' ORDER BY percent DESC`)
const current = positions.filter((p) => p.kind === 'short' && p.state === 'current').map((p) => Number(p.percent)).sort((a, b) => b - a)
check('present short positions', percents.map((p) => Number(p.percent)), current)
const bought = await rows(`SELECT t->>'volume' AS volume, t->>'price' AS price
  FROM (SELECT *, unnest(CAST(trades AS JSON[])) AS t FROM '${positionFile}' WHERE kind = 'dealing') WHERE (t->>'side') = 'buy' AND (t->>'date') >= '2026-01-01'`)
check('trades', bought, positions.flatMap((p) => p.trades ?? []).filter((t) => t.side === 'buy' && t.date >= '2026-01-01').map((t) => ({ volume: t.volume, price: t.price })))
const amounts = await rows(`SELECT sum(CAST(amount AS DECIMAL(18, 2))) AS sum FROM '${positionFile}'`)
const sum = positions.flatMap((p) => p.trades ?? []).reduce((total, t) => total + t.volume * t.price, 0)
check('amounts', Number(amounts[0].sum).toFixed(2), sum.toFixed(2))
