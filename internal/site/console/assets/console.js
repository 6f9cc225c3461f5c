// What the pages of an account do in addition with JavaScript: the form of a webhook
// shows what it would have sent while it is filled in, and completes issuers; the button
// that gives an application access needs no second page. It uses functions of site.js,
// which is loaded before.
'use strict'

const consent = find('form[data-consent]')
if (consent) armConsent(consent)

// The button works after the page was visible and had the focus for a second: another
// page may have led here, or brought this window to the front, between the two clicks of
// a double click. Only then is the form one that gives access, which it is not without
// this script.
function armConsent(form) {
  const allow = find('button[value="allow"]', form)
  const request = find('input[name="request"]', form)
  let timer
  const disarm = () => {
    clearTimeout(timer)
    allow.disabled = true
  }
  const arm = () => {
    disarm()
    if (document.visibilityState !== 'visible' || !document.hasFocus()) return
    timer = setTimeout(() => {
      request.value = form.dataset.consent || request.value
      allow.disabled = false
    }, 1000)
  }
  addEventListener('blur', disarm)
  for (const event of ['focus', 'pageshow']) addEventListener(event, arm)
  document.addEventListener('visibilitychange', arm)
  allow.hidden = false
  arm()
}

const builder = find('form[data-preview]')
if (builder) showPreview(builder, find('#preview'))

function showPreview(form, box) {
  let timer, running
  find('[data-preview-button]', form).hidden = true
  const ask = async () => {
    running?.abort()
    running = new AbortController()
    const { signal } = running
    const body = new URLSearchParams(new FormData(form))
    body.set('fragment', '1')
    try {
      const response = await fetch(form.dataset.preview, { method: 'POST', body, signal })
      if (!response.ok || response.redirected) return
      box.replaceChildren(...parse(await response.text()).body.childNodes)
    } catch { /* another request follows, or the button of the form remains */ }
    if (!signal.aborted) box.classList.remove('waiting')
  }
  form.addEventListener('input', (event) => {
    if (['url', 'description'].includes(event.target.name)) return
    clearTimeout(timer)
    box.classList.add('waiting')
    timer = setTimeout(ask, 300)
  })
}

// The options of the search box lead to the page of an issuer, whose address ends in
// its id, or to the reports of a category. Here they fill in the fields.
for (const part of all('.completes')) {
  const set = (input, value) => {
    input.value = value
    input.dispatchEvent(new Event('input', { bubbles: true }))
  }
  const issuer = find('input', part)
  complete(part, issuer, find('.suggestions', part), (address) => {
    const { pathname, searchParams } = new URL(address, location)
    const [, id] = pathname.match(/^\/issuers\/([^/]+)$/) ?? []
    set(issuer, id ? decodeURIComponent(id) : '')
    if (!id) set(find('#category'), searchParams.get('category'))
  })
}

// A file is read into the field beside it, and is sent with the form.
const source = find('[data-file]')
if (source) {
  source.hidden = false
  find('input', source).addEventListener('change', async ({ target }) => {
    if (target.files[0]) find('textarea', source.closest('form')).value = (await target.files[0].slice(0, 60_000).text()).replace(/^\uFEFF/, '')
  })
}

// A browser subscribes to alerts after a click, which lets it ask for the permission.
const browser = find('form[data-push]')
if (browser && 'PushManager' in window && 'serviceWorker' in navigator) {
  browser.hidden = false
  const said = find('[role="status"]', browser)
  browser.addEventListener('submit', async (event) => {
    if (browser.elements.to.value) return // it has the subscription
    event.preventDefault()
    try {
      if (await Notification.requestPermission() !== 'granted') {
        said.textContent = browser.dataset.denied
        return
      }
      await navigator.serviceWorker.register('/account/push-worker.js')
      const worker = await navigator.serviceWorker.ready
      const subscription = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: browser.dataset.push })
      browser.elements.to.value = JSON.stringify(subscription)
      browser.submit()
    } catch {
      said.textContent = browser.dataset.failed
    }
  })
}
