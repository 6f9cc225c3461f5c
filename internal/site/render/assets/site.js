// What pages do in addition with JavaScript: new reports arrive, the search box
// completes, forms apply at once, texts are copied, a key is used. Everything
// else works without it.
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
  let tag = '', wait = visible, fresh = new Map(), incomplete = false, timer, busy = false

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

  const showState = (now) => {
    const shown = find('.top [data-state]')
    shown.textContent = now.textContent
    shown.closest('.state').className = 'state state-' + now.dataset.state
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
    find('h3 a', list)?.focus({ preventScroll: true })
  }

  const poll = async () => {
    if (busy) return
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
        showState(find('[data-state]', fragment))
        show()
      } else if (find('span', box)) show()
      ahead = Date.parse(response.headers.get('Date')) - Date.now() || 0
      wait = document.hidden ? hidden : visible
    } catch {
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

document.addEventListener('keydown', (event) => {
  const typing = event.target.closest?.('input, select, textarea, [contenteditable]')
  if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault()
    find('#find')?.focus()
  }
})

// --- forms and buttons, also of what is shown later

enhance(document)

function enhance(part) {
  for (const filters of all('form.filters', part)) { // apply when they are changed
    filters.addEventListener('change', (event) => {
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
  const keyForm = find('form[data-key]', part)
  if (keyForm) useKey(keyForm)
}

// --- a key, kept until the window is closed, shows what needs one

function useKey(form) {
  const input = find('input', form), message = find('[role="status"]', form)
  form.hidden = false
  const load = async (key) => {
    const response = await fetch(location.href, { headers: { 'X-API-Key': key, Accept: 'text/html' }, cache: 'no-store' })
    if ([401, 403].includes(response.status)) {
      sessionStorage.removeItem('key')
      message.textContent = form.dataset.refused
      return
    }
    if (!response.ok) throw new Error(response.status)
    sessionStorage.setItem('key', key)
    find('main').replaceChildren(...find('main', parse(await response.text())).childNodes)
    enhance(find('main'))
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (input.value.trim()) load(input.value.trim()).catch(() => { message.textContent = form.dataset.failed })
  })
  const key = sessionStorage.getItem('key')
  if (key) load(key).catch(() => {})
}
