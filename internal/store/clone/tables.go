package clone

import (
	"fmt"
	"strings"
)

// kind is the type of a column, in terms that both engines have.
type kind int

const (
	text     kind = iota
	integer       // not NULL
	nullable      // an integer that may be NULL
	boolean
	instant // may be NULL
	binary
	texts // a list
)

type column struct {
	name string
	kind kind
}

// table describes a table as both engines have it. Package clone copies the tables
// in the order of the list below: a row comes after those that it refers to.
type table struct {
	name   string
	key    []column // none: the table has exactly one row
	values []column
	where  string // which rows are copied; empty: all
	// collated means that PostgreSQL does not keep the index of the key in the order
	// of bytes, in which rows are compared.
	collated bool
	// appended means that rows never change and are never deleted.
	appended bool
	// erased means that a row that is removed must not stay readable in the file.
	erased bool
	sqlite form
}

// form is how SQLite stores a table that has another form there. The statements
// have the columns of the table as their parameters, the key first.
type form struct {
	from   string
	put    []string
	remove []string
}

var tables = []table{
	{
		name:     "change",
		appended: true,
		key:      []column{{"seq", integer}},
		values: []column{
			{"event", text}, {"subject", text}, {"occurred_at", instant}, {"changed", text}, {"body", text},
		},
	},
	{name: "log_head", values: []column{{"seq", integer}, {"epoch", text}, {"past", text}, {"leaves", integer}}},
	{
		name:     "leaf",
		appended: true,
		key:      []column{{"seq", integer}},
		values:   []column{{"hashes", binary}},
	},
	{
		name:     "report",
		collated: true,
		key:      []column{{"id", text}},
		values:   []column{{"seq", integer}},
	},
	{
		name:     "issuer",
		collated: true,
		key:      []column{{"id", text}},
		values:   []column{{"seq", integer}},
	},
	{
		name:     "position",
		collated: true,
		key:      []column{{"id", text}},
		values:   []column{{"seq", integer}},
	},
	{
		name:   "sealed_name",
		erased: true,
		key:    []column{{"sealed", text}},
		values: []column{{"salt", binary}, {"name", text}},
	},
	{
		name:     "setting",
		collated: true,
		where:    "name <> '" + markName + "'",
		key:      []column{{"name", text}},
		values:   []column{{"value", text}},
	},

	{name: "note", key: []column{{"name", text}}, values: []column{{"text", text}, {"revision", integer}}},
	{name: "note_head", values: []column{{"revision", integer}}},
	{
		name:   "record",
		key:    []column{{"kind", text}, {"id", text}},
		values: []column{{"body", text}, {"revision", integer}},
	},
	{name: "record_head", values: []column{{"revision", integer}}},
	{name: "once", key: []column{{"name", text}}, values: []column{{"until", instant}}},
	{name: "use_mark", key: []column{{"name", text}}, values: []column{{"first_at", instant}, {"last_at", instant}}},
	{
		name:   "use_count",
		key:    []column{{"owner", text}, {"day", text}, {"operation", text}},
		values: []column{{"n", integer}},
	},

	{
		name: "endpoint", // without its holder, which is a lease
		key:  []column{{"webhook", text}},
		values: []column{
			{"failing_since", instant}, {"last_success_at", instant}, {"last_failure_at", instant},
		},
	},
	{
		name: "delivery",
		key:  []column{{"webhook", text}, {"seq", integer}},
		values: []column{
			{"event", text}, {"state", text}, {"attempts", integer}, {"due_at", instant}, {
				"created_at",
				instant,
			}, {"done_at", instant}, {"epoch", text}, {"story", text}, {"lane", text}, {"cause", text},
		},
	},
	{
		name: "attempt",
		key:  []column{{"webhook", text}, {"seq", integer}, {"at", instant}},
		values: []column{
			{"status", integer}, {"latency", integer}, {"error", text}, {"excerpt", text},
		},
	},
	{name: "fanned", values: []column{{"seq", integer}}},
	{name: "fanned_alerts", values: []column{{"seq", integer}}},

	{
		name:     "filed_document",
		collated: true,
		key:      []column{{"report", text}},
		values:   []column{{"sha256", text}},
		sqlite: form{
			from: "filed_document f JOIN document ON number = f.document",
			put: []string{
				"INSERT INTO document (sha256) VALUES ($2) ON CONFLICT (sha256) DO NOTHING",
				`INSERT INTO filed_document (report, document) SELECT $1, number FROM document WHERE sha256 = $2
					ON CONFLICT (report) DO UPDATE SET document = excluded.document`,
			},
		},
	},
	{
		name: "document",
		key:  []column{{"sha256", text}},
		values: []column{
			{"bytes", integer}, {"head", text}, {"pages", texts}, {"indexed", boolean}, {"unused_since", instant},
		},
		sqlite: form{
			from: "document JOIN document_text ON document = number",
			put: []string{
				`INSERT INTO document (sha256, indexed, unused_since) VALUES ($1, $5, $6)
					ON CONFLICT (sha256) DO UPDATE SET indexed = excluded.indexed, unused_since = excluded.unused_since`,
				`INSERT INTO document_text (document, bytes, head, pages) SELECT number, $2, $3, $4 FROM document WHERE sha256 = $1
					ON CONFLICT (document) DO UPDATE SET bytes = excluded.bytes, head = excluded.head, pages = excluded.pages`,
			},
			remove: []string{
				"DELETE FROM document_text WHERE document = (SELECT number FROM document WHERE sha256 = $1)",
				"DELETE FROM document WHERE sha256 = $1 AND number NOT IN (SELECT document FROM filed_document)",
			},
		},
	},
	{name: "original", key: []column{{"sha256", text}}, values: []column{{"body", binary}}},
	{
		name:  "word_segment",
		where: "state = 1", // in use
		key:   []column{{"id", integer}},
		values: []column{
			{"state", integer}, {"token", integer}, {"newest", nullable}, {"documents", integer}, {"head", binary},
		},
	},
	{
		name:   "word_block",
		where:  "id >> 24 IN (SELECT id FROM word_segment WHERE state = 1)",
		key:    []column{{"id", integer}},
		values: []column{{"body", binary}},
	},
}

