// The market in figures: charts of the result of get_analytics.

let figures = null // as get_analytics answered
const charts = [] // those on the page, redrawn when their width changes

const view = {
  name: 'analytics',
  input() {}, // the tool takes no arguments
  take,
  reload,
  draw,
}

function take(answer) {
  figures = answer
}

async function reload() {
  try {
    take(await callTool('get_analytics', {}))
    trouble.failure = null
    say(t('generated', { time: fullTime(figures.generated_at) }))
  } catch (error) {
    fail(error, reload)
  }
  draw()
}

// --- the page

function draw() {
  charts.length = 0
  keepFocus(() => document.getElementById('view').replaceChildren(
    header(t('analytics'), figures && refreshButton(reload)),
    simulatedBanner(isSimulated(figures)),
    framed([
      troubleNote(),
      !figures && !trouble.failure && waitingNote(),
      figures && totals(figures),
      figures && el('div', { class: 'charts' }, dailyChart(figures), heatChart(figures), issuerBars(figures), categoryBars(figures)),
      figures && el('p', { class: 'status' }, t('generated', { time: fullTime(figures.generated_at) })),
    ]),
  ))
  drawCharts()
}

function totals(answer) {
  const all = answer.totals?.all
  const tile = (name, value, note) => el('div', { class: 'tile' },
    el('dt', {}, name), el('dd', {}, el('b', {}, value), note && el('span', {}, note)))
  return el('dl', { class: 'tiles' },
    tile(t('reports'), number(all)),
    TYPES.map((type) => {
      const n = answer.totals?.by_type?.[type]
      const digits = { style: 'percent', maximumFractionDigits: n < all / 100 ? 1 : 0 }
      const share = all > 0 && isCount(n) && t('share', { share: number(n / all, digits) })
      return tile([typeTag(type)], isCount(n) ? number(n) : '–', share)
    }),
    isObject(answer.pace) && tile(t('pace'), number(answer.pace.today), paceNote(answer)))
}

function paceNote({ pace, generated_at }) {
  if (!isCount(pace.usual) || !clock(generated_at)) return ''
  const usual = number(pace.usual, { maximumFractionDigits: 1 })
  const day = inMadrid(generated_at, { weekday: 'long' })
  if (!isCount(pace.ratio)) return t('pace_usual', { usual, day })
  return t('pace_ratio', { ratio: number(pace.ratio, { maximumFractionDigits: 1 }), usual, day })
}

// --- charts

// figure is a chart with its title, its data as a table, and a tooltip
// for the mark under the pointer or with focus.
function figure(key, title, paint, table, extra = null) {
  const box = el('div', { class: 'chart-box' })
  const tip = el('div', { class: 'tip', 'aria-hidden': 'true', hidden: true })
  charts.push({ key, box, tip, title, paint, width: 0 })
  return el('figure', { class: `chart chart-${key}` },
    el('figcaption', {}, el('h2', {}, title), extra),
    el('div', { class: 'chart-area' }, box, tip),
    el('details', {}, el('summary', { 'data-key': `data ${key}` }, t('data')), table))
}

function drawCharts() {
  for (const chart of charts) {
    const width = Math.floor(chart.box.clientWidth)
    if (width === 0 || width === chart.width) continue
    chart.width = width
    keepFocus(() => chart.box.replaceChildren(chart.paint(chart, width)))
    widthWatcher.observe(chart.box)
  }
}

const widthWatcher = new ResizeObserver(() => drawCharts())
life.signal.addEventListener('abort', () => widthWatcher.disconnect())

// drawing returns the SVG of a chart. Its marks are one stop of the Tab key. The
// arrow keys move between them, since there may be 168.
function drawing(chart, width, height, columns, marks, decoration) {
  marks.forEach((mark, i) => {
    mark.setAttribute('tabindex', i === 0 ? '0' : '-1')
    mark.dataset.key = `${chart.key} ${i}`
    listen(mark, 'focus', () => {
      for (const other of marks) other.setAttribute('tabindex', other === mark ? '0' : '-1')
      showTip(chart, mark)
    })
    listen(mark, 'blur', () => hideTip(chart))
    listen(mark, 'pointerenter', () => showTip(chart, mark))
    listen(mark, 'pointerleave', () => hideTip(chart))
    listen(mark, 'keydown', (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -i, End: marks.length - 1 - i }
      const step = steps[event.key]
      if (event.key === 'Escape' && !chart.tip.hidden) hideTip(chart)
      else if (step === undefined) return
      else marks[Math.max(0, Math.min(marks.length - 1, i + step))].focus()
      event.preventDefault()
    })
  })
  return svg('svg', { class: 'drawing', width, height, viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': chart.title },
    svg('g', { 'aria-hidden': 'true' }, decoration), marks)
}

