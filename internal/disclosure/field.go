package disclosure

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"pregon/internal/text"
)

// field describes one field of Report. Decoding, reading an import line,
// validating and merging all follow the table of fields.
type field struct {
	name string // in JSON

	// text is the field itself if it is a text.
	text func(*Report) *string
	// parse sets another field from a JSON string without escapes. It is nil where
	// the JSON value is no string.
	parse func(r *Report, s string) (ok bool)
	// read sets the field from a value of an import line.
	read func(in *reading, r *Report, raw json.RawMessage)
	// validate is nil if every value is valid.
	validate func(p *problems, r *Report)
	// merge is nil if an observation never changes the field, or if the merge of
	// another field covers it.
	merge func(m *merge, r *Report, observed *Report)
}

// fields lists the fields in the order in which Merge names those that changed.
// To add a field, add it to Report, to this table and to the complete reports of
// the tests: see Report.
var fields = []field{
	unmerged(textField("id", func(r *Report) *string { return &r.ID }, nil)),
	unmerged(textField("type", func(r *Report) *string { return (*string)(&r.Type) }, nil)),
	numberField,
	textField("company_name", func(r *Report) *string { return &r.CompanyName }, required),
	textField("nif", func(r *Report) *string { return &r.NIF }, (*problems).ident),
	textField("ticker", func(r *Report) *string { return &r.Ticker }, (*problems).ident),
	textField("title", func(r *Report) *string { return &r.Title }, required),
	publishedField,
	unmerged(textField("time_from", func(r *Report) *string { return (*string)(&r.TimeFrom) }, validSurface)),
	textField("category", func(r *Report) *string { return &r.Category }, optional),
	textField("pdf_url", func(r *Report) *string { return &r.PDFURL }, (*problems).link),
	textField("source_url", func(r *Report) *string { return &r.SourceURL }, (*problems).link),
	relatedField,
	textField("corrected_by", func(r *Report) *string { return &r.CorrectedBy }, (*problems).reportID),
	backfilledField,
	unmerged(clockField("first_seen_at", func(r *Report) *time.Time { return &r.FirstSeenAt })),
	unmerged(clockField("available_at", func(r *Report) *time.Time { return &r.AvailableAt })),
	clockField("enriched_at", func(r *Report) *time.Time { return &r.EnrichedAt }),
	documentField,
	unmerged(textField("summary", func(r *Report) *string { return &r.Summary }, optional)),
	unmerged(textField("summary_method", func(r *Report) *string { return &r.SummaryMethod }, validMethod)),
	unmerged(textField("summary_language", func(r *Report) *string { return &r.SummaryLanguage }, (*problems).ident)),
	unmerged(textField("summary_of", func(r *Report) *string { return &r.SummaryOf }, (*problems).ident)),
	evidenceField("evidence", func(r *Report) *[]Evidence { return &r.Evidence }),
	unmerged(textField("summary_en", func(r *Report) *string { return &r.SummaryEN }, optional)),
	evidenceField("evidence_en", func(r *Report) *[]Evidence { return &r.EvidenceEN }),
	unmerged(clockField("text_ready_at", func(r *Report) *time.Time { return &r.TextReadyAt })),
	unmerged(clockField("summary_ready_at", func(r *Report) *time.Time { return &r.SummaryReadyAt })),
	factsField,
	factsRulesField,
	unmerged(textField("facts_of", func(r *Report) *string { return &r.FactsOf }, (*problems).ident)),
	unmerged(textField("facts_detail", func(r *Report) *string { return &r.FactsDetail }, (*problems).ident)),
	unmerged(clockField("facts_ready_at", func(r *Report) *time.Time { return &r.FactsReadyAt })),
}

// textField describes a text. An observation replaces it: see Merge.
func textField(name string, at func(*Report) *string, validate func(p *problems, name, value string)) field {
	f := field{
		name:  name,
		text:  at,
		read:  func(in *reading, r *Report, raw json.RawMessage) { in.decode(name, raw, at(r)) },
		merge: func(m *merge, r, observed *Report) { m.text(name, at(r), *at(observed)) },
	}
	if validate != nil {
		f.validate = func(p *problems, r *Report) { validate(p, name, *at(r)) }
	}
	return f
}

// clockField describes an instant. The first that is observed is kept.
func clockField(name string, at func(*Report) *time.Time) field {
	return field{
		name:     name,
		parse:    func(r *Report, s string) bool { return at(r).UnmarshalText([]byte(s)) == nil },
		read:     func(in *reading, r *Report, raw json.RawMessage) { *at(r) = in.instant(name, raw) },
		validate: func(p *problems, r *Report) { p.instant(name, at(r)) },
		merge:    func(m *merge, r, observed *Report) { m.clock(name, at(r), *at(observed)) },
	}
}

