// Package segment holds the immutable pieces of the search index. It works with
// numbers only: package search turns a search text into the numbers of words,
// issuers and categories, and turns the documents that it finds into reports.
//
// A Segment is a list of documents in the order of their publication and, for
// every word, stem, type, issuer and category, the Set of the documents that
// have it. Build makes one. A Query intersects sets and returns Hits, which are
// counted without being collected and returned newest first.
//
// A Dictionary numbers words and stems. The text of a document is kept as the
// numbers of its words, in a Memory, so that phrases can be verified.
package segment
