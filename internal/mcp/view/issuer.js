// The issuer: its identity and its reports by month.

const PAGE = 20

const issuer = {
  answer: null, // of get_issuer
  type: '',
  reports: [], // newest first
  next: null, // arguments for more, null when there are none
  total: null,
  busy: false,
  round: 0, // counts requests, so that only the newest answer is used
  id: '',
}

const view = {
  name: 'issuer',
  input(args) {
    issuer.id = plain(args.id)
  },
  take,
  reload,
  draw,
}

function take(answer) {
  if (!plain(answer.name) && !plain(answer.id)) throw new Failure('no_issuer')
  issuer.round++
  issuer.answer = answer
  issuer.id = plain(answer.id, issuer.id)
  issuer.type = ''
  issuer.busy = false
  issuer.reports = reportsOf(answer.latest_reports)
  issuer.total = isCount(answer.report_count) ? answer.report_count : null
  issuer.next = issuer.total === null || issuer.total > issuer.reports.length ? { page: 1, limit: PAGE } : null
}

// reload requests everything again.
async function reload() {
  try {
    take(await callTool('get_issuer', { id: issuer.id }))
    trouble.failure = null
  } catch (error) {
    fail(error, reload)
  }
  draw()
}

// more adds older reports. The few that come with the issuer may be
// among them, so each is kept once.
async function more() {
  if (issuer.busy || !issuer.next) return
  const round = ++issuer.round
  issuer.busy = true
  trouble.failure = null
  draw()
  try {
    const filter = issuer.type ? { type: issuer.type } : {}
    const answer = await callTool('search_reports', { issuer: issuer.id, ...filter, ...issuer.next })
    if (round !== issuer.round) return
    const known = new Set(issuer.reports.map((report) => report.id))
    const added = reportsOf(answer.data).filter((report) => !known.has(report.id))
    issuer.reports = [...issuer.reports, ...added]
    issuer.total = isCount(answer.total) ? answer.total : issuer.total
    issuer.next = isObject(answer.next) ? { page: answer.next.page, limit: answer.next.limit } : null
    say(counted('reports_count', issuer.reports.length))
  } catch (error) {
    if (round !== issuer.round) return
    fail(error, more)
  }
  issuer.busy = false
  draw()
}

function choose(type) {
  issuer.type = type
  if (!host.canCall()) {
    draw()
    return
  }
  issuer.round++
  issuer.busy = false
  issuer.reports = []
  issuer.next = { page: 1, limit: PAGE }
  more()
}

// --- drawing

function draw() {
  const { answer } = issuer
  keepFocus(() => document.getElementById('view').replaceChildren(
    header(answer ? el('bdi', {}, plain(answer.name, plain(answer.id))) : t('issuer'), answer && refreshButton(reload)),
    simulatedBanner(isSimulated(answer)),
    framed([
      troubleNote(),
      !answer && !trouble.failure && waitingNote(),
      answer && identity(answer),
      answer && timeline(),
      answer && attributionOf(answer.attribution),
    ]),
  ))
  markOpened()
}

function identity(answer) {
  const kind = kindOf(answer.kind)
  return el('section', { class: 'identity', 'aria-label': t('issuer') },
    el('p', { class: 'badges' },
      plain(answer.ticker) && el('span', { class: 'ticker' }, plain(answer.ticker).slice(0, 24)),
      plain(answer.market) && el('span', { class: 'tag' }, plain(answer.market)),
      kind && el('span', { class: 'tag' }, kind),
      isCount(answer.report_count) && el('span', { class: 'total' }, counted('reports_count', answer.report_count))),
    facts([
      [t('cif'), plain(answer.cif)],
      [t('isins'), texts(answer.isins).join(' · ')],
      [t('former_names'), nameList(answer.former_names)],
      [t('identifiers'), texts(answer.aliases).join(' · ')],
    ]))
}

function nameList(values) {
  const names = texts(values)
  return names.length > 0 && el('ul', {}, names.map((name) => el('li', {}, el('bdi', {}, name))))
}

function timeline() {
  const shown = issuer.reports.filter((report) => !issuer.type || report.type === issuer.type)
  return el('section', { class: 'timeline', 'aria-busy': String(issuer.busy) },
    el('h2', {}, t('timeline')),
    typeChips(issuer.type, choose),
    byMonth(shown).map(([month, reports]) => el('section', { class: 'month' },
      el('h3', { class: 'month-name' }, month, ' ', el('span', { class: 'month-count' }, number(reports.length))),
      el('ol', { class: 'rows' }, reports.map((report) => reportRow(report))))),
    !shown.length && !issuer.busy && !trouble.failure && el('p', { class: 'note' }, t('no_reports')),
    issuer.next && host.canCall() &&
      button('more', t(issuer.busy ? 'waiting' : 'more_reports'), more, { class: 'wide', 'aria-disabled': String(issuer.busy) }))
}

const monthOf = (value) => inMadrid(value, { month: 'long', year: 'numeric' })

function byMonth(reports) {
  const months = new Map()
  for (const report of reports) {
    const month = monthOf(report.published_at) || t('no_date')
    if (!months.has(month)) months.set(month, [])
    months.get(month).push(report)
  }
  return [...months]
}

connect()
