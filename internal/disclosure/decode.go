package disclosure

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// DecodeReport reads the JSON form of a report as the store keeps it. It knows
// the form that encoding/json writes, an object of plain strings, and is
// several times faster on it, which is most of what a start with all of
// history has to wait for; anything else it leaves to encoding/json.
func DecodeReport(body string) (*Report, error) {
	r := new(Report)
	if r.decodePlain(body) {
		return r, nil
	}
	*r = Report{}
	if err := json.Unmarshal([]byte(body), r); err != nil {
		return nil, err
	}
	return r, nil
}

// decodePlain reads {"name":"value",…} without escapes, and reports whether that
// is what there was.
func (r *Report) decodePlain(s string) bool {
	s, ok := strings.CutPrefix(s, `{`)
	if !ok {
		return false
	}
	for {
		var name, value string
		if name, s, ok = cutString(s); !ok || !strings.HasPrefix(s, ":") {
			return false
		}
		if value, s, ok = cutString(s[1:]); !ok || !r.setPlain(name, value) {
			return false
		}
		switch s {
		case "":
			return false
		case "}":
			return true
		}
		if s[0] != ',' {
			return false
		}
		s = s[1:]
	}
}

// cutString takes a string without escapes off the front.
func cutString(s string) (value, rest string, ok bool) {
	if len(s) == 0 || s[0] != '"' {
		return "", "", false
	}
	s = s[1:]
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"':
			return s[:i], s[i+1:], utf8.ValidString(s[:i])
		case c == '\\' || c < ' ':
			return "", "", false
		}
	}
	return "", "", false
}

func (r *Report) setPlain(name, value string) bool {
	ok := true
	switch name {
	case "id":
		r.ID = value
	case "type":
		r.Type = Type(value)
	case "cnmv_registration_number":
		r.Number, ok = ParseNumber(value)
	case "company_name":
		r.CompanyName = value
	case "nif":
		r.NIF = value
	case "ticker":
		r.Ticker = value
	case "title":
		r.Title = value
	case "summary":
		r.Summary = value
	case "published_at":
		ok = r.PublishedAt.UnmarshalText([]byte(value)) == nil
	case "category":
		r.Category = value
	case "pdf_url":
		r.PDFURL = value
	case "source_url":
		r.SourceURL = value
	case "first_seen_at":
		ok = r.FirstSeenAt.UnmarshalText([]byte(value)) == nil
	case "available_at":
		ok = r.AvailableAt.UnmarshalText([]byte(value)) == nil
	case "enriched_at":
		ok = r.EnrichedAt.UnmarshalText([]byte(value)) == nil
	case "time_from":
		r.TimeFrom = Surface(value)
	case "backfilled":
		r.Backfilled, ok = value == "true", value == "true" || value == "false"
	case "corrected_by":
		r.CorrectedBy = value
	default:
		return false // relations too: few have any
	}
	return ok
}
