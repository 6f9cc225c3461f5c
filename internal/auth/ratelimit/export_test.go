package ratelimit

var (
	Open     = open
	Ask      = (*Redis).ask
	Answered = (*Redis).answered
	Bound    = bound
)

const LongestReply = longestReply

// Counted is a request that can be given back.
type Counted = counted

func (w *Window) TakeCounted(s Subject) (Verdict, Counted) { return w.decide(s, true) }

func (w *Window) GiveBack(c Counted) { w.giveBack(c) }

func (w *Window) SetCapacity(n int) { w.capacity = n }

// Blocks returns how many blocks the recent generation was given.
func (w *Window) Blocks() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return int(w.recent.made)
}
