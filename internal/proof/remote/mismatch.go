package remote

import (
	"fmt"

	"pregon/internal/proof"
)

// Kind is what a Mismatch shows.
type Kind string

// The kinds of a Mismatch.
const (
	Rewritten Kind = "history was rewritten"
	Split     Kind = "the log is split"
	WentBack  Kind = "the log went back"
	Restored  Kind = "another history"
	OtherLog  Kind = "another log"
	Signature Kind = "wrong signature"
	Tiles     Kind = "wrong tiles"
	Entry     Kind = "wrong entry"
)

// Mismatch is the error for a log that is not what it was, or not what it says.
type Mismatch struct {
	Kind     Kind
	Old, New proof.Checkpoint
	Text     []byte // the signed note of New
	// First and Last are the range that has the first wrong seq. They are equal if it
	// is known exactly, and 0 if no seq is wrong.
	First, Last int64
	Detail      string
}

// Error implements error.
func (m *Mismatch) Error() string {
	text := string(m.Kind) + ": "
	switch m.Kind {
	case Rewritten:
		text += fmt.Sprintf("%d changes were signed before, and the present %d do not continue them", m.Old.Size,
			m.New.Size)
	case Split:
		text += fmt.Sprintf("two different histories of %d changes were signed", m.New.Size)
	case WentBack:
		text += fmt.Sprintf("%d changes were signed before, now there are %d", m.Old.Size, m.New.Size)
	case Restored:
		text += fmt.Sprintf("the log was restored from an older copy of its store. It was %s with %d changes, "+
			"and is now %s with %d",
			m.Old.Origin, m.Old.Size, m.New.Origin, m.New.Size)
	case OtherLog:
		text += fmt.Sprintf("it was %s, and is now %s", m.Old.Origin, m.New.Origin)
	case Tiles:
		text += "the server's own tiles contradict its checkpoint"
	}
	if m.Detail != "" {
		if text[len(text)-2] != ':' {
			text += "; "
		}
		text += m.Detail
	}
	switch {
	case m.First == 0:
	case m.First == m.Last:
		text += fmt.Sprintf(". The first wrong seq is %d", m.First)
	default:
		text += fmt.Sprintf(". The first wrong seq is one of %d to %d", m.First, m.Last)
	}
	return text
}
