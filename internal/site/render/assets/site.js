// What pages do in addition with JavaScript: new reports arrive, the search box
// completes, forms apply at once, texts are copied. Everything else works without it.
'use strict'

const find = (selector, within = document) => within.querySelector(selector)
const all = (selector, within = document) => [...within.querySelectorAll(selector)]

// parse returns the elements of a fragment of this site, whose texts are escaped.
const parse = (html) => new DOMParser().parseFromString(html, 'text/html')

// --- times, which pages that stay open would show as they once were

let ahead = 0 // milliseconds by which the clock of the server is ahead of this one
const timeOf = (row) => Date.parse(find('time', row).dateTime)
const dayInMadrid = () => new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Madrid' }).format(Date.now() + ahead)
const opened = dayInMadrid()

function passTime() {
  for (const ago of all('.ago')) {
    const minutes = Math.floor((Date.now() + ahead - timeOf(ago.parentElement)) / 60_000)
    if (minutes >= 60) ago.remove()
    else if (minutes >= 1) ago.textContent = document.body.dataset.ago.replace('%', minutes)
  }
  if (dayInMadrid() !== opened) all('.day .named').forEach((name) => name.remove()) // it is no longer today
}
setInterval(passTime, 20_000)
addEventListener('pageshow', passTime)
document.addEventListener('visibilitychange', passTime)

// --- new reports

const live = find('[data-live]')
if (live?.dataset.live) follow(live)

function follow(box) {
  const title = document.title
  const visible = 1000, hidden = 5000, longest = 60_000 // milliseconds between two polls
  const tolerated = 1 // failed polls after which the state is still that of before
  let failed = 0, tag = '', wait = visible, fresh = new Map(), incomplete = false, timer, busy = false

  const known = () => new Set(all('[data-id]', find('#list') ?? document).map((row) => row.dataset.id))

  const show = () => {
    document.title = fresh.size ? `(${fresh.size}${incomplete ? '+' : ''}) ${title}` : title
    if (!fresh.size) return box.replaceChildren()
    let button = find('button', box)
    if (!button) {
      button = document.createElement('button')
      button.type = 'button'
      button.addEventListener('click', insert)
      box.replaceChildren(button)
    }
    const text = (fresh.size === 1 ? box.dataset.single : box.dataset.several).replace('%', fresh.size)
    button.textContent = '↑ ' + (incomplete ? box.dataset.more : text)
  }

  const shown = find('.top [data-state]')
  const showState = (name, text) => {
    shown.textContent = text
    shown.closest('.state').className = 'state state-' + name
  }

  const insert = () => {
    const list = find('#list .rows')
    const today = find('#list .day')?.dataset.day
    const rows = [...fresh.values()]
    const other = rows.some((row) => find('time', row).dateTime.slice(0, 10) !== today)
    if (incomplete || !list || other) return location.assign(location.pathname + location.search) // a new day, or too many
    for (const row of rows.reverse()) {
      row.classList.add('new')
      list.insertBefore(row, [...list.children].find((other) => timeOf(other) <= timeOf(row)) ?? null)
    }
    fresh.clear()
    show()
    scrollTo({ top: 0, behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' })
    paintStars()
    find('h3 a', list)?.focus({ preventScroll: true })
  }

  const poll = async () => {
    if (busy || !box.isConnected) return
    busy = true
    clearTimeout(timer)
    try {
      const response = await fetch(box.dataset.live, { headers: tag ? { 'If-None-Match': tag } : {}, cache: 'no-store', signal: AbortSignal.timeout(15_000) })
      if (response.status !== 304) {
        if (!response.ok) throw new Error(response.status)
        const fragment = parse(await response.text())
        tag = response.headers.get('ETag')
        const rows = all('li[data-id]', fragment), have = known()
        fresh = new Map(rows.filter((row) => !have.has(row.dataset.id)).map((row) => [row.dataset.id, row]))
        incomplete = have.size > 0 && fresh.size > 0 && fresh.size === rows.length
        const now = find('[data-state]', fragment)
        showState(now.dataset.state, now.textContent)
        show()
      } else if (find('span', box)) show()
      ahead = Date.parse(response.headers.get('Date')) - Date.now() || 0
      wait = document.hidden ? hidden : visible
      failed = 0
    } catch {
      if (++failed > tolerated) {
        showState('unknown', shown.dataset.unknown)
        tag = '' // so that the next answer has the state, although nothing is new
      }
      wait = Math.min(longest, wait * 2)
      if (wait > 8000 && !fresh.size) box.replaceChildren(Object.assign(document.createElement('span'), { textContent: box.dataset.offline }))
    }
    busy = false
    timer = setTimeout(poll, wait * (1 + Math.random() / 5))
  }
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return
    wait = visible
    poll()
  })
  addEventListener('online', poll)
  poll()
}

