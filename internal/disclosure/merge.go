package disclosure

import (
	"cmp"
	"slices"
	"time"
)

// Merge applies a new observation to a known report and returns the names of the
// fields that changed.
//
// An empty field of the observation is unknown, and changes nothing. So a source
// with few fields never erases those of a better one. The feed has the fewest:
// its names carry an alias, and it has no NIF. Once a page of the regulator has
// been read, the feed only adds missing texts, although its time is the most
// exact. The first value of a clock is kept.
func (r Report) Merge(observed Report) (merged Report, changed []string) {
	fromFeed := observed.TimeFrom != "" && observed.EnrichedAt.IsZero() // its time may be exact to the minute only
	m := merge{onlyAdds: fromFeed && !r.EnrichedAt.IsZero()}
	for i := range fields {
		if mergeField := fields[i].merge; mergeField != nil {
			mergeField(&m, &r, &observed)
		}
	}
	return r, m.changed
}

// clock keeps the first time that is observed.
func (m *merge) clock(name string, known *time.Time, observed time.Time) {
	if known.IsZero() && !observed.IsZero() {
		*known = observed
		m.changed = append(m.changed, name)
	}
}

// published accepts a time from an equally exact surface or a more exact one: the
// minute of a list does not contradict the seconds of a page.
func (m *merge) published(r, observed *Report) {
	if observed.PublishedAt.IsZero() || observed.TimeFrom.exactness() < r.TimeFrom.exactness() {
		return
	}
	same := observed.PublishedAt.Equal(r.PublishedAt)
	if !same {
		r.PublishedAt = observed.PublishedAt
		m.changed = append(m.changed, "published_at")
	}
	if same && observed.TimeFrom == "" {
		return // an import of the same time does not state its surface
	}
	if observed.TimeFrom != r.TimeFrom {
		r.TimeFrom = observed.TimeFrom
		m.changed = append(m.changed, "time_from")
	}
}

// relations adds new relations and completes known ones. It copies the list,
// because others may share it.
func (m *merge) relations(r, observed *Report) {
	grown := slices.Clone(r.Related)
	for _, t := range observed.Related {
		n := slices.IndexFunc(grown, t.same)
		if n < 0 {
			grown = append(grown, t)
			continue
		}
		known := &grown[n]
		known.ID = cmp.Or(known.ID, t.ID)
		known.At = cmp.Or(known.At, t.At)
		known.Text = cmp.Or(known.Text, t.Text)
	}
	if !slices.Equal(grown, r.Related) {
		r.Related = grown
		m.changed = append(m.changed, "related")
	}
}

// merge collects the names of the fields that an observation changes.
type merge struct {
	changed  []string
	onlyAdds bool // known texts are not replaced
}

func (m *merge) text(name string, known *string, observed string) {
	if observed != "" && observed != *known && (*known == "" || !m.onlyAdds) {
		*known = observed
		m.changed = append(m.changed, name)
	}
}

// document merges the document, its summary and its facts, each as a whole. A summary
// that we made belongs to one document, and so do facts: those of another document are
// dropped.
func (m *merge) document(r, observed *Report) {
	if observed.Document.Status != "" && observed.Document != r.Document {
		r.Document = observed.Document
		m.changed = append(m.changed, "document")
		if r.SummaryMethod != "" && r.SummaryOf != r.Document.SHA256 {
			m.summary(r, &Report{})
		}
		if r.FactsRules > 0 && r.FactsOf != r.Document.SHA256 {
			m.facts(r, &Report{})
		}
	}
	m.clock("text_ready_at", &r.TextReadyAt, observed.TextReadyAt)
	switch {
	case observed.SummaryMethod == "":
		if observed.Summary != "" && observed.Summary != r.Summary {
			m.summary(r, observed)
		}
	case observed.SummaryOf == r.Document.SHA256 || r.Document.Status == "":
		m.summary(r, observed)
		m.clock("summary_ready_at", &r.SummaryReadyAt, observed.SummaryReadyAt)
	}
	if observed.FactsRules > 0 && (observed.FactsOf == r.Document.SHA256 || r.Document.Status == "") {
		m.facts(r, observed)
		m.clock("facts_ready_at", &r.FactsReadyAt, observed.FactsReadyAt)
	}
}

// facts replaces the facts with what belongs to them. Rules give the same facts of the
// same document: earlier rules add nothing, nor does an import, which has no details.
func (m *merge) facts(r, observed *Report) {
	sameRules := observed.FactsRules == r.FactsRules
	if observed.FactsOf == r.FactsOf {
		imported := len(observed.Facts) > 0 && observed.FactsDetail == ""
		if observed.FactsRules < r.FactsRules || sameRules && imported && r.FactsDetail != "" {
			return
		}
	}
	same := sameRules && observed.FactsOf == r.FactsOf && observed.FactsDetail == r.FactsDetail
	if same && slices.EqualFunc(observed.Facts, r.Facts, Fact.Equal) {
		return
	}
	if !slices.Contains(m.changed, "facts") { // those of another document may have been dropped
		m.changed = append(m.changed, "facts")
	}
	r.Facts = observed.Facts
	r.FactsRules = observed.FactsRules
	r.FactsOf = observed.FactsOf
	r.FactsDetail = observed.FactsDetail
}

// summary replaces the summary with its method and evidence.
func (m *merge) summary(r, observed *Report) {
	if observed.Summary != r.Summary {
		m.changed = append(m.changed, "summary")
	}
	if observed.SummaryMethod != r.SummaryMethod {
		m.changed = append(m.changed, "summary_method")
	}
	if !slices.Equal(observed.Evidence, r.Evidence) {
		m.changed = append(m.changed, "evidence")
	}
	if observed.SummaryEN != r.SummaryEN || !slices.Equal(observed.EvidenceEN, r.EvidenceEN) {
		m.changed = append(m.changed, "summary_en")
	}
	r.Summary = observed.Summary
	r.SummaryMethod = observed.SummaryMethod
	r.SummaryOf = observed.SummaryOf
	r.Evidence = observed.Evidence
	r.SummaryLanguage = observed.SummaryLanguage
	r.SummaryEN = observed.SummaryEN
	r.EvidenceEN = observed.EvidenceEN
}
