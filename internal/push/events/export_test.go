package events

import "pregon/internal/disclosure"

// Add gives the hub changes after a seq as if the catalogue had them.
func (h *Hub) Add(after int64, changes ...disclosure.Change) {
	h.wakeAll(func() {
		h.head.Seq = after
		h.take(changes)
		h.head.Seq = changes[len(changes)-1].Seq
	})
}