function showTip({ box, tip }, mark) {
  tip.replaceChildren(mark.getAttribute('aria-label'))
  tip.hidden = false
  const area = box.getBoundingClientRect()
  const place = mark.getBoundingClientRect()
  const middle = place.left + place.width / 2 - area.left
  const left = Math.max(0, Math.min(area.width - tip.offsetWidth, middle - tip.offsetWidth / 2))
  const above = place.top - area.top - tip.offsetHeight - 6
  tip.style.left = `${left}px`
  tip.style.top = `${above >= -30 ? above : place.bottom - area.top + 6}px`
}

function hideTip({ tip }) {
  tip.hidden = true
}

const rect = (x, y, width, height, more) =>
  svg('rect', { x, y, width: Math.max(0, width), height: Math.max(0, height), ...more })

const label = (x, y, text, more) => svg('text', { x, y, ...more }, text)

// roundUp returns the top of a scale for values up to n.
function roundUp(n) {
  const power = 10 ** Math.floor(Math.log10(Math.max(n, 1)))
  return Math.max(2, power * [1, 2, 4, 6, 8, 10].find((step) => step * power >= n))
}

// scale draws the lines across a bar chart: zero, half and the top.
function scale(width, left, top, bottom, most) {
  return [0, most / 2, most].flatMap((value) => {
    const y = bottom - (bottom - top) * value / most
    return [
      svg('line', { class: 'grid', x1: left, x2: width, y1: y, y2: y }),
      label(left - 6, y + 3.5, number(value, { notation: 'compact' }), { class: 'axis', 'text-anchor': 'end' }),
    ]
  })
}

// dataTable returns the data of a chart as a table.
function dataTable(heads, lines) {
  return el('div', { class: 'table-box', tabindex: '0', role: 'region', 'aria-label': t('data') },
    el('table', {},
      el('thead', {}, el('tr', {}, heads.map((head) => el('th', { scope: 'col' }, head)))),
      el('tbody', {}, lines.map(([first, ...others]) => el('tr', {},
        el('th', { scope: 'row' }, first), others.map((value) => el('td', {}, value)))))))
}

function dailyChart(answer) {
  const days = asList(answer.daily).filter((day) => isObject(day) && typeof day.date === 'string').slice(-62)
  if (!days.length) return null
  const of = (day, type) => (isCount(day[type]) ? day[type] : 0)
  const sum = (day) => TYPES.reduce((total, type) => total + of(day, type), 0)
  const dayName = (day) => calendarDay(day.date, { weekday: 'long', day: 'numeric', month: 'long' })
  const words = (day) => `${dayName(day)}: ${counted('reports_count', sum(day))} (${TYPES.map((type) => `${type} ${number(of(day, type))}`).join(', ')})`
  const paint = (chart, width) => {
    const [left, top, bottom, height] = [36, 10, 170, 196]
    const most = roundUp(Math.max(...days.map(sum)))
    const step = (width - left) / days.length
    const every = Math.ceil(52 / step) // so that dates do not run into each other
    const marks = days.map((day, i) => {
      let y = bottom
      const bars = TYPES.map((type) => {
        const tall = (bottom - top) * of(day, type) / most
        y -= tall
        return rect(left + i * step + step * 0.14, y, step * 0.72, tall, { class: `fill ${typeClass(type)}` })
      })
      return svg('g', { class: 'mark', role: 'img', 'aria-label': words(day) },
        rect(left + i * step, top, step, bottom - top, { class: 'hit' }), bars)
    })
    const dates = days.map((day, i) => {
      const behind = days.length - 1 - i // the last date is always there, and ends where the chart does
      if (behind % every !== 0) return ''
      const place = behind ? [left + (i + 0.5) * step, 'middle'] : [width, 'end']
      return label(place[0], height - 8, calendarDay(day.date, { day: 'numeric', month: 'short' }), { class: 'axis', 'text-anchor': place[1] })
    })
    return drawing(chart, width, height, 1, marks, [scale(width, left, top, bottom, most), dates])
  }
  const table = dataTable([t('day'), ...TYPES, t('total')],
    days.map((day) => [dayName(day), ...TYPES.map((type) => number(of(day, type))), number(sum(day))]))
  const legend = el('ul', { class: 'legend' }, TYPES.map((type) =>
    el('li', {}, el('span', { class: `swatch ${typeClass(type)}` }), `${type} `, el('span', { class: 'meaning' }, t(type)))))
  return figure('daily', t('daily'), paint, table, legend)
}

