package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/proof"
	"pregon/internal/proof/remote"
	"pregon/internal/query"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/pages"
)

// contractFields are those that every answer with a report has.
var contractFields = []string{"id", "company_name", "ticker", "type", "title", "summary", "published_at", "cnmv_registration_number", "pdf_url"}

// verifyReport checks a report and its proof without a network. Without a key it
// fails, after it has checked all that can be checked: anyone can make a proof that is
// only not signed by the log.
func (c *verifyCmd) verifyReport(p *process) error {
	var history *remote.History
	if c.Since != "" {
		var err error
		if history, err = remote.LoadHistory(c.Since); err != nil {
			return fmt.Errorf("--since: %w", err)
		}
	}
	keys, err := c.pinnedKeys(history)
	if err != nil {
		return err
	}
	text, err := readInput(c.Proof, proof.MaxProof)
	if err != nil {
		return err
	}
	proven, err := proof.ParseProof(text)
	if err != nil {
		return fault.New(fault.Invalid, "%s: %v", c.Proof, err)
	}
	leaf, checkpoint, signed, err := checkProof(proven, keys)
	if err != nil {
		return fault.New(fault.Conflict, "%s is not valid: %v", c.Proof, err)
	}
	if history != nil {
		if err := history.Agrees(checkpoint); err != nil {
			return fault.New(fault.Conflict, "%s: %v", c.Proof, err)
		}
	}
	if text, err = readInput(c.Report, proof.MaxProof); err != nil {
		return err
	}
	if err := c.compareReport(p, text, leaf); err != nil {
		return err
	}
	place := fmt.Sprintf("seq %d of %s (%s at %s), in a tree of %d changes",
		leaf.Seq, checkpoint.Origin, leaf.Event, leaf.Time.Format("2006-01-02 15:04:05 MST"), checkpoint.Size)
	if !signed {
		return fault.New(fault.Conflict, "NOT VERIFIED: %s says that it is %s, but without --vkey the signature was not checked, and anyone can write such files. "+
			"Take the key from a place that you trust: the service states its own at /log/vkey", c.Proof, place)
	}
	fmt.Fprintf(p.stdout, "verified: %s\n", place)
	return nil
}

// checkProof verifies a proof, and its signature if there are keys.
func checkProof(p proof.Proof, keys remote.Keys) (leaf proof.Leaf, c proof.Checkpoint, signed bool, err error) {
	if keys != nil {
		leaf, c, err = p.Verify(keys.Verifiers())
		if _, unknown := errors.AsType[*note.UnverifiedNoteError](err); unknown {
			err = fmt.Errorf("none of the given keys signed its checkpoint. If the log has a new key, or was restored, take its new key from a place that you trust (%w)", err)
		}
		return leaf, c, true, err
	}
	if c, err = proof.ParseCheckpoint([]byte(p.Checkpoint)); err == nil {
		leaf, err = p.In(c)
	}
	return leaf, c, false, err
}

// compareReport compares the fields of a report with those of its record in the log,
// and prints which are not in the log.
func (c *verifyCmd) compareReport(p *process, text []byte, leaf proof.Leaf) error {
	var given map[string]any
	if err := json.Unmarshal(text, &given); err != nil {
		return fault.New(fault.Invalid, "%s is not the JSON object of a report: %v", c.Report, err)
	}
	if !strings.HasPrefix(leaf.Event, "report.") {
		return fault.New(fault.Conflict, "%s is the proof of another kind of change, %s", c.Proof, leaf.Event)
	}
	record, err := disclosure.DecodeReport(string(leaf.Record))
	if err != nil {
		return fault.New(fault.Conflict, "the record of seq %d cannot be read: %v", leaf.Seq, err)
	}
	if given["id"] != record.ID {
		return fault.New(fault.Conflict, "%s is the report %v, %s is the proof of %s", c.Report, given["id"], c.Proof, record.ID)
	}
	same, differ, uncovered, err := compareFields(given, record)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "as in the log: %s\n", strings.Join(same, ", "))
	if len(uncovered) > 0 {
		fmt.Fprintf(p.stdout, "not in the log, so not checked: %s\n", strings.Join(uncovered, ", "))
	}
	if len(differ) > 0 {
		return fault.New(fault.Conflict, "%s differs from seq %d of the log in %s. If the report was changed since, get both files again",
			c.Report, leaf.Seq, strings.Join(differ, ", "))
	}
	return nil
}

// compareFields returns the names of the fields of an answer that are those of the
// record, that differ, and that do not come from the record.
func compareFields(given map[string]any, record *disclosure.Report) (same, differ, uncovered []string, err error) {
	text, err := json.Marshal(query.DescribeReport(record))
	if err != nil {
		return nil, nil, nil, err
	}
	var want map[string]any
	if err := json.Unmarshal(text, &want); err != nil {
		return nil, nil, nil, err
	}
	delete(want, "issuer_id")   // the directory decides it
	delete(want, "attribution") // of the service
	if record.Ticker == "" {
		delete(want, "ticker") // the directory may have one
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value, expected := given[name], want[name]
		switch _, ok := want[name]; {
		case !ok:
			uncovered = append(uncovered, name)
		case reflect.DeepEqual(value, expected) || simulated(value, expected):
			same = append(same, name)
		default:
			differ = append(differ, name)
		}
	}
	for _, name := range contractFields {
		if _, ok := given[name]; !ok {
			differ = append(differ, name+" (missing)")
		}
	}
	return same, differ, uncovered, nil
}

// simulated reports whether a link is that of a record of the simulated market. The
// service replaces its host, which does not exist, by its own.
func simulated(given, expected any) bool {
	link, ok := expected.(string)
	shown, isText := given.(string)
	path, isSimulated := strings.CutPrefix(link, archive.Origin+"/")
	return ok && isText && isSimulated && strings.HasPrefix(shown, "http") && strings.HasSuffix(shown, pages.Prefix+"/"+path)
}

// readInput reads a file of at most most bytes.
func readInput(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > most {
		return nil, fault.New(fault.Invalid, "%s is longer than %d bytes", path, most)
	}
	return text, nil
}
