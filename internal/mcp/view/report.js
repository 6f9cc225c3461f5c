// Reports: as a row of a list, and in the pane.

const TYPES = ['IP', 'HR', 'OIR']
const SIMULATED = '[Simulación]'

const typeClass = (type) => (TYPES.includes(type) ? `of-${type}` : '')

const isSimulatedTitle = (title) => typeof title === 'string' && title.startsWith(SIMULATED)

// isSimulated reports whether an answer is about the simulated market.
function isSimulated(answer) {
  return host.simulated || /simulad|simulated/i.test(plain(answer?.attribution?.source)) ||
    [answer, ...asList(answer?.data), ...asList(answer?.latest_reports)].some((report) => isSimulatedTitle(report?.title))
}

function simulatedBanner(simulated) {
  return el('p', { class: 'simulated', hidden: !simulated }, el('strong', {}, t('simulated')), ' ', t('simulated_help'))
}

const KINDS = ['company', 'fund', 'manager', 'other']
const kindOf = (kind) => (KINDS.includes(kind) ? t(kind) : plain(kind))

// reportsOf returns the entries of a list that can be shown.
const reportsOf = (list) => asList(list).filter((report) => isObject(report) && plain(report.id))

function typeTag(type) {
  const known = TYPES.includes(type)
  const name = plain(type, '?').slice(0, 12)
  return el('span', { class: `badge ${typeClass(type)}`, title: known && t(type) },
    name, known && el('span', { class: 'unseen' }, `: ${t(type)}`))
}

function titleOf(report) {
  const title = plain(report.title, t('no_title'))
  if (!isSimulatedTitle(title)) return [title]
  return [el('span', { class: 'mark' }, SIMULATED), title.slice(SIMULATED.length)]
}

function companyLine(report, mark = null) {
  const ticker = plain(report.ticker).slice(0, 24)
  return el('p', { class: 'who' },
    el('bdi', { class: 'company' }, plain(report.company_name)), ' ', ticker && el('span', { class: 'ticker' }, ticker), ' ', mark)
}

function timeOf(report) {
  const time = plain(report.published_at)
  const thisYear = yearOf(time) === yearOf(new Date())
  const day = clock(time) && (thisYear ? shortDay(time) : inMadrid(time, { day: 'numeric', month: 'short', year: 'numeric' }))
  return el('time', { datetime: clock(time) && time, title: fullTime(time) },
    el('b', {}, clock(time) || '–'), ' ', el('span', {}, day || t('unknown_time')))
}

// reportRow is one report in a list. Its title is the button, which the style
// sheet stretches over the row: a screen reader hears a title, not everything.
function reportRow(report, isNew = false) {
  const id = plain(report.id)
  const summary = plain(report.summary)
  return el('li', { class: `row ${typeClass(report.type)} ${isNew ? 'new' : ''}` },
    el('div', { class: 'row-when' }, timeOf(report), typeTag(report.type)),
    el('div', { class: 'row-what' },
      companyLine(report, isNew && el('span', { class: 'tag fresh' }, t('new'))),
      el('h3', { dir: 'auto' },
        button(`open ${id}`, el('span', { class: 'row-title' }, titleOf(report)), () => openReport(report), { class: 'row-open' })),
      summary && el('p', { class: 'row-summary', dir: 'auto' }, summary)))
}

// --- one report

const reportOptions = { onissuer: null } // called to show all reports of an issuer

// openReport shows the report as in the list, then with all details.
function openReport(brief) {
  const page = {
    report: brief,
    failure: null,
    busy: false,
    title: () => titleOf(page.report),
    draw: () => drawReport(page),
  }
  openPage(page)
  if (host.canCall()) loadReport(page)
}

async function loadReport(page) {
  page.busy = true
  page.failure = null
  redraw(page)
  try {
    const report = await callTool('get_report', { id: page.report.id })
    const news = page.report.title === undefined // only its id was known
    page.report = { ...page.report, ...report }
    if (news) updateModelWith(page.report)
  } catch (error) {
    page.failure = error
  }
  page.busy = false
  redraw(page)
}

function updateModelWith(report) {
  if (report.title === undefined) return
  const { id, company_name, type, title, summary, published_at } = report
  updateModel({ id, company_name, type, title, summary, published_at })
}

pane.onchange = () => {
  markOpened()
  const { report } = pane.pages.at(-1) ?? {}
  if (report) updateModelWith(report)
  else updateModel(null)
}

// markOpened shows which row of the view's list is the one in the pane.
function markOpened() {
  const opened = `open ${pane.pages[0]?.report?.id}`
  for (const row of document.querySelectorAll('.own .row-open')) {
    if (row.dataset.key === opened) row.setAttribute('aria-current', 'true')
    else row.removeAttribute('aria-current')
  }
}

