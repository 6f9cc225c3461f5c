package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/proof"
	"pregon/internal/text/strictjson"
)

// contractFields are those that every answer with a report has.
var contractFields = []string{
	"id", "company_name", "ticker", "type", "title", "summary", "published_at",
	"cnmv_registration_number", "pdf_url",
}

// ReportCheck checks, without a network, that a log has a report or a position.
type ReportCheck struct {
	Report  string   // file with the report or position, as the API answers it
	Proof   string   // file with its proof
	History *History // with which the proof must agree; nil for none
	Keys    Keys     // that are trusted; nil for none
	// Fields returns the fields that an answer with a report may have, with the values
	// that follow from its record.
	Fields func(record *disclosure.Report) (map[string]any, error)
	// Compared is called with the names of the fields that are as in the log.
	Compared func(same []string)
}

// Run returns the place of the report in the log. Without a key it fails, after it has
// checked all that can be checked: anyone can make a proof that is valid except for the
// signature.
func (c *ReportCheck) Run() (place string, err error) {
	text, err := ReadFile(c.Proof, proof.MaxProof)
	if err != nil {
		return "", err
	}
	proven, err := proof.ParseProof(text)
	if err != nil {
		return "", fault.New(fault.Invalid, "%s: %v", c.Proof, err)
	}
	leaf, checkpoint, signed, err := checkProof(proven, c.Keys)
	if err != nil {
		return "", fault.New(fault.Conflict, "%s is not valid: %v", c.Proof, err)
	}
	if c.History != nil {
		if err := c.History.Agrees(checkpoint); err != nil {
			return "", fault.New(fault.Conflict, "%s: %v", c.Proof, err)
		}
	}
	if text, err = ReadFile(c.Report, proof.MaxProof); err != nil {
		return "", err
	}
	unchecked, err := c.compare(text, leaf, proven.Salt)
	if err != nil {
		return "", err
	}
	place = fmt.Sprintf("seq %d of %s (%s at %s), in a tree of %d changes",
		leaf.Seq, checkpoint.Origin, leaf.Event, leaf.Time.Format("2006-01-02 15:04:05 MST"), checkpoint.Size)
	if !signed {
		return "", fault.New(fault.Conflict, "NOT VERIFIED: %s says that it is %s, but without --vkey the "+
			"signature was not checked, and anyone can write such files. "+
			"Take the key from a place that you trust: the service states its own at /log/vkey", c.Proof, place)
	}
	if len(unchecked) > 0 {
		place += ". Not in the log, so NOT checked: " + strings.Join(unchecked, ", ")
	}
	return place, nil
}

// checkProof verifies a proof, and its signature if there are keys.
func checkProof(p proof.Proof, keys Keys) (leaf disclosure.Leaf, c proof.Checkpoint, signed bool, err error) {
	if keys != nil {
		leaf, c, err = p.Verify(keys.Verifiers())
		if _, unknown := errors.AsType[*note.UnverifiedNoteError](err); unknown {
			err = fmt.Errorf("none of the given keys signed its checkpoint. If the log has a new key, or was "+
				"restored, take its new key from a place that you trust (%w)", err)
		}
		return leaf, c, true, err
	}
	if c, err = proof.ParseCheckpoint([]byte(p.Checkpoint)); err == nil {
		leaf, err = p.In(c)
	}
	return leaf, c, false, err
}

// compare compares the fields of a report or position with those of its record in the log,
// and returns the names of those that are not in the log.
func (c *ReportCheck) compare(text []byte, leaf disclosure.Leaf, salt []byte) (unchecked []string, err error) {
	var given map[string]any
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, fault.New(fault.Invalid, "%s is not the JSON object of a report: %v", c.Report, err)
	}
	// Of two values with one name one would be compared, and a reader might use the other.
	_, err = strictjson.Decode(text)
	if twice, ok := errors.AsType[*strictjson.TwiceError](err); ok {
		return nil, fault.New(fault.Invalid, "%s: it has the field %q twice, with one value that would not be checked",
			c.Report, twice.Name)
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s is not the JSON object of a report: %v", c.Report, err)
	}
	var same, differ []string
	noun, _, _ := strings.Cut(leaf.Event, ".")
	switch noun {
	case "report":
		same, differ, unchecked, err = c.compareReport(given, leaf)
	case "position":
		same, differ, unchecked, err = c.comparePosition(given, leaf, salt)
	default:
		return nil, fault.New(fault.Conflict, "%s is the proof of another kind of change, %s", c.Proof, leaf.Event)
	}
	if err != nil {
		return nil, err
	}
	c.Compared(same)
	if len(differ) > 0 {
		return nil, fault.New(fault.Conflict, "%s differs from seq %d of the log in %s. If the %s was "+
			"changed since, get both files again",
			c.Report, leaf.Seq, strings.Join(differ, ", "), noun)
	}
	return unchecked, nil
}

