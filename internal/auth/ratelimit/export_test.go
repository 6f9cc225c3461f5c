package ratelimit

var (
	Open     = open
	Ask      = (*Redis).acquire
	Answered = (*Redis).report
	Bound    = limitReplies
)

const LongestReply = maxReply

// Counted is a request that can be refunded.
type Counted = counted

func (w *Window) TakeCounted(s Subject) (Decision, Counted) { return w.decide(s, true) }

func (w *Window) GiveBack(c Counted) { w.refund(c) }

func (w *Window) SetCapacity(n int) { w.capacity = n }

// Blocks returns the number of blocks of the recent generation.
func (w *Window) Blocks() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return int(w.recent.allocated)
}
