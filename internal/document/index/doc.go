// Package index is the index of the words in documents. It finds the documents
// that contain some words or phrases without reading their texts.
//
// The index consists of segments. A segment is the index of some documents, and
// never changes. A new document is a segment of its own, which is written together
// with its text. Segments are merged in the background (see Keeper), so that there
// are some dozens of them, however many documents there are. If two segments have
// the same document, the newer one counts.
//
// A segment is a list of entries, ordered by key, that is cut into blocks (see
// block.go). The store keeps the blocks, and does not interpret them. So both
// engines give the same answers in about the same time, and a search reads only
// the blocks with its words. Common words have too many positions to read them for
// every phrase: pairs of such words have positions of their own (see pair.go). The
// first key of every block, and the hashes of the documents, are in the head of the
// segment, which is kept in memory.
package index
