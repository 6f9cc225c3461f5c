package disclosure

import (
	"cmp"
	"encoding/json"
	"strings"
)

// ReadPosition reads one line of an import file and validates it. The kind may be missing,
// since the id begins with it. A line may also be a position as the API returns it, with
// some fields under other names and some that are derived.
//
// A seal is of the log of another store, and is left out. A line that says that the name
// was erased does not have a name.
func ReadPosition(line []byte) (Position, error) {
	var in struct {
		Position
		Author       string          `json:"person"`
		AuthorErased bool            `json:"person_erased"`
		PercentTotal string          `json:"percent_total"`
		Current      json.RawMessage `json:"current"`
		Amount       json.RawMessage `json:"amount"`
		Currency     json.RawMessage `json:"currency"`
		Attribution  json.RawMessage `json:"attribution"`
		AsOfSeq      json.RawMessage `json:"as_of_seq"`
	}
	if err := readLine(line, &in); err != nil {
		return Position{}, err
	}
	p := in.Position
	p.ID = strings.ToLower(p.ID)
	if p.Kind == "" {
		p.Kind, _ = KindOfPosition(p.ID)
	}
	p.Name = cmp.Or(p.Name, in.Author)
	p.Erased = p.Erased || in.AuthorErased
	p.Percent = cmp.Or(p.Percent, in.PercentTotal)
	p.Sealed = ""
	if p.Erased {
		p.Name = ""
		p.Natural = true // others are not erased
	}
	if p.DocumentStatus == DocumentPending || p.DocumentStatus == DocumentNone {
		p.DocumentStatus = "" // not read
	}
	return p, p.Validate()
}
