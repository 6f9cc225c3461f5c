package remote_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/proof"
	"pregon/internal/proof/prooftest"
	"pregon/internal/proof/remote"
)

var salt = []byte(strings.Repeat("s", 32))

// provenPosition is a position as the log has it, its name sealed.
func provenPosition() disclosure.Position {
	const name = "Elena Ruiz Salvatierra"
	return disclosure.Position{
		ID:           "dealing-2026000001",
		Kind:         disclosure.Dealing,
		IssuerName:   "ALMAZARA FICTICIA, S.A.",
		Natural:      true,
		Sealed:       disclosure.Seal(salt, name),
		State:        disclosure.StateCurrent,
		Number:       "2026000001",
		RegisteredOn: "2026-10-01",
		DocumentURL:  "https://regulator.example/d",
		FirstSeenAt:  time.Date(2026, 10, 1, 8, 0, 0, 0, time.UTC),
		AvailableAt:  time.Date(2026, 10, 1, 8, 0, 0, 0, time.UTC),
	}
}

// checkPosition runs a check of the answer with the proof of a record.
func checkPosition(t *testing.T, record disclosure.Position, answer string, salt []byte) (place string, err error) {
	t.Helper()
	body, err := json.Marshal(&record)
	if err != nil {
		t.Fatal(err)
	}
	leaf := disclosure.Leaf{
		Seq:    1,
		Event:  string(disclosure.PositionPublished),
		Time:   record.AvailableAt,
		Record: body,
	}.Append(nil)
	s := prooftest.New(t, 0)
	s.Add(leaf)
	found, err := json.Marshal(proof.Proof{
		Seq:        1,
		TreeSize:   1,
		Leaf:       leaf,
		Checkpoint: string(s.Checkpoint()),
		Salt:       salt,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, public := s.Keys()
	dir := t.TempDir()
	for name, text := range map[string]string{"position.json": answer, "proof.json": string(found), "vkey": public} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := remote.ReadKeys(filepath.Join(dir, "vkey"))
	if err != nil {
		t.Fatal(err)
	}
	check := remote.ReportCheck{
		Report:   filepath.Join(dir, "position.json"),
		Proof:    filepath.Join(dir, "proof.json"),
		Keys:     keys,
		Compared: func([]string) {},
	}
	return check.Run()
}

// TestPosition: all fields of a position are compared with its leaf, the name with its seal.
func TestPosition(t *testing.T) {
	record := provenPosition()
	named := record
	named.Name = "Elena Ruiz Salvatierra"
	another := record
	another.Name = "Marta Gil Olmedo"
	another.Issuer = "A00000018" // of the directory
	erased := record
	erased.Erased = true
	answer := func(p disclosure.Position) string { return string(disclosure.AppendPosition(nil, &p)) }
	replaced := func(before, after string) string {
		t.Helper()
		text := strings.Replace(answer(named), before, after, 1)
		if text == answer(named) {
			t.Fatalf("%s is not in %s", before, text)
		}
		return text
	}
	legal := record
	legal.Sealed = ""
	legal.Natural = false
	legal.Name = "CASAMAR PATRIMONIAL, S.L."
	for name, test := range map[string]struct {
		record disclosure.Position
		answer string
		salt   []byte
		want   string // in the place, or in the error that begins with "!"
	}{
		"the name and its salt":   {record, answer(named), salt, "NOT checked: issuer_id"},
		"another name":            {record, answer(another), salt, "!differs from seq 1 of the log in person, person_erased"},
		"another salt":            {record, answer(named), []byte("other"), "!in person, person_erased"},
		"no salt":                 {record, answer(another), nil, "NOT checked: issuer_id, person, person_erased"},
		"erased since":            {record, answer(record), nil, "NOT checked: issuer_id"},
		"erased":                  {erased, answer(erased), nil, "NOT checked: issuer_id"},
		"a name that was erased":  {erased, answer(named), salt, "!in person, person_erased"},
		"denies that it has one":  {erased, replaced(`"person":"Elena Ruiz Salvatierra"`, `"person":null`), nil, "!in person_erased"},
		"a legal person":          {legal, answer(legal), nil, "NOT checked: issuer_id"},
		"another legal person":    {legal, answer(named), salt, "!in person"},
		"another state":           {record, replaced(`"state":"current"`, `"state":"annulled"`), salt, "!in state"},
		"another document":        {record, replaced("example/d", "example/e"), salt, "!in document_url"},
		"another position":        {record, replaced("dealing-2026000001", "dealing-2026000002"), salt, "!is the position dealing-2026000002"},
		"of the request":          {record, replaced(`{`, `{"as_of_seq":5,"attribution":{},`), salt, "NOT checked: as_of_seq, attribution, issuer_id"},
		"a field of another kind": {record, replaced(`{`, `{"percent":"5",`), salt, `!has no field "percent"`},
		"a name of another kind":  {record, replaced(`{`, `{"holder":"x",`), nil, `!has no field "holder"`},
		"a field twice":           {record, replaced(`{`, `{"person":"x",`), salt, `!has the field "person" twice`},
		"without its state":       {record, replaced(`,"state":"current"`, ``), salt, "!state (missing)"},
	} {
		t.Run(name, func(t *testing.T) {
			place, err := checkPosition(t, test.record, test.answer, test.salt)
			want, wrong := strings.CutPrefix(test.want, "!")
			switch {
			case wrong && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("%q, %v; want an error with %q", place, err, want)
			case !wrong && (err != nil || !strings.HasSuffix(place, want)):
				t.Errorf("%q, %v; want %q", place, err, want)
			}
		})
	}
}