// heat colours a cell by its share of the maximum. The square root keeps quiet
// hours distinguishable.
function heat(cell, n, most) {
  const share = most > 0 ? Math.sqrt(n / most) : 0
  cell.style.fill = n > 0 ? `color-mix(in oklab, var(--heat) ${Math.round(12 + 88 * share)}%, var(--raised))` : 'var(--raised)'
}

const twoDigits = (n) => String(n).padStart(2, '0')

function heatChart(answer) {
  const days = asList(answer.weekday_hours).map((hours) => asList(hours).map((n) => (isCount(n) ? n : 0)))
  if (days.length !== 7 || days.some((hours) => hours.length !== 24)) return null
  const most = Math.max(...days.flat())
  const words = (day, hour) => `${weekdayName(day)}, ${t('hour_span', { from: twoDigits(hour), to: twoDigits(hour + 1) })}: ${counted('reports_count', days[day][hour])}`
  const paint = (chart, width) => {
    const [left, tall] = [36, 20]
    const step = (width - left) / 24
    const gap = step > 12 ? 2 : 1
    const marks = days.flatMap((hours, day) => hours.map((n, hour) => {
      const cell = rect(left + hour * step, day * tall, step - gap, tall - gap, { class: 'mark cell', rx: 2, role: 'img', 'aria-label': words(day, hour) })
      heat(cell, n, most)
      return cell
    }))
    const names = days.map((_, day) => label(left - 6, day * tall + 13, weekdayName(day, 'short'), { class: 'axis', 'text-anchor': 'end' }))
    const hours = [0, 3, 6, 9, 12, 15, 18, 21].map((hour) => label(left + hour * step, 7 * tall + 14, twoDigits(hour), { class: 'axis' }))
    return drawing(chart, width, 7 * tall + 22, 24, marks, [names, hours])
  }
  const table = dataTable([t('hour'), ...days.map((_, day) => weekdayName(day, 'short'))],
    days[0].map((_, hour) => [`${twoDigits(hour)}:00`, ...days.map((hours) => number(hours[hour]))]))
  const legend = el('p', { class: 'legend', 'aria-hidden': 'true' }, t('less'), el('span', { class: 'ramp' }), t('more'))
  return figure('heat', t('heat'), paint, table, legend)
}

// --- bars with names, which open the reports behind them

function issuerBars(answer) {
  return nameBars('issuers', t('issuers'), answer.issuers, ({ id, name, ticker }) => ({ name, ticker, filter: { issuer: id } }))
}

function categoryBars(answer) {
  return nameBars('categories', t('categories'), answer.categories, ({ category, category_en: english }) => ({ name: (language === 'en' && english) || category, filter: { category } }))
}

// nameBars draws the first ten of a list of totals. read returns
// the name of each and the filter for its reports.
function nameBars(key, title, list, read) {
  const entries = asList(list).filter((one) => isObject(one) && isCount(one.total)).slice(0, 10)
  if (!entries.length) return null
  const most = Math.max(1, ...entries.map((entry) => entry.total))
  return el('section', { class: `chart chart-${key}` },
    el('h2', {}, title),
    el('ol', { class: 'bars' }, entries.map((entry) => {
      const { name, ticker, filter } = read(entry)
      const line = [
        el('span', { dir: 'auto' }, plain(name, '?'), ' ', el('span', { class: 'ticker' }, plain(ticker))),
        el('span', {}, number(entry.total)),
        svg('svg', { class: 'bar', 'aria-hidden': 'true' },
          svg('rect', { class: 'bar-back', width: '100%', height: 6, rx: 3 }),
          svg('rect', { class: 'fill of-OIR', width: `${100 * entry.total / most}%`, height: 6, rx: 3 })),
      ]
      return el('li', {}, host.canCall()
        ? button(`${key} ${Object.values(filter)}`, line, () => openReportList(plain(name), filter), { class: 'bar-row' })
        : el('div', { class: 'bar-row' }, line))
    })))
}

// openReportList shows the newest reports that match a filter.
function openReportList(name, filter) {
  const page = {
    reports: null,
    failure: null,
    title: () => [t('newest', { name })],
    draw: () => [
      page.failure && problem(page.failure, load),
      !page.failure && !page.reports && el('p', { class: 'note waiting' }, t('waiting')),
      page.reports?.length === 0 && el('p', { class: 'note' }, t('no_reports')),
      page.reports && el('ol', { class: 'rows' }, page.reports.map((report) => reportRow(report))),
    ],
  }
  async function load() {
    page.failure = null
    redraw(page)
    try {
      page.reports = reportsOf((await callTool('search_reports', { ...filter, limit: 10 })).data)
    } catch (error) {
      page.failure = error
    }
    redraw(page)
  }
  openPage(page)
  load()
}

connect()
