package store

// PlanNotes works out what a SetNotes writes over the texts that are known, by
// name: the notes whose text is another, with the revisions that follow the
// newest one. It is the part that is the same for every engine. A note that is
// not known has no text, so that taking it away writes nothing. Of a name that
// is told twice the last counts.
func PlanNotes(told []Note, known map[string]string, revision int64) []Note {
	last := make(map[string]int, len(told))
	for i, n := range told {
		last[n.Name] = i
	}
	var written []Note
	for i, n := range told {
		if last[n.Name] != i || n.Text == known[n.Name] {
			continue
		}
		revision++
		n.Revision = revision
		written = append(written, n)
	}
	return written
}

// NoteNames returns the names of some notes.
func NoteNames(notes []Note) []string {
	names := make([]string, len(notes))
	for i, n := range notes {
		names[i] = n.Name
	}
	return names
}
