package coverage

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"pregon/internal/store"
)

// Register is what is known about how a register of positions was read. Its numbers
// are not dense, so that no gap in it can be proved.
type Register struct {
	// ReadAt is when it was last read without a failure.
	ReadAt time.Time `json:"read_at"`
	// WholeUntil is until when it is known to be whole: every entry that the register
	// showed at that time was read. Zero for never.
	WholeUntil time.Time `json:"whole_until"`
	// Entries is how many entries it had then.
	Entries int `json:"entries"`
}

const registerPrefix = "register/"

// Register returns how a register was read. ok is false if it never was.
func (t *Tracker) Register(name string) (r Register, ok bool) {
	text := t.text(registerPrefix + name)
	ok = text != "" && json.Unmarshal([]byte(text), &r) == nil
	return r, ok
}

// SetRegister records how a register was read.
func (t *Tracker) SetRegister(ctx context.Context, lease *store.Lease, name string, r Register) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return t.set(ctx, lease, newRecord(registerPrefix+name, string(text)))
}

// isRegister reports whether a record is about a register of positions.
func isRegister(name string) bool { return strings.HasPrefix(name, registerPrefix) }