// unmerged returns a field that Merge leaves alone, or changes with another.
func unmerged(f field) field {
	f.merge = nil
	return f
}

func required(p *problems, name, value string) { p.text(name, value, true) }

func optional(p *problems, name, value string) { p.text(name, value, false) }

func validSurface(p *problems, name, value string) {
	if Surface(value).exactness() < 0 {
		p.add(name, value, "use list, permalink or feed")
	}
}

func validMethod(p *problems, name, value string) {
	if !slices.Contains([]string{"", "extractive", "selected", "model", "facts", "none"}, value) {
		p.add(name, value, "use extractive, selected, model, facts or none")
	}
}

// numberField, with id and type, is validated by Report.Validate.
var numberField = field{
	name: "cnmv_registration_number",
	parse: func(r *Report, s string) (ok bool) {
		r.Number, ok = ParseNumber(s)
		return ok
	},
	read: func(in *reading, r *Report, raw json.RawMessage) {
		r.Number = in.number("cnmv_registration_number", raw, r.ID)
	},
}

var backfilledField = field{
	name: "backfilled",
	parse: func(r *Report, s string) bool {
		r.Backfilled = s == "true"
		return s == "true" || s == "false"
	},
	read: func(in *reading, r *Report, raw json.RawMessage) { r.Backfilled = in.flag("backfilled", raw) },
}

var publishedField = func() field {
	f := clockField("published_at", func(r *Report) *time.Time { return &r.PublishedAt })
	f.validate = func(p *problems, r *Report) {
		if r.PublishedAt.IsZero() {
			p.add(f.name, "", "is missing")
		}
		p.instant(f.name, &r.PublishedAt)
	}
	f.merge = (*merge).published
	return f
}()

var relatedField = field{
	name: "related",
	read: func(in *reading, r *Report, raw json.RawMessage) {
		var lines []relationLine
		in.decode("related", raw, &lines)
		for _, line := range lines {
			r.Related = append(r.Related, line.relation(in))
		}
	},
	validate: func(p *problems, r *Report) {
		for n := range r.Related {
			r.Related[n].validate(p)
		}
	},
	merge: (*merge).relations,
}

// documentField merges the document with its summary and its facts: see merge.document.
var documentField = field{
	name:     "document",
	read:     func(in *reading, r *Report, raw json.RawMessage) { in.decode("document", raw, &r.Document) },
	validate: func(p *problems, r *Report) { r.Document.validate(p) },
	merge:    (*merge).document,
}

func evidenceField(name string, at func(*Report) *[]Evidence) field {
	return field{
		name: name,
		read: func(in *reading, r *Report, raw json.RawMessage) {
			var lines []evidenceLine
			in.decode(name, raw, &lines)
			for _, line := range lines {
				*at(r) = append(*at(r), line.evidence())
			}
		},
		validate: func(p *problems, r *Report) {
			for _, e := range *at(r) {
				e.validate(p)
			}
		},
	}
}

// factsField reads facts as the store has them, and as the API returns them, with rows
// and evidence, which are not part of a report.
var factsField = field{
	name: "facts",
	read: func(in *reading, r *Report, raw json.RawMessage) {
		var facts []Fact
		if err := json.Unmarshal(raw, &facts); err != nil {
			in.fail("%s", explain("facts", err))
		}
		in.examined = facts != nil
		if len(facts) > 0 {
			r.Facts = facts
		}
	},
	validate: validFacts,
}

// factsRulesField has a version from 1, in JSON as a string.
var factsRulesField = field{
	name: "facts_rules",
	parse: func(r *Report, s string) bool {
		n, ok := parseRules(s)
		r.FactsRules = n
		return ok
	},
	read: func(in *reading, r *Report, raw json.RawMessage) {
		s := bare(raw)
		n, ok := parseRules(s)
		if !ok && s != "" {
			in.fail("report: facts_rules %q must be a number from 1 to %d", text.Clip(s, maxShown), maxRules)
		}
		r.FactsRules = n
	},
	validate: func(p *problems, r *Report) {
		if r.FactsRules < 0 || r.FactsRules > maxRules {
			p.add("facts_rules", strconv.Itoa(r.FactsRules), "must be a number from 0 to "+strconv.Itoa(maxRules))
		}
	},
}
