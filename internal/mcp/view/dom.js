// Elements, words, numbers and dates. Data from outside is
// only used as text: nothing in this file makes markup of it.

// el makes an element. Properties that begin with "on" are listeners, false
// and null leave an attribute out, true is one without a value.
function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag)
  setProperties(element, properties)
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false))
  return element
}

function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
  setProperties(element, properties)
  element.append(...children.flat(2))
  return element
}

function setProperties(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue
    if (name.startsWith('on')) listen(element, name.slice(2), value)
    else element.setAttribute(name, value === true ? '' : value)
  }
}

// --- words

// t returns a text of the view in the language of the person.
function t(key, values = {}) {
  const text = WORDS[language][key] ?? key
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole)
}

function counted(key, n) {
  const form = new Intl.PluralRules(language).select(n) === 'one' ? 'one' : 'other'
  return t(`${key}_${form}`, { n: number(n) })
}

// said announces changes to screen readers.
function say(text) {
  document.getElementById('said').textContent = text
}

// plain returns a text of others as it may be shown. Characters that turn the
// direction of what follows could make it read as something else than was
// filed, and control characters show as nothing.
function plain(value, missing = '') {
  if (typeof value === 'number') value = String(value)
  if (typeof value !== 'string') return missing
  const text = value.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, ' ').trim()
  if (text.length > 5000) return text.slice(0, 5000) + '…'
  return text || missing
}

// texts returns the texts of a list that can be shown.
const texts = (value) => asList(value).map((item) => plain(item)).filter(Boolean)

// --- numbers and dates

const isCount = (value) => Number.isFinite(value) && value >= 0

function number(value, options) {
  return Number.isFinite(value) ? new Intl.NumberFormat(locale, options).format(value) : '–'
}

function fileSize(bytes) {
  if (!isCount(bytes)) return ''
  if (bytes < 1000) return number(bytes, { style: 'unit', unit: 'byte' })
  if (bytes < 1_000_000) return number(bytes / 1000, { style: 'unit', unit: 'kilobyte', maximumFractionDigits: 0 })
  return number(bytes / 1_000_000, { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 })
}

// The regulator's day is Madrid's, wherever the reader is.
function inMadrid(value, options) {
  const time = value instanceof Date ? value : new Date(typeof value === 'string' ? value : NaN)
  if (Number.isNaN(time.getTime())) return ''
  return new Intl.DateTimeFormat(locale, { timeZone: 'Europe/Madrid', ...options }).format(time)
}

const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
const CLOCK_SECONDS = { ...CLOCK, second: '2-digit' }

const clock = (value) => inMadrid(value, CLOCK)
const shortDay = (value) => inMadrid(value, { day: 'numeric', month: 'short' })
const yearOf = (value) => inMadrid(value, { year: 'numeric' })

function fullTime(value, toTheSecond = true) {
  const options = { day: 'numeric', month: 'long', year: 'numeric', ...(toTheSecond ? CLOCK_SECONDS : CLOCK) }
  const text = inMadrid(value, options)
  return text ? `${text} (${t('madrid')})` : plain(value, t('unknown_time'))
}

// A date without a time is that day everywhere, so it must not be moved.
function calendarDay(date, options) {
  const time = new Date(`${date}T12:00:00Z`)
  if (Number.isNaN(time.getTime())) return plain(date)
  return new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options }).format(time)
}

// weekdayName of 0, Monday, to 6. The first of January 2024 was a Monday.
const weekdayName = (day, width = 'long') => calendarDay(`2024-01-0${day + 1}`, { weekday: width })

// --- pieces that all views have

function button(key, label, action, properties = {}) {
  return el('button', { type: 'button', 'data-key': key, onclick: action, ...properties }, label)
}

const ICONS = {
  back: 'M10 3 5 8l5 5',
  next: 'm6 3 5 5-5 5',
  refresh: 'M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3',
  expand: 'M9.5 2.5h4v4M6.5 13.5h-4v-4M13.5 2.5 9.5 6.5M2.5 13.5l4-4',
  shrink: 'M13.5 6.5h-4v-4M2.5 9.5h4v4M9.5 6.5l4-4M6.5 9.5l-4 4',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.8 10.8 14 14',
  close: 'm4 4 8 8M12 4l-8 8',
  out: 'M6 3H3v10h10v-3M9 3h4v4M13 3 7.5 8.5',
}

function icon(name) {
  return svg('svg', { class: 'icon', viewBox: '0 0 16 16', 'aria-hidden': 'true' }, svg('path', { d: ICONS[name] }))
}

// A link leaves the view, which only the host can do. Where it cannot, the
// address is shown, to be copied.
function link(key, label, address) {
  const url = webAddress(address)
  if (!url) return null
  if (!host.canOpenLinks()) return el('span', { class: 'address' }, `${label}: ${plain(url)}`)
  return button(key, [icon('out'), label], () => openLink(url), { role: 'link', class: 'link', title: plain(url) })
}

// problem shows what went wrong and, when it can be done again, how.
function problem(failure, again) {
  const text = failure.key ? t(failure.key) : plain(failure.message, t('failed'))
  const canDoAgain = again && (host.canCall() || failure.key === 'no_connection')
  return el('div', { class: 'problem', role: 'alert' },
    el('p', {}, text),
    canDoAgain && button('retry', [icon('refresh'), t('retry')], () => again()))
}

const troubleNote = () => trouble.failure && problem(trouble.failure, trouble.again)

// header has the view's name, what the view wants beside it, and the button
// for the whole screen.
function header(title, ...controls) {
  const full = host.context.displayMode === 'fullscreen'
  const screen = host.canFillScreen() &&
    button('screen', icon(full ? 'shrink' : 'expand'), toggleFullscreen,
      { class: 'quiet', 'aria-label': t(full ? 'inline' : 'fullscreen'), title: t(full ? 'inline' : 'fullscreen') })
  return el('header', { class: 'top' },
    el('div', { class: 'name' }, el('p', { class: 'brand', translate: 'no' }, 'Pregón'), el('h1', { tabindex: '-1' }, title)),
    el('div', { class: 'controls' }, controls, screen))
}

function refreshButton(action) {
  return host.canCall() &&
    button('refresh', icon('refresh'), action, { class: 'quiet', 'aria-label': t('refresh'), title: t('refresh') })
}

function waitingNote() {
  const tool = plain(host.context.toolInfo?.tool?.name)
  return el('p', { class: 'note waiting' }, tool ? t('waiting_for', { tool }) : t('waiting'))
}

// --- the keyboard's place

// keepFocus redraws and restores the focus.
function keepFocus(draw) {
  const key = document.activeElement?.dataset?.key
  draw()
  if (key && document.activeElement?.dataset?.key !== key) focusOn(key)
}

// focusOn focuses the element with the key, or the top of the view if it is gone.
function focusOn(key) {
  const element = [...document.querySelectorAll('[data-key]')].find((one) => one.dataset.key === key)
  element?.focus()
  if (!element || document.activeElement !== element) document.querySelector('h1')?.focus()
}
