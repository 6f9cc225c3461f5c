// The feed: the results of search_reports, with filters and automatic refresh.

const FILTERS = ['search', 'type', 'issuer', 'from', 'to', 'category', 'kind', 'in']
const TYPING_PAUSE = 350
const REFRESH_EVERY = 15_000
const REFRESH_AT_LEAST = 300_000 // however often it failed

const feed = {
  filters: {}, // the arguments of search_reports, but for page and limit
  limit: 10, // requested reports per page; an answer may have fewer
  answer: null, // the page that is shown
  busy: false,
  round: 0, // counts requests, so that only the newest answer is used
  fresh: new Set(), // ids that arrived while the view was visible
  live: true,
  onScreen: true,
  refreshEvery: REFRESH_EVERY,
  refreshFailed: false,
  updatedAt: null,
}

const parts = {} // of the page, drawn one by one
const rows = new Map() // id -> { content, row }, so that unchanged rows are kept

// --- messages of the host

const view = {
  name: 'filings-feed',
  input(args) {
    feed.filters = Object.fromEntries(FILTERS.filter((name) => plain(args[name])).map((name) => [name, String(args[name])]))
    if (Number.isInteger(args.limit) && args.limit >= 1 && args.limit <= 50) feed.limit = args.limit
  },
  take(answer) {
    feed.round++ // this is newer than any earlier request
    feed.busy = false
    take(answer)
    scheduleRefresh()
  },
  reload: () => load(1),
  draw: drawAll,
}

function take(answer) {
  feed.answer = answer
  feed.fresh.clear()
  feed.updatedAt = new Date()
}

// --- requests to the service

// ask returns null if a newer request was sent meanwhile.
async function ask(page, limit) {
  const round = ++feed.round
  try {
    const answer = await callTool('search_reports', { ...feed.filters, page, limit })
    return round === feed.round ? answer : null
  } catch (error) {
    if (round !== feed.round) return null
    throw error
  }
}

// load shows another page, or the first after the filters changed.
async function load(page, limit = feed.limit) {
  cancel(refreshTimer)
  feed.busy = true
  drawState()
  try {
    const answer = await ask(page, limit)
    if (!answer) return
    take(answer)
    trouble.failure = null
    feed.refreshFailed = false
    say(counted('reports_count', isCount(answer.total) ? answer.total : reportsOf(answer.data).length))
  } catch (error) {
    fail(error, () => load(page, limit))
  }
  feed.busy = false
  drawState()
  scheduleRefresh()
}

let refreshTimer = 0

// scheduleRefresh requests new reports later, but only while the view is visible
// and shows the first page.
function scheduleRefresh() {
  cancel(refreshTimer)
  if (!isRefreshing()) return
  refreshTimer = after(feed.refreshEvery, () => refresh(false))
}

function isRefreshing() {
  const ended = feed.filters.to && feed.filters.to < madridToday()
  return feed.live && !ended && !trouble.failure && isFirstPage() && host.canCall() && isVisible()
}

const isFirstPage = () => Boolean(feed.answer) && pageOf(feed.answer) === 1
const isVisible = () => feed.onScreen && document.visibilityState === 'visible'
const madridToday = () => new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Madrid' }).format(new Date())

async function refresh(byHand) {
  cancel(refreshTimer)
  if (feed.busy) return
  const before = feed.answer
  try {
    const answer = await ask(1, feed.limit)
    if (!answer) return
    feed.refreshEvery = REFRESH_EVERY
    feed.refreshFailed = false
    feed.updatedAt = new Date()
    if (byHand) say(updatedNote())
    if (before?.seq === undefined || answer.seq !== before.seq) takeNews(before, answer)
  } catch (error) {
    // The list stays, but is not the newest. The interval grows, so that a
    // failing service is not overloaded.
    feed.refreshEvery = Math.min(feed.refreshEvery * 2, REFRESH_AT_LEAST)
    feed.refreshFailed = true
    if (byHand) fail(error, refreshNow)
  }
  drawState()
  scheduleRefresh()
}

