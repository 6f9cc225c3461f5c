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

// Room returns how many times the logs have room for.
func (w *Window) Room() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.recent {
		n += cap(l)
	}
	return n
}
