package disclosure

import (
	"slices"
	"strings"
	"time"
)

// RelatedIDs returns the ids of all reports that the given reports may refer to: a
// reference has a number but no series.
func RelatedIDs(reports []Report) (ids []string) {
	for _, r := range reports {
		for _, other := range r.Related {
			for _, t := range Types {
				ids = append(ids, ReportID(t, other.Number))
			}
		}
	}
	return ids
}

// Relate finds the reports that the given reports refer to, among themselves and
// the known reports. It completes the references in the given reports, and returns
// updates of the others that refer back.
func Relate(reports, known []Report) (updates []Report) {
	all := slices.Concat(reports, known) // the given reports are newer than the known ones
	for n := range reports {
		r := &reports[n]
		for k := range r.Related {
			other := related(r, r.Related[k], all)
			if other == nil {
				continue
			}
			r.Related[k].ID = other.ID
			update := Report{ID: other.ID, Type: other.Type, Number: other.Number}
			update.Related = []Relation{{ID: r.ID, Number: r.Number, At: r.PublishedAt.Truncate(time.Minute)}}
			if corrects(r, r.Related[k]) {
				update.CorrectedBy = r.ID
			}
			updates = append(updates, update)
		}
	}
	return updates
}

// related returns the report that a relation refers to: the only one of any
// series that has its number and was published in its minute.
func related(r *Report, relation Relation, among []Report) (found *Report) {
	for n := range among {
		other := &among[n]
		if other.Number != relation.Number || other.ID == r.ID ||
			!other.PublishedAt.Truncate(time.Minute).Equal(relation.At) {
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

func corrects(r *Report, relation Relation) bool {
	label, category := strings.ToLower(relation.Text), strings.ToLower(r.Category)
	return slices.ContainsFunc(corrections, func(word string) bool {
		return strings.HasPrefix(label, word) || strings.HasPrefix(category, word)
	})
}