function takeNews(before, answer) {
  const known = new Set(reportsOf(before?.data).map((report) => report.id))
  const news = reportsOf(answer.data).filter((report) => !known.has(report.id))
  feed.answer = answer
  if (!news.length) return
  for (const report of news) feed.fresh.add(report.id)
  say(`${counted('new_reports', news.length)}: ${plain(news[0].company_name)}`)
}

function setFilter(name, value) {
  if (value) feed.filters[name] = value
  else delete feed.filters[name]
  drawFilters()
  load(1)
}

// --- drawing

function drawAll() {
  const search = document.activeElement === parts.search ? parts.search.value : feed.filters.search ?? ''
  parts.live = el('span')
  parts.search = el('input', {
    type: 'search', 'data-key': 'search', 'aria-label': t('search'), placeholder: t('search_hint'),
    autocomplete: 'off', spellcheck: 'false', maxlength: '300', oninput: typed, onkeydown: entered,
  })
  parts.search.value = search
  parts.filters = el('div', { class: 'filters' })
  parts.banner = simulatedBanner(false)
  parts.notice = el('div')
  parts.list = el('ol', { class: 'rows' })
  parts.pages = el('nav', { class: 'pages', 'aria-label': t('pages') })
  parts.status = el('p', { class: 'status' })
  rows.clear()
  // No form: a sandbox may forbid to send one, and then Enter would do nothing.
  const form = host.canCall() && el('div', { class: 'search', role: 'search' }, icon('search'), parts.search)
  keepFocus(() => document.getElementById('view').replaceChildren(
    header(t('reports'), parts.live, refreshButton(refreshNow)),
    parts.banner,
    framed([form, parts.filters, parts.notice, el('h2', { class: 'unseen' }, t('results')), parts.list, parts.pages, parts.status]),
  ))
  drawFilters()
  drawState()
}

let typingTimer = 0

function typed() {
  cancel(typingTimer)
  typingTimer = after(TYPING_PAUSE, searchNow)
}

function entered(event) {
  if (event.key === 'Enter') searchNow()
}

function searchNow() {
  cancel(typingTimer)
  const search = parts.search.value.trim()
  if (search !== (feed.filters.search ?? '')) setFilter('search', search)
}

function refreshNow() {
  feed.refreshEvery = REFRESH_EVERY
  if (isFirstPage() && !trouble.failure) refresh(true)
  else load(1)
}

function drawFilters() {
  const others = FILTERS.filter((name) => !['search', 'type'].includes(name) && feed.filters[name])
  keepFocus(() => parts.filters.replaceChildren(...[
    host.canCall() && typeChips(feed.filters.type ?? '', (type) => setFilter('type', type)),
    others.length > 0 && el('ul', { class: 'chips', 'aria-label': t('filters') },
      others.map((name) => el('li', {}, filterChip(name, feed.filters[name])))),
  ].filter(Boolean)))
}

function filterChip(name, value) {
  const shown = name === 'in' ? t('in_document') : name === 'kind' ? kindOf(value) : plain(value)
  const text = [el('span', { class: 'chip-name' }, t(name)), ' ', el('bdi', {}, shown)]
  if (!host.canCall()) return el('span', { class: 'chip' }, text)
  return button(`filter ${name}`, [text, icon('close')], () => {
    setFilter(name, '')
    parts.search.focus()
  }, { class: 'chip', 'aria-label': t('remove_filter', { name: t(name), value: shown }) })
}

