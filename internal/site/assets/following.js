// The page of the issuers that a reader follows: their reports, the list and its order,
// and the list as a file. It uses functions of site.js, which is loaded before.
'use strict'

const box = find('#following'), file = find('#file'), report = find('#report')
const most = Number(box.dataset.most)
let shown // the address of what the page shows
let asked = 0

// show loads the reports of the list, unless the page has them. Without a list it says
// how one begins.
async function show() {
  await asking
  const ids = followed(), lists = account ? all('[data-list]', account) : []
  const here = new URLSearchParams(location.search)
  const list = lists.find(({ dataset }) => dataset.list === here.get('list')) ?? lists[0]
  const address = new URL(account ? box.dataset.account : box.dataset.list, location)
  address.searchParams.set(account ? 'watchlist' : 'issuer', account ? list?.dataset.list ?? '' : ids.join())
  if (here.has('page')) address.searchParams.set('page', here.get('page'))
  const wanted = address.href + (list?.dataset.issuers ?? '')
  if (shown === wanted) return
  shown = wanted
  const number = ++asked
  find('#full').hidden = account || location.hash !== '#full' || ids.length < most
  if (account ? !list : !ids.length) return fill(find('#nothing').content.cloneNode(true))
  try {
    const response = await fetch(address, { cache: 'no-store', signal: AbortSignal.timeout(15_000) })
    if (!response.ok) throw new Error(response.status)
    const fragment = parse(await response.text())
    if (number !== asked) return
    fill(...fragment.body.children)
    if (report.textContent === box.dataset.failed) say('')
    const live = find('[data-live]', box)
    if (live?.dataset.live) follow(live)
  } catch {
    if (number !== asked) return
    shown = undefined
    say(box.dataset.failed)
    setTimeout(show, 5000)
  }
}

// fill shows a part of the page, below the lists of the account.
function fill(...content) {
  box.replaceChildren(...content)
  if (account) {
    const tabs = account.cloneNode(true), here = new URLSearchParams(location.search).get('list')
    const tab = all('[data-list]', tabs).find(({ dataset }) => dataset.list === here) ?? find('[data-list]', tabs)
    if (tab) tab.ariaCurrent = 'page'
    box.prepend(tabs)
    for (const button of all('[data-import], .small', find('.narrow', box) ?? tabs)) button.remove()
  }
  enhance(box)
}

function say(text) {
  report.textContent = text
  report.hidden = !text
}

// change stores another list. In another order the reports are the same.
function change(ids, sameReports) {
  follows(ids)
  if (!sameReports) show()
}

box.addEventListener('click', ({ target }) => {
  if (target.closest('[data-import]')) return file.click()
  if (target.closest('[data-export]')) return save()
  const item = target.closest('.followed li'), button = target.closest('button')
  if (!item || !button) return
  const ids = all('.followed li', box).map((li) => li.dataset.issuer)
  const at = ids.indexOf(item.dataset.issuer)
  if ('remove' in button.dataset) {
    const next = item.nextElementSibling ?? item.previousElementSibling
    ids.splice(at, 1)
    item.remove()
    find('[data-remove]', next ?? box)?.focus()
    return change(ids)
  }
  const other = at + Number(button.dataset.move)
  if (other < 0 || other >= ids.length) return
  ids.splice(other, 0, ...ids.splice(at, 1))
  item.parentElement.insertBefore(item, Number(button.dataset.move) < 0 ? item.previousElementSibling : item.nextElementSibling.nextElementSibling)
  button.focus()
  change(ids, true)
})

// cell returns a text as a cell of CSV. A program that opens the file takes a text that
// begins like a formula for one.
const cell = (text) => {
  const safe = /^[=+\-@\t\r]/.test(text) ? "'" + text : text
  return /[",\n\r]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe
}

function save() {
  const rows = all('.followed li', box).map(({ dataset }) => [dataset.issuer, dataset.ticker, dataset.name])
  const text = [['issuer', 'ticker', 'name'], ...rows].map((row) => row.map(cell).join() + '\r\n').join('')
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  link.download = 'following.csv'
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

// firstCells returns the first cell of each line of a file.
const firstCells = (text) => text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  .map((line) => {
    const quoted = /^\s*"((?:[^"]|"")*)"/.exec(line)
    return (quoted ? quoted[1].replaceAll('""', '"') : line.split(/[,;\t]/)[0]).trim().slice(0, 100)
  })
  .filter((name, at) => name && !(at === 0 && /^(issuer|issuer_id|id|emisor|ticker|nif|isin|lei|name|nombre)$/i.test(name)))

const LINES = 200, TOGETHER = 10 // lines of a file that are read, and names that are looked up by one request

async function load(names) {
  const ids = followed(), missing = []
  let added = 0, full = names.length > LINES
  for (let at = 0; at < Math.min(names.length, LINES) && ids.length < most; at += TOGETHER) {
    const address = new URL(box.dataset.find, location)
    for (const name of names.slice(at, Math.min(at + TOGETHER, LINES))) address.searchParams.append('name', name)
    const response = await fetch(address, { signal: AbortSignal.timeout(15_000) })
    if (!response.ok) throw new Error(response.status)
    for (const item of all('li', parse(await response.text()))) {
      const id = item.dataset.issuer
      if (!id) missing.push(item.textContent)
      else if (!ids.includes(id) && ids.length < most) added = ids.push(id) && added + 1
      else if (!ids.includes(id)) full = true
    }
    full ||= ids.length >= most && at + TOGETHER < names.length
  }
  change(ids)
  say(box.dataset.added.replace('%', added) + (missing.length ? ` ${box.dataset.missing} ${missing.join('; ')}.` : ''))
  find('#full').hidden = !full
}

file.addEventListener('change', async () => {
  try {
    await load(firstCells(await file.files[0].slice(0, 100_000).text()))
  } catch { say(box.dataset.failed) }
  file.value = ''
})

addEventListener('storage', show)
addEventListener('pageshow', show)
new MutationObserver(show).observe(box, { attributeFilter: ['aria-pressed'], subtree: true }) // a star
show()
