// Package disclosure is the vocabulary of the service: the report (Report),
// the supervised company or fund (Issuer), the tax number (NIF), the change of either
// (Change), and what a reader may ask for (Filter).
//
// It imports nothing of the program but the error kinds, so that every other
// package can speak it. Values are plain data: what a regulator's page, an
// import file and a row of the store all become before anyone else sees them.
//
// Two rules run through it. What the regulator prints is kept as printed, and
// what is derived from it (a normal NIF, the separate categories, the Madrid
// day) is computed, never stored beside it. And a field that is empty in a new
// observation means "unknown", never "removed": see Report.Merge.
package disclosure