// --- completion in the search box, after the combobox pattern of ARIA

const form = find('.find')
if (form) complete(form, find('input[type="search"]', form), find('.suggestions', form))

// complete offers completions of what is typed, and chooses one by its address.
function complete(form, input, box, choose = (address) => location.assign(address)) {
  let options = [], at = -1, asked = 0, timer
  Object.entries({ role: 'combobox', 'aria-autocomplete': 'list', 'aria-expanded': 'false', 'aria-controls': 'suggestions' })
    .forEach(([name, value]) => input.setAttribute(name, value))
  const close = () => {
    clearTimeout(timer)
    asked++
    box.hidden = true
    box.replaceChildren() // ids of options are unique in a page
    options = []
    at = -1
    input.setAttribute('aria-expanded', 'false')
    input.removeAttribute('aria-activedescendant')
  }
  const select = (next) => {
    options[at]?.setAttribute('aria-selected', 'false')
    at = next
    options[at]?.setAttribute('aria-selected', 'true')
    if (options[at]) input.setAttribute('aria-activedescendant', options[at].id)
    else input.removeAttribute('aria-activedescendant')
  }
  const pick = (option) => {
    choose(option.dataset.url)
    close()
  }
  const ask = async () => {
    const typed = input.value.trim(), number = ++asked
    if (!typed) return close()
    try {
      const address = new URL(form.dataset.suggest, location)
      address.searchParams.set('q', typed.slice(0, 60))
      const response = await fetch(address, { signal: AbortSignal.timeout(5000) })
      if (!response.ok || number !== asked) return
      box.replaceChildren(...parse(await response.text()).body.children)
      if (number !== asked) return
      options = all('[role="option"]', box)
      at = -1
      box.hidden = false
      input.setAttribute('aria-expanded', String(options.length > 0))
    } catch { close() }
  }
  input.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(ask, 80) })
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !box.hidden) { event.preventDefault(); return close() }
    if (box.hidden || !options.length) return
    if (event.key === 'ArrowDown') select((at + 1) % options.length)
    else if (event.key === 'ArrowUp') select(at <= 0 ? options.length - 1 : at - 1)
    else if (event.key === 'Enter' && options[at]) pick(options[at])
    else return
    event.preventDefault()
  })
  box.addEventListener('mousedown', (event) => event.preventDefault()) // the box keeps the focus
  box.addEventListener('click', (event) => {
    const option = event.target.closest('[data-url]')
    if (option) pick(option)
  })
  input.addEventListener('blur', close)
}

// --- forms and buttons, also of what is shown later

// --- the issuers that a reader follows, whose ids are in this browser

const MOST = 50 // as many as the parameter issuer takes
const followingPage = find('.sections a[href^="/following"]').href
let account // the lists of the account that is signed in; the stars use the first one

const kept = (name, value) => { // in this browser, if it keeps anything
  try {
    if (value === null) localStorage.removeItem(name)
    else if (value !== undefined) localStorage.setItem(name, value)
    return localStorage.getItem(name)
  } catch { return null }
}
const inBrowser = () => {
  try { return JSON.parse(kept('following') ?? '[]').map(String) } catch { return [] } // of another version
}
const followed = () => account ? find('[data-issuers]', account)?.dataset.issuers.split(' ') ?? [] : inBrowser()
const follows = (ids) => {
  kept('following', JSON.stringify(ids))
  paintStars()
}

function paintStars() {
  const ids = followed()
  for (const star of all('.star')) star.ariaPressed = ids.includes(star.dataset.issuer)
}
addEventListener('storage', paintStars)
addEventListener('pageshow', paintStars)

// askAccount reads the lists of the account, after a change if there is one.
async function askAccount(change) {
  const address = new URL(followingPage)
  address.pathname = '/account/following'
  const form = change && { method: 'POST', keepalive: true, body: new URLSearchParams({ ...change, form_token: account.dataset.token }) }
  const response = await fetch(address, { ...form, cache: 'no-store', signal: AbortSignal.timeout(15_000) })
  if (!response.ok) throw new Error(response.status)
  account = find('nav[data-token]', parse(await response.text()))
  kept('account', account && '1')
  paintStars()
}

// signedIn asks whether somebody is signed in, where that is likely. A list of the browser
// then moves into the account.
async function signedIn(likely) {
  if (!likely || !find('.sections a[href^="/account"]')) return
  await askAccount()
  const ids = account && inBrowser()
  if (!ids?.length) return
  await askAccount({ add: ids.join() })
  kept('following', null)
}
const asking = signedIn(kept('account') || find('#following, .who-is')).catch(() => {})

