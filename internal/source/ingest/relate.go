package ingest

import (
	"context"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
)

// relate finds the reports that the given reports refer to. It completes the
// references in the given reports, and returns updates of the others that refer
// back.
func (w *writer) relate(ctx context.Context, reports []disclosure.Report) ([]disclosure.Report, error) {
	var ids []string
	for _, r := range reports {
		for _, other := range r.Related {
			for _, t := range disclosure.Types {
				ids = append(ids, disclosure.ReportID(t, other.Number))
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	known, err := w.Store.Reports(ctx, ids...)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(reports, known) // the given reports are newer than the stored ones
	var out []disclosure.Report
	for n := range reports {
		r := &reports[n]
		for k := range r.Related {
			other := related(r, r.Related[k], all)
			if other == nil {
				continue
			}
			r.Related[k].ID = other.ID
			update := disclosure.Report{ID: other.ID, Type: other.Type, Number: other.Number}
			update.Related = []disclosure.Relation{{ID: r.ID, Number: r.Number, At: r.PublishedAt.Truncate(time.Minute)}}
			if corrects(r, r.Related[k]) {
				update.CorrectedBy = r.ID
			}
			out = append(out, update)
		}
	}
	return out, nil
}

// related returns the report that a relation refers to: the only one of any
// series that has its number and was published in its minute.
func related(r *disclosure.Report, relation disclosure.Relation, among []disclosure.Report) (found *disclosure.Report) {
	for n := range among {
		other := &among[n]
		if other.Number != relation.Number || other.ID == r.ID || !other.PublishedAt.Truncate(time.Minute).Equal(relation.At) {
			continue
		}
		if found != nil && found.ID != other.ID {
			return nil
		}
		if found == nil {
			found = other
		}
	}
	return found
}

// corrections are the words with which the regulator marks a report that
// corrects or cancels another. The words of an issuer do not count.
var corrections = []string{"rectifica", "corrige", "corrección", "anula", "sustituye", "deja sin efecto"}

func corrects(r *disclosure.Report, relation disclosure.Relation) bool {
	label, category := strings.ToLower(relation.Text), strings.ToLower(r.Category)
	return slices.ContainsFunc(corrections, func(word string) bool {
		return strings.HasPrefix(label, word) || strings.HasPrefix(category, word)
	})
}
