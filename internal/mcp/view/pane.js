// The pane is where things open: beside the rest of the view when there is
// room, in its place when there is not (the style sheet decides). What opens
// from within the pane lies on top of what was there, and Back takes it off.

const pane = {
  pages: [], // the one on top is shown
  heading: null,
  body: null,
  frame: null, // holds the view's own content, then the pane
  onchange: () => {},
}

// framed lays the view's own content and the pane out.
function framed(content) {
  pane.heading = el('h2', { id: 'opened', tabindex: '-1', dir: 'auto', 'data-key': 'opened' })
  pane.body = el('div', { class: 'pane-body' })
  pane.frame = el('main', { class: 'frame' },
    el('div', { class: 'own' }, content),
    el('section', { class: 'pane', 'aria-labelledby': 'opened' },
      el('div', { class: 'pane-top' }, button('back', [icon('back'), t('back')], closePage, { class: 'quiet' })),
      pane.heading, pane.body))
  drawPane()
  return pane.frame
}

// openPage shows a page: { title(), draw() } and whatever it keeps to itself.
function openPage(page) {
  page.openedFrom = document.activeElement?.dataset?.key
  pane.pages.push(page)
  drawPane()
  pane.heading.focus()
  pane.onchange()
}

function closePage() {
  const closed = pane.pages.pop()
  if (!closed) return
  drawPane()
  focusOn(closed.openedFrom)
  pane.onchange()
}

// redraw shows a page anew that has changed, if it is the one on top.
function redraw(page) {
  if (pane.pages.at(-1) === page) keepFocus(drawPane)
}

function drawPane() {
  const page = pane.pages.at(-1)
  pane.frame.classList.toggle('open', Boolean(page))
  pane.frame.lastElementChild.hidden = !page
  pane.heading.replaceChildren(...(page ? page.title() : []))
  pane.body.replaceChildren(...(page ? page.draw().filter(Boolean) : []))
}

listen(document, 'keydown', (event) => {
  if (event.key !== 'Escape' || event.defaultPrevented || !pane.pages.length) return
  event.preventDefault()
  closePage()
})
