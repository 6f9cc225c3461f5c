// Shared by the checkers of the MCP server: the lines that report results, and
// arguments for everything that the server offers.
import assert from 'node:assert/strict'

// check reports whether a condition holds, and continues either way.
export async function check(what, holds) {
  try {
    const found = await holds()
    console.log(`ok    ${what}`)
    return found
  } catch (e) {
    console.log(`WRONG ${what}: ${e.message.slice(0, 2000)}`)
    process.exitCode = 1
  }
}

// sample finds a report with a document and its issuer, as arguments for
// the other calls. call takes a tool and arguments, and returns the
// structured content.
export async function sample(call) {
  const reports = (await call('search_reports', { type: 'OIR', limit: 50 })).data
  for (const { id } of reports.filter((f) => f.pdf_url)) {
    const report = await call('get_report', { id })
    if (report.document.status === 'ready' && report.issuer_id) {
      return { report: id, issuer: report.issuer_id, company: report.company_name, day: report.published_at.slice(0, 10) }
    }
  }
  assert.fail('no report of the newest fifty has a document that was read and an issuer')
}

// toolCalls are arguments for every tool there is. A tool that is missing here
// was forgotten, and the checkers say so.
export const toolCalls = (s) => ({
  search_reports: [{}, { search: s.company, type: 'OIR', issuer: s.issuer, from: s.day, to: s.day, limit: 5, page: 1 }, { limit: 50 }, { search: 'nosuchword' }],
  count_reports: [{ by: 'issuer' }, { by: 'month', search: s.company, type: 'OIR', limit: 50 }],
  list_values: ['category', 'market', 'sector', 'fact', 'type', 'kind', 'date'].map((of) => ({ of })),
  get_report: [{ id: s.report }],
  read_document: [{ id: s.report }, { id: s.report, offset: 10, max_chars: 20 }],
  search_issuers: [{}, { search: s.company, limit: 3 }],
  get_issuer: [{ id: s.issuer }],
  get_analytics: [{}],
  service_status: [{}],
  propose_alert: [{}, { search: s.company, type: 'OIR', url: 'https://receiver.example/reports' }],
  list_facts: [{}, { kind: 'dividend', issuer: s.issuer, from: s.day, to: s.day, limit: 5, page: 1 }, { kind: 'buyback_programme', order: 'amount', min_amount: '1' }],
  calendar: [{}, { kind: 'payment', issuer: s.issuer, from: s.day, limit: 5 }],
  get_ownership: [{ issuer: s.issuer }],
  list_dealings: [{}, { issuer: s.issuer, side: 'buy', from: '2020-01-01', limit: 5, page: 1 }],
  list_shorts: [{}, { of: 'issuers', limit: 5 }, { issuer: s.issuer, current: true }],
  list_watchlists: [{}],
  search: [{ query: s.company }, { query: 'nosuchword' }],
  fetch: [{ id: s.report }, { id: s.issuer }],
})

// templateCalls are URIs for every template.
export const templateCalls = (s) => ({
  'pregon://reports/{id}': [`pregon://reports/${s.report}`],
  'pregon://reports/search{?search,type,issuer,from,to,category,kind}': [
    'pregon://reports/search', 'pregon://reports/search?type=OIR', `pregon://reports/search?issuer=${s.issuer}&from=${s.day}`,
  ],
  'pregon://positions/search{?position,issuer,holder,min_percent,from,to}': [
    'pregon://positions/search', `pregon://positions/search?position=short,holding&issuer=${s.issuer}&from=2020-01-01`,
  ],
  'pregon://issuers/{id}': [`pregon://issuers/${s.issuer}`],
  'pregon://documents/{id}': [`pregon://documents/${s.report}`],
})

// promptCalls are arguments for every prompt, but for the language.
export const promptCalls = (s) => ({
  morning_briefing: [{}, { date: s.day }],
  issuer_brief: [{ issuer: s.company }],
  explain_filing: [{ id: s.report }],
})

export const resources = ['pregon://reports/latest', 'ui://pregon/filings-feed', 'ui://pregon/analytics', 'ui://pregon/issuer', 'skill://use-pregon/SKILL.md']
export const views = { search_reports: 'ui://pregon/filings-feed', get_analytics: 'ui://pregon/analytics', get_issuer: 'ui://pregon/issuer' }
export const viewType = 'text/html;profile=mcp-app'

export const sameNames = (got, want) => assert.deepEqual([...got].sort(), [...want].sort())
