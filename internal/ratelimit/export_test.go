package ratelimit

var (
	Open     = open
	Ask      = (*Redis).ask
	Answered = (*Redis).answered
)

func (w *Window) SetCapacity(n int) { w.capacity = n }

// Blocks returns how many blocks the recent generation was given.
func (w *Window) Blocks() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return int(w.recent.made)
}
