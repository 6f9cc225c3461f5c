// Shows the messages of alerts that push services bring to this browser, while no page of
// the site is open. It sees nothing else.
'use strict'

addEventListener('push', (event) => {
  let note = {}
  try { note = event.data.json() } catch { /* a message without data only says that there is one */ }
  event.waitUntil(registration.showNotification(note.title || 'Pregón', {
    body: note.body,
    tag: note.tag,
    lang: note.lang,
    data: { url: note.url },
  }))
})

addEventListener('notificationclick', (event) => {
  event.notification.close()
  const to = new URL(event.notification.data?.url || '/following', location)
  if (to.origin === location.origin) event.waitUntil(clients.openWindow(to.href))
})
