package history

// Recent is what an Archive keeps, for the tests.
type Recent struct{ recent[int64] }

func NewRecent(most int) *Recent { return &Recent{recent[int64]{most: most}} }

func (r *Recent) Put(seq int64) { r.put(point{seq: seq}, seq) }

func (r *Recent) Use(seq int64) { r.get(point{seq: seq}) }

// Has reports whether a value is kept, which is no use of it.
func (r *Recent) Has(seq int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.kept {
		if e.at.seq == seq {
			return e.value == seq
		}
	}
	return false
}
