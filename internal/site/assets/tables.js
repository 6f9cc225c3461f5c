// Sorts the rows of a table on the page by a column. It uses functions of site.js,
// which is loaded before.
'use strict'

const collator = new Intl.Collator(document.documentElement.lang, { numeric: true })

// sortable makes buttons of the headings of a table. Each sorts by its column, in the other
// direction if it did already, and then restores the order of the page.
function sortable(table) {
  const rows = all('tbody tr', table), headings = all('thead th', table)
  const orders = ['ascending', 'descending']
  for (const [column, heading] of headings.entries()) {
    if ('unsorted' in heading.dataset) continue
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'sort'
    button.title = document.body.dataset.sort
    button.append(...heading.childNodes)
    heading.append(button)
    button.addEventListener('click', () => {
      const wanted = heading.classList.contains('numeric') ? orders.toReversed() : orders // the largest and newest first
      const order = wanted[wanted.indexOf(heading.ariaSort) + 1]
      headings.forEach((other) => other.removeAttribute('aria-sort'))
      if (order) heading.ariaSort = order
      find('tbody', table).append(...order ? sorted(rows, column, order) : rows)
      saySorted(table, order)
    })
  }
}

// sorted returns rows in the order of a column. Empty cells are the last.
function sorted(rows, column, order) {
  const numeric = find('thead', rows[0].closest('table')).rows[0].cells[column].classList.contains('numeric')
  const sign = order === 'ascending' ? 1 : -1
  return rows.map((row) => [row, valueOf(row.cells[column], numeric)])
    .sort(([, a], [, b]) => a === null || b === null ? (a === null) - (b === null) : sign * (numeric ? a - b : collator.compare(a, b)))
    .map(([row]) => row)
}

// valueOf returns what a cell is sorted by, or null if it is empty.
function valueOf(cell, numeric) {
  const time = find('time', cell), text = cell.textContent.trim()
  if (!numeric) return text || null
  if (time) return Date.parse(time.dateTime)
  const number = text.match(/[-−+]?\d[\d.,]*/)?.[0]
  if (!number) return null
  const plain = document.documentElement.lang === 'es' ? number.replaceAll('.', '').replace(',', '.') : number.replaceAll(',', '')
  return Number(plain.replace('−', '-'))
}

// saySorted says under a table with several pages that only one is sorted.
function saySorted(table, order) {
  let note = table.nextElementSibling?.matches('.sorted') ? table.nextElementSibling : null
  if (!note) {
    note = document.createElement('p')
    note.className = 'sorted muted small'
    note.role = 'status'
    table.after(note)
  }
  note.textContent = order && find('.pages') ? document.body.dataset.sorted : ''
}

all('table.entries').forEach(sortable)
