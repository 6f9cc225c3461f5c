// Package disclosure is the vocabulary of the service: the report (Report),
// the supervised company or fund (Issuer), the tax number (NIF), the change of either
// (Change), and the conditions of a query (Filter).
//
// It imports no other package of the program except fault and text, so that every
// package can use it. Values are plain data: pages of the regulator, import files
// and rows of the store are all converted to them.
//
// Two rules apply to all of them. Values of the regulator are kept as printed, and
// derived values (a normal NIF, the separate categories, the Madrid day) are
// computed, not stored. And a field that is empty in a new
// observation means "unknown", never "removed": see Report.Merge.
package disclosure
