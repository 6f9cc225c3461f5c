package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// PrintList prints items as JSON, one object a line, or as a table with a header
// whose columns are separated by tabs. Empty cells are printed as a dash.
func PrintList[T any](w io.Writer, items []T, asJSON bool, header string, cells func(T) []string) error {
	if asJSON {
		out := json.NewEncoder(w)
		for _, item := range items {
			if err := out.Encode(item); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, header)
	for _, item := range items {
		row := cells(item)
		for i := range row {
			row[i] = cmp.Or(row[i], "-")
		}
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}
