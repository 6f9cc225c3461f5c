// Package layering holds the rules of the code base that a compiler does not
// check, as tests: which package may import which, that nothing made for tests
// reaches the binary, and that every dependency is explained in
// docs/dependencies.md. It has no code of its own.
//
// Imports point one way. The packages stand in rows, the vocabulary lowest and
// the command highest, and a package may import only lower rows, never its own.
// So a change is felt only upwards, a surface can be added or a store replaced
// without opening the rest, and there is one answer to where a thing belongs.
package layering