// drawState draws the parts that depend on an answer or a failure.
function drawState() {
  const reports = reportsOf(feed.answer?.data)
  parts.live.replaceChildren(...[liveButton()].filter(Boolean))
  parts.banner.hidden = !isSimulated(feed.answer)
  parts.notice.replaceChildren(...[
    troubleNote(),
    !feed.answer && !trouble.failure && waitingNote(),
    feed.answer && !reports.length && el('p', { class: 'note' }, t('no_reports'), ' ', clearButton()),
  ].filter(Boolean))
  parts.list.setAttribute('aria-busy', String(feed.busy))
  keepFocus(() => arrange(parts.list, reports.map(rowOf)))
  for (const [id, { row }] of rows) if (!row.isConnected) rows.delete(id)
  markOpened()
  keepFocus(() => parts.pages.replaceChildren(...pageControls(reports.length)))
  parts.status.replaceChildren(feed.refreshFailed ? `${t('not_updated')} ` : '', updatedNote())
}

function updatedNote() {
  return feed.updatedAt ? t('updated', { time: inMadrid(feed.updatedAt, CLOCK_SECONDS) }) : ''
}

function liveButton() {
  if (!host.canCall() || !feed.answer) return null
  return button('live', [el('span', { class: 'dot' }), t('live')], () => {
    feed.live = !feed.live
    drawState()
    if (feed.live) refreshNow()
    else cancel(refreshTimer)
  }, { class: 'live', 'aria-pressed': String(feed.live), title: t('live_help') })
}

function clearButton() {
  return host.canCall() && Object.keys(feed.filters).length > 0 && button('clear', t('clear'), () => {
    feed.filters = {}
    parts.search.value = ''
    drawFilters()
    load(1)
  })
}

function rowOf(report) {
  const isNew = feed.fresh.has(report.id)
  const content = JSON.stringify([report, isNew])
  if (rows.get(report.id)?.content !== content) rows.set(report.id, { content, row: reportRow(report, isNew) })
  return rows.get(report.id).row
}

// arrange makes the given nodes the children of a parent and moves only what
// has to move, so that reading and focus are not disturbed.
function arrange(parent, nodes) {
  nodes.forEach((node, i) => {
    if (parent.children[i] !== node) parent.insertBefore(node, parent.children[i] ?? null)
  })
  while (parent.children.length > nodes.length) parent.lastElementChild.remove()
}

const pageOf = (answer) => (Number.isInteger(answer.page) && answer.page > 0 ? answer.page : 1)

function pageControls(shown) {
  if (!feed.answer || !shown) return []
  const page = pageOf(feed.answer)
  const limit = feed.answer.limit > 0 ? feed.answer.limit : feed.limit
  const first = (page - 1) * limit + 1
  const total = isCount(feed.answer.total) ? feed.answer.total : null
  const next = nextPage(page, limit, first + shown - 1, total)
  const range = total === null ? t('page_only', { n: number(page) })
    : t('range', { first: number(first), last: number(first + shown - 1), total: number(total) })
  if (!host.canCall()) return [el('span', {}, range)]
  return [
    button('newer', [icon('back'), t('newer')], () => load(page - 1, limit), { disabled: page === 1 }),
    el('span', {}, range),
    button('older', [t('older'), icon('next')], () => load(next.page, next.limit), { disabled: !next }),
  ]
}

function nextPage(page, limit, last, total) {
  const { next } = feed.answer
  if (isObject(next) && Number.isInteger(next.page)) return { page: next.page, limit: next.limit > 0 ? next.limit : limit }
  return next === undefined && total > last ? { page: page + 1, limit } : null
}

// --- start

reportOptions.onissuer = (report) => {
  while (pane.pages.length) closePage()
  feed.filters = { issuer: report.issuer_id }
  parts.search.value = ''
  drawFilters()
  load(1)
}

listen(document, 'visibilitychange', () => {
  if (document.visibilityState === 'visible') scheduleRefresh()
  else cancel(refreshTimer)
})

// A chat may hold many views; one out of sight sends no requests.
const watcher = new IntersectionObserver((entries) => {
  feed.onScreen = entries.at(-1).isIntersecting
  scheduleRefresh()
})
watcher.observe(document.getElementById('view'))
life.signal.addEventListener('abort', () => watcher.disconnect())

connect()
