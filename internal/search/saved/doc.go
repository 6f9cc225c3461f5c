// Package saved keeps an index in two files, so that it is opened and not built at the
// next start.
//
// The data file has the large arrays, which are mapped into memory: processes of one
// machine share them. It is never changed. The state file has everything else, is read at
// the start, and names the data file; it is replaced at once, so that a crash leaves the
// last good pair.
//
// The state file is verified when it is read. The data file is too large for that: it
// has a checksum for each block, which is verified when the block is first used. A block
// that is damaged then, or that cannot be read because the file was cut short or the disk
// fails, ends what the goroutine does with a panic that Broken recognizes.
package saved