document.addEventListener('click', async ({ target }) => {
  const star = target.closest('.star'), id = star?.dataset.issuer
  if (!id) return
  await asking
  const ids = followed(), has = ids.includes(id)
  if (account) {
    star.ariaPressed = !has
    await askAccount({ [has ? 'remove' : 'add']: id }).catch(() => location.assign(followingPage))
  } else if (has) follows(ids.filter((other) => other !== id))
  else if (ids.length < MOST) follows([...ids, id])
  else location.assign(followingPage + '#full')
})

// --- preferences, which preferences.js applies to the next page

const chosen = document.documentElement.dataset

// choose sets a preference of this browser, or removes it.
function choose(name, value) {
  if (value) chosen[name] = value
  else delete chosen[name]
  kept(name, value || null)
}

const dark = matchMedia('(prefers-color-scheme: dark)')
find('.theme')?.addEventListener('click', () => {
  const next = (chosen.theme ?? (dark.matches ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark'
  choose('theme', next === (dark.matches ? 'dark' : 'light') ? '' : next) // the theme of the system needs no preference
})
document.addEventListener('click', ({ target }) => {
  const button = target.closest('[data-compact]')
  if (!button) return
  choose('rows', chosen.rows ? '' : 'compact')
  paintCompact()
})

function paintCompact() {
  for (const button of all('[data-compact]')) button.ariaPressed = Boolean(chosen.rows)
}

// --- shortcuts of one key, which readers can turn off

const shortcuts = {
  j: () => moveRow(1),
  k: () => moveRow(-1),
  '/': () => find('#find')?.focus(),
  '?': showShortcuts,
}

document.addEventListener('keydown', (event) => {
  const typing = event.target.closest?.('input, select, textarea, [contenteditable]')
  const modified = event.ctrlKey || event.metaKey || event.altKey
  if (typing || modified || event.isComposing || chosen.shortcuts || find('dialog[open]')) return
  if (!Object.hasOwn(shortcuts, event.key)) return
  event.preventDefault()
  shortcuts[event.key]()
})

// moveRow moves the focus to the link of another row of a list or table. Without the focus
// in one it goes to the first row that is visible.
function moveRow(step) {
  const rows = all('#list [data-id], table.entries tbody tr')
  const here = rows.findLastIndex((row) => row.contains(document.activeElement))
  const header = find('.top').getBoundingClientRect().bottom
  const next = here < 0 ? rows.findIndex((row) => row.getBoundingClientRect().top >= Math.max(0, header)) : here + step
  if (rows[next]) (find('h3 a', rows[next]) ?? find('a', rows[next]))?.focus()
}

const help = find('#shortcuts'), useShortcuts = find('#shortcuts input')
find('.shortcuts-open').addEventListener('click', showShortcuts)
help.addEventListener('click', ({ target }) => { if (target === help) help.close() }) // beside it
useShortcuts.addEventListener('change', () => choose('shortcuts', useShortcuts.checked ? '' : 'off'))

function showShortcuts() {
  useShortcuts.checked = !chosen.shortcuts
  help.showModal()
}

// A sheet is closed with Escape and by a click outside.
const openSheet = () => find('.sheet[open]')
document.addEventListener('keydown', (event) => {
  const sheet = event.key === 'Escape' && openSheet()
  if (!sheet) return
  sheet.open = false
  find('summary', sheet).focus()
})
document.addEventListener('click', ({ target }) => {
  const sheet = openSheet()
  if (sheet && !sheet.contains(target)) sheet.open = false
})

// The page that a reader leaves is shown again as it was when they go back.
document.addEventListener('submit', ({ target }) => {
  const sheet = target.closest('.sheet') ?? find('.sheet[open]', target)
  if (sheet) sheet.open = false
})

enhance(document)

// showSelected scrolls a row of links so far that the last one that is selected is visible.
function showSelected(row) {
  const selected = all('[aria-current]', row).at(-1)
  if (!selected) return
  const hidden = selected.getBoundingClientRect().right - row.getBoundingClientRect().right
  if (hidden > 0) row.scrollLeft += hidden + 20
}

function enhance(part) {
  all('.sections, .kinds, .filters > .chips, .where', part).forEach(showSelected)
  paintStars()
  paintCompact()
  for (const filters of all('form.filters', part)) { // apply when they are changed
    filters.addEventListener('change', (event) => {
      if (event.target.closest('.sheet')) return // which has a button for all of its fields
      if (event.target.type === 'date' && event.target.value && !event.target.checkValidity()) return
      filters.requestSubmit()
    })
  }
  for (const form of all('form', part)) { // empty fields are not in the address
    form.addEventListener('formdata', ({ formData }) => {
      for (const [name, value] of [...formData]) if (value === '') formData.delete(name)
    })
  }
  for (const button of all('[data-copy]', part)) {
    const text = button.textContent
    button.hidden = !navigator.clipboard // pages without HTTPS have none
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(find(button.dataset.copy).textContent.trim())
      button.textContent = button.dataset.done
      setTimeout(() => { button.textContent = text }, 1500)
    })
  }
}
