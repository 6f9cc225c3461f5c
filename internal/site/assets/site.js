// What pages do in addition with JavaScript: new reports arrive, the search box
// completes, forms apply at once, texts are copied, a key is used. Everything
// else works without it.
'use strict'

const find = (selector, within = document) => within.querySelector(selector)
const all = (selector, within = document) => [...within.querySelectorAll(selector)]

// parse returns the elements of a fragment of this site, whose texts are escaped.
const parse = (html) => new DOMParser().parseFromString(html, 'text/html')

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

  const insert = () => {
    const list = find('#list .rows')
    const today = find('#list .day')?.dataset.day
    const rows = [...fresh.values()]
    const other = rows.some((row) => find('time', row).dateTime.slice(0, 10) !== today)
    if (incomplete || !list || other) return location.assign(location.pathname + location.search) // a new day, or too many
    for (const row of rows.reverse()) {
      row.classList.add('new')
      list.prepend(row)
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
        tag = response.headers.get('ETag')
        const rows = all('li[data-id]', parse(await response.text())), have = known()
        const newer = rows.filter((row) => !have.has(row.dataset.id))
        // Reports may come late: those below a known one are not new on top.
        const last = rows.findIndex((row) => have.has(row.dataset.id))
        incomplete = have.size > 0 && last < 0 && rows.length > 0
        fresh = new Map(newer.filter((row) => last < 0 || rows.indexOf(row) < last).map((row) => [row.dataset.id, row]))
        show()
      } else if (find('span', box)) show()
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

function complete(form, input, box) {
  let options = [], at = -1, asked = 0, timer
  Object.entries({ role: 'combobox', 'aria-autocomplete': 'list', 'aria-expanded': 'false', 'aria-controls': 'suggestions' })
    .forEach(([name, value]) => input.setAttribute(name, value))
  const close = () => {
    asked++
    box.hidden = true
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
    else if (event.key === 'Enter' && options[at]) location.assign(options[at].dataset.url)
    else return
    event.preventDefault()
  })
  box.addEventListener('mousedown', (event) => event.preventDefault()) // the box keeps the focus
  box.addEventListener('click', (event) => {
    const option = event.target.closest('[data-url]')
    if (option) location.assign(option.dataset.url)
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

// --- filters apply when they are changed; empty ones are not in the address

for (const filters of all('form.filters')) {
  filters.addEventListener('change', (event) => {
    if (event.target.type === 'date' && event.target.value && !event.target.checkValidity()) return
    filters.requestSubmit()
  })
}
for (const any of all('form')) {
  any.addEventListener('formdata', ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === '') formData.delete(name)
  })
}

// --- copy buttons

for (const button of all('[data-copy]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(find(button.dataset.copy).textContent.trim())
    const text = button.textContent
    button.textContent = button.dataset.done
    setTimeout(() => { button.textContent = text }, 1500)
  })
}

// --- a key, kept until the window is closed, shows what needs one

const keyForm = find('form[data-key]')
if (keyForm) useKey(keyForm)

function useKey(form) {
  const input = find('input', form), message = find('[role="status"]', form)
  form.hidden = false
  const load = async (key) => {
    const response = await fetch(location.href, { headers: { 'X-API-Key': key, Accept: 'text/html' }, cache: 'no-store' })
    if (!response.ok) {
      sessionStorage.removeItem('key')
      message.textContent = form.dataset.refused
      return
    }
    sessionStorage.setItem('key', key)
    find('main').replaceChildren(...find('main', parse(await response.text())).childNodes)
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (input.value.trim()) load(input.value.trim()).catch(() => { message.textContent = form.dataset.failed })
  })
  const key = sessionStorage.getItem('key')
  if (key) load(key).catch(() => {})
}
