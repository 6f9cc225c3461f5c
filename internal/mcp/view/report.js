// Filings: as a row of a list, and opened.

const TYPES = ['IP', 'HR', 'OIR']
const SIMULATED = '[Simulación]'

const typeClass = (type) => (TYPES.includes(type) ? `of-${type}` : '')

const isSimulatedTitle = (title) => typeof title === 'string' && title.startsWith(SIMULATED)

// isSimulated tells whether an answer is about the simulated market.
function isSimulated(answer) {
  return host.simulated || /simulad|simulated/i.test(plain(answer?.attribution?.source)) ||
    [answer, ...asList(answer?.data), ...asList(answer?.latest_reports)].some((filing) => isSimulatedTitle(filing?.title))
}

function simulatedBanner(simulated) {
  return el('p', { class: 'simulated', hidden: !simulated }, el('strong', {}, t('simulated')), ' ', t('simulated_help'))
}

const KINDS = ['company', 'fund', 'manager', 'other']
const kindOf = (kind) => (KINDS.includes(kind) ? t(kind) : plain(kind))

// filingsOf are the entries of a list that can be shown at all.
const filingsOf = (list) => asList(list).filter((filing) => isObject(filing) && plain(filing.id))

function typeTag(type) {
  const known = TYPES.includes(type)
  const name = plain(type, '?').slice(0, 12)
  return el('span', { class: `tag ${typeClass(type)}`, title: known && t(type) },
    name, known && el('span', { class: 'unseen' }, `: ${t(type)}`))
}

function titleOf(filing) {
  const title = plain(filing.title, t('no_title'))
  if (!isSimulatedTitle(title)) return [title]
  return [el('span', { class: 'mark' }, SIMULATED), title.slice(SIMULATED.length)]
}

function companyLine(filing, mark = null) {
  const ticker = plain(filing.ticker).slice(0, 24)
  return el('p', { class: 'company' },
    el('bdi', {}, plain(filing.company_name)), ticker && el('span', { class: 'ticker' }, ticker), mark)
}

function timeOf(filing) {
  const time = plain(filing.published_at)
  const thisYear = yearOf(time) === yearOf(new Date())
  const day = clock(time) && (thisYear ? shortDay(time) : inMadrid(time, { day: 'numeric', month: 'short', year: 'numeric' }))
  return el('time', { datetime: clock(time) && time, title: fullTime(time) },
    el('b', {}, clock(time) || '–'), ' ', el('span', {}, day || t('unknown_time')))
}

// filingRow is one filing in a list. Its title is the button, which the style
// sheet stretches over the row: a screen reader hears a title, not everything.
function filingRow(filing, isNew = false) {
  const id = plain(filing.id)
  const summary = plain(filing.summary)
  return el('li', { class: `row ${typeClass(filing.type)} ${isNew ? 'new' : ''}` },
    el('div', { class: 'row-when' }, timeOf(filing), typeTag(filing.type)),
    el('div', { class: 'row-what' },
      companyLine(filing, isNew && el('span', { class: 'tag fresh' }, t('new'))),
      el('h3', { dir: 'auto' },
        button(`open ${id}`, el('span', { class: 'row-title' }, titleOf(filing)), () => openFiling(filing), { class: 'row-open' })),
      summary && el('p', { class: 'row-summary', dir: 'auto' }, summary)))
}

// --- one filing

const filingOptions = { onissuer: null } // what to do when all filings of an issuer are asked for

// openFiling shows what a list told of the filing, then all that is known.
function openFiling(brief) {
  const page = {
    filing: brief,
    failure: null,
    busy: false,
    title: () => titleOf(page.filing),
    draw: () => drawFiling(page),
  }
  openPage(page)
  if (host.canCall()) loadFiling(page)
}

async function loadFiling(page) {
  page.busy = true
  page.failure = null
  redraw(page)
  try {
    const filing = await callTool('get_report', { id: page.filing.id })
    const news = page.filing.title === undefined // it was known by its number only
    page.filing = { ...page.filing, ...filing }
    if (news) tellModelOf(page.filing)
  } catch (error) {
    page.failure = error
  }
  page.busy = false
  redraw(page)
}

function tellModelOf(filing) {
  if (filing.title === undefined) return
  const { id, company_name, type, title, summary, published_at } = filing
  tellModel({ id, company_name, type, title, summary, published_at })
}

pane.onchange = () => {
  markOpened()
  const { filing } = pane.pages.at(-1) ?? {}
  if (filing) tellModelOf(filing)
  else tellModel(null)
}