func (c *ReportCheck) compareReport(
	given map[string]any,
	leaf disclosure.Leaf,
) (same, differ, unchecked []string, err error) {
	record, err := disclosure.DecodeReport(string(leaf.Record))
	if err != nil {
		return nil, nil, nil, fault.New(fault.Conflict, "the record of seq %d cannot be read: %v", leaf.Seq, err)
	}
	if err := c.checkID(given, "report", record.ID); err != nil {
		return nil, nil, nil, err
	}
	same, differ, unchecked, err = c.compareFields(given, record)
	if err != nil {
		return nil, nil, nil, fault.New(fault.Invalid, "%s: %v", c.Report, err)
	}
	return same, differ, unchecked, nil
}

func (c *ReportCheck) checkID(given map[string]any, noun, id string) error {
	if given["id"] == id {
		return nil
	}
	return fault.New(fault.Conflict, "%s is the %s %v, %s is the proof of %s", c.Report, noun, given["id"], c.Proof, id)
}

// compareFields returns the names of the fields of an answer that are those of the
// record, that differ, and that do not come from the record. A field that no answer
// has is an error.
func (c *ReportCheck) compareFields(
	given map[string]any,
	record *disclosure.Report,
) (same, differ, unchecked []string, err error) {
	want, err := c.Fields(record)
	if err != nil {
		return nil, nil, nil, err
	}
	// of the directory, the service and the request
	derived := []string{"issuer_id", "categories_en", "eu_class", "headline", "headline_en", "attribution", "as_of_seq"}
	if record.Ticker == "" {
		derived = append(derived, "ticker") // the directory may have one
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value, expected := given[name], want[name]
		switch _, known := want[name]; {
		case !known:
			return nil, nil, nil, fmt.Errorf("a report has no field %.80q: remove it, or use a newer pregon "+
				"if the API has it", name)
		case slices.Contains(derived, name):
			unchecked = append(unchecked, name)
		case name == "facts" && sameFacts(value, expected, record.FactsDetail):
			same = append(same, name)
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
	return same, differ, unchecked, nil
}

// simulated reports whether a value is the link of a record of the simulated market, in
// which the service has replaced the host.
func simulated(given, expected any) bool {
	shown, isText := given.(string)
	recorded, isLink := expected.(string)
	return isText && isLink && disclosure.IsSimulatedLink(shown, recorded)
}

// sameFacts reports whether the facts of an answer are those of a record. The record has
// kinds and fields, and the hash of the rows and quotes, which an answer may leave out.
func sameFacts(given, expected any, detail string) bool {
	shown, ok := given.([]any)
	if !ok {
		return reflect.DeepEqual(given, expected)
	}
	bare := make([]any, len(shown))
	proved := false
	for i := range shown {
		fact, ok := shown[i].(map[string]any)
		if !ok {
			return false
		}
		kept := maps.Clone(fact)
		delete(kept, "rows")
		delete(kept, "evidence")
		bare[i] = kept
		proved = proved || len(kept) != len(fact)
	}
	return reflect.DeepEqual(bare, expected) && (!proved || hashOfDetails(shown) == detail)
}

// hashOfDetails returns the hash of the rows and quotes of facts as the service stores them,
// or "" if they are not rows and quotes.
func hashOfDetails(facts []any) string {
	text, err := json.Marshal(facts)
	if err != nil {
		return ""
	}
	var details []disclosure.FactDetail
	if err := json.Unmarshal(text, &details); err != nil {
		return ""
	}
	if text, err = json.Marshal(details); err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