func (t *table) columns() []column { return append(t.key[:len(t.key):len(t.key)], t.values...) }

func names(columns []column) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.name
	}
	return strings.Join(list, ", ")
}

// numbered returns the parameters from $first on.
func numbered(first, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("$%d", first+i)
	}
	return strings.Join(list, ", ")
}

// page is the number of rows of one query. PostgreSQL sorts the whole table for a
// page of a collated one.
func (t *table) page() int {
	if t.collated {
		return 200_000
	}
	return 1000
}

func (t *table) from(sqlite bool) string {
	if sqlite && t.sqlite.from != "" {
		return t.sqlite.from
	}
	return t.name
}

func (t *table) condition() string {
	if t.where == "" {
		return "true"
	}
	return t.where
}

// selection returns the statement that reads the next page: the first, or the one
// after the key that is its parameters.
func (t *table) selection(sqlite, first bool) string {
	statement := "SELECT " + names(t.columns()) + " FROM " + t.from(sqlite) + " WHERE " + t.condition()
	if len(t.key) == 0 {
		return statement
	}
	order := names(t.key)
	if t.collated && !sqlite { // SQLite has no other order
		order += ` COLLATE "C"`
	}
	if !first {
		statement += " AND (" + order + ") > (" + numbered(1, len(t.key)) + ")"
	}
	return fmt.Sprintf("%s ORDER BY %s LIMIT %d", statement, order, t.page())
}

// puts returns the statements that write a row.
func (t *table) puts(sqlite bool) []string {
	switch {
	case sqlite && t.sqlite.put != nil:
		return t.sqlite.put
	case len(t.key) == 0:
		return []string{"UPDATE " + t.name + " SET " +
			t.assignments(func(i int) string { return fmt.Sprintf("$%d", i+1) })}
	}
	return []string{
		"INSERT INTO " + t.name + " (" + names(t.columns()) + ") VALUES (" + numbered(1, len(t.columns())) +
			") ON CONFLICT (" + names(t.key) +
			") DO UPDATE SET " + t.assignments(func(i int) string { return "excluded." + t.values[i].name }),
	}
}

func (t *table) assignments(value func(i int) string) string {
	list := make([]string, len(t.values))
	for i, c := range t.values {
		list[i] = c.name + " = " + value(i)
	}
	return strings.Join(list, ", ")
}

// removals returns the statements that remove the row with a key.
func (t *table) removals(sqlite bool) []string {
	if sqlite && t.sqlite.remove != nil {
		return t.sqlite.remove
	}
	return []string{"DELETE FROM " + t.name + " WHERE (" + names(t.key) + ") = (" + numbered(1, len(t.key)) + ")"}
}
