package events

import (
	"pregon/internal/disclosure"
	"pregon/internal/document"
)

// Add gives the hub changes after a seq as if the catalogue had them.
func (h *Hub) Add(after int64, changes ...disclosure.Change) {
	h.wakeAll(func() {
		h.head.Seq = after
		h.take(changes)
		h.head.Seq = changes[len(changes)-1].Seq
	})
}

// SharesWork reports whether two selectors have one compiled list, and compare an event and
// its text with it once.
func SharesWork(a, b *Selector, e *Event, c *document.Content) bool {
	if a.list() != b.list() {
		return false
	}
	one := a.list().compare(e)
	one.matchText(c)
	text := one.text.Load()
	two := b.list().compare(e)
	two.matchText(c)
	return one == two && text != nil && text == two.text.Load()
}

// CompiledLists returns how many compiled lists are known.
func CompiledLists() int {
	compiled.mu.Lock()
	defer compiled.mu.Unlock()
	return len(compiled.all)
}