function drawReport(page) {
  const { report } = page
  const exact = report.time_precision !== 'minute'
  return [
    el('div', { class: 'meta' }, typeTag(report.type),
      TYPES.includes(report.type) && el('span', { 'aria-hidden': 'true' }, t(report.type)),
      report.published_at && el('time', {}, fullTime(report.published_at, exact))),
    companyLine(report),
    correction(report),
    page.failure && problem(page.failure, () => loadReport(page)),
    summaryOf(page),
    el('div', { class: 'actions' },
      link('document', t('open_document'), report.pdf_url),
      link('regulator', t('at_regulator'), report.source_url),
      reportOptions.onissuer && report.issuer_id && host.canCall() &&
        button('issuer', t('issuer_reports'), () => reportOptions.onissuer(report), { class: 'link' })),
    facts([
      [t('number'), plain(report.cnmv_registration_number)],
      [t('categories'), tagList(language === 'en' && asList(report.categories_en).length ? report.categories_en : report.categories)],
      [t('document'), documentFacts(report.document)],
      [t('first_seen'), report.first_seen_at && fullTime(report.first_seen_at)],
      [t('available'), report.available_at && fullTime(report.available_at)],
    ]),
    relatedTo(report),
    attributionOf(report.attribution),
  ]
}

function correction(report) {
  const id = plain(report.corrected_by)
  return id && el('p', { class: 'correction' }, t('corrected_by'), ' ', reportLink(id))
}

// reportLink opens another report from within one.
function reportLink(id) {
  if (!host.canCall()) return id
  return button(`related ${id}`, id, () => openReport({ id }), { class: 'link' })
}

// summaryOf shows each sentence, in English if possible for an English reader,
// with the words of the document that it rests on; a sentence that is the document's own is shown once, as a quotation.
function summaryOf({ report, busy }) {
  const english = language === 'en' ? asList(report.evidence_en) : []
  const evidence = (english.length ? english : asList(report.evidence)).filter((one) => isObject(one) && plain(one.sentence))
  if (!evidence.length) {
    const summary = plain(report.summary)
    if (summary) return el('section', { class: 'summary' }, el('h3', {}, t('summary')), el('p', { dir: 'auto' }, summary))
    return busy ? el('p', { class: 'note waiting' }, t('waiting')) : el('p', { class: 'note' }, noSummary(report))
  }
  const made = ['extractive', 'selected', 'model'].includes(report.summary_method) && t(`made_${report.summary_method}`)
  return el('section', { class: 'summary' },
    el('h3', {}, t('summary')),
    el('ol', { class: 'evidence' }, evidence.map(evidenceItem)),
    made && el('p', { class: 'note' }, made))
}

function evidenceItem({ sentence, quote, page }) {
  const where = Number.isInteger(page) ? t('page', { n: number(page) }) : ''
  if (plain(quote) === plain(sentence) || !plain(quote)) {
    return el('li', {},
      el('blockquote', { class: 'quote', dir: 'auto' }, plain(sentence)),
      plain(quote) && where && el('p', { class: 'cite' }, t('verbatim', { page: where })))
  }
  return el('li', {},
    el('p', { dir: 'auto' }, plain(sentence)),
    el('p', { class: 'cite' }, t('text_from')),
    el('blockquote', { class: 'quote', dir: 'auto' }, el('q', {}, plain(quote)), where && el('span', { class: 'cite' }, ` ${where}`)))
}

function noSummary(report) {
  const status = plain(report.document?.status)
  if (['pending', 'failed', 'none'].includes(status)) return t(`document_${status}`)
  return t(report.summary_method === 'none' ? 'made_none' : 'no_summary')
}

function documentFacts(file) {
  if (!isObject(file) || file.status !== 'ready') return ''
  return [
    plain(file.type).toUpperCase(),
    isCount(file.pages) && counted('pages_count', file.pages),
    fileSize(file.bytes),
    ['ocr', 'mixed'].includes(file.method) && t('scanned'),
  ].filter(Boolean).join(' · ')
}

function relatedTo(report) {
  const related = asList(report.related).filter(isObject)
  if (!related.length) return null
  return el('section', {},
    el('h3', {}, t('related')),
    el('ul', { class: 'related' }, related.map((one) => {
      const id = plain(one.id)
      return el('li', {},
        id ? reportLink(id) : `${t('number')} ${plain(one.cnmv_registration_number)}`, ' ',
        one.published_at && el('time', {}, fullTime(one.published_at, false)),
        plain(one.text) && el('p', { dir: 'auto' }, plain(one.text)))
    })))
}

// --- small lists

// facts shows names with their values and omits those without one.
function facts(entries) {
  const known = entries.filter(([, value]) => value)
  return known.length > 0 && el('dl', { class: 'facts' }, known.map(([name, value]) =>
    el('div', {}, el('dt', {}, name), el('dd', {}, value))))
}

function tagList(values) {
  const names = texts(values)
  return names.length > 0 && el('ul', { class: 'tags' }, names.map((name) => el('li', { class: 'tag' }, name)))
}

function attributionOf(attribution) {
  if (!isObject(attribution)) return null
  return el('p', { class: 'attribution' },
    plain(attribution.source), plain(attribution.source) && '. ', plain(attribution.notice), ' ',
    link('origin', webAddress(attribution.url) ? new URL(attribution.url).host : '', attribution.url))
}