// markOpened shows which row of the view's list is the one in the pane.
function markOpened() {
  const opened = `open ${pane.pages[0]?.filing?.id}`
  for (const row of document.querySelectorAll('.own .row-open')) {
    if (row.dataset.key === opened) row.setAttribute('aria-current', 'true')
    else row.removeAttribute('aria-current')
  }
}

function drawFiling(page) {
  const { filing } = page
  const exact = filing.time_precision !== 'minute'
  return [
    el('div', { class: 'meta' }, typeTag(filing.type),
      TYPES.includes(filing.type) && el('span', { 'aria-hidden': 'true' }, t(filing.type)),
      filing.published_at && el('time', {}, fullTime(filing.published_at, exact))),
    companyLine(filing),
    correction(filing),
    page.failure && problem(page.failure, () => loadFiling(page)),
    summaryOf(page),
    el('div', { class: 'actions' },
      link('document', t('open_document'), filing.pdf_url),
      link('regulator', t('at_regulator'), filing.source_url),
      filingOptions.onissuer && filing.issuer_id && host.canCall() &&
        button('issuer', t('issuer_filings'), () => filingOptions.onissuer(filing), { class: 'link' })),
    facts([
      [t('number'), plain(filing.cnmv_registration_number)],
      [t('categories'), tagList(filing.categories)],
      [t('document'), documentFacts(filing.document)],
      [t('first_seen'), filing.first_seen_at && fullTime(filing.first_seen_at)],
      [t('available'), filing.available_at && fullTime(filing.available_at)],
    ]),
    relatedTo(filing),
    attributionOf(filing.attribution),
  ]
}

function correction(filing) {
  const id = plain(filing.corrected_by)
  return id && el('p', { class: 'correction' }, t('corrected_by'), ' ', filingLink(id))
}

// filingLink opens another filing from within one.
function filingLink(id) {
  if (!host.canCall()) return id
  return button(`related ${id}`, id, () => openFiling({ id }), { class: 'link' })
}

// summaryOf shows each sentence with the words of the document that it rests
// on; a sentence that is the document's own is shown once, as a quotation.
function summaryOf({ filing, busy }) {
  const evidence = asList(filing.evidence).filter((one) => isObject(one) && plain(one.sentence))
  if (!evidence.length) {
    const summary = plain(filing.summary)
    if (summary) return el('section', { class: 'summary' }, el('h3', {}, t('summary')), el('p', { dir: 'auto' }, summary))
    return busy ? el('p', { class: 'note waiting' }, t('waiting')) : el('p', { class: 'note' }, noSummary(filing))
  }
  const made = ['extractive', 'model'].includes(filing.summary_method) && t(`made_${filing.summary_method}`)
  return el('section', { class: 'summary' },
    el('h3', {}, t('summary')),
    el('ol', { class: 'evidence' }, evidence.map(evidenceItem)),
    made && el('p', { class: 'note' }, made))
}

function evidenceItem({ sentence, quote, page }) {
  const where = Number.isInteger(page) ? t('page', { n: number(page) }) : ''
  if (plain(quote) === plain(sentence) || !plain(quote)) {
    return el('li', {},
      el('blockquote', { dir: 'auto' }, plain(sentence)),
      plain(quote) && where && el('p', { class: 'cite' }, t('verbatim', { page: where })))
  }
  return el('li', {},
    el('p', { dir: 'auto' }, plain(sentence)),
    el('p', { class: 'cite' }, t('text_from')),
    el('blockquote', { dir: 'auto' }, el('q', {}, plain(quote)), where && el('span', { class: 'cite' }, ` ${where}`)))
}

function noSummary(filing) {
  const status = plain(filing.document?.status)
  if (['pending', 'failed', 'none'].includes(status)) return t(`document_${status}`)
  return t(filing.summary_method === 'none' ? 'made_none' : 'no_summary')
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

function relatedTo(filing) {
  const related = asList(filing.related).filter(isObject)
  if (!related.length) return null
  return el('section', {},
    el('h3', {}, t('related')),
    el('ul', { class: 'related' }, related.map((one) => {
      const id = plain(one.id)
      return el('li', {},
        id ? filingLink(id) : `${t('number')} ${plain(one.cnmv_registration_number)}`, ' ',
        one.published_at && el('time', {}, fullTime(one.published_at, false)),
        plain(one.text) && el('p', { dir: 'auto' }, plain(one.text)))
    })))
}

// --- small lists

// facts shows names with what they are; those that are nothing are left out.
function facts(entries) {
  const told = entries.filter(([, value]) => value)
  return told.length > 0 && el('dl', { class: 'facts' }, told.map(([name, value]) =>
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
