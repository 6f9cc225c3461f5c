// Package layering tests rules of the code base that the compiler does not check:
// which package may import which, that the binary does not contain test code, that
// docs/dependencies.md explains every dependency, and that docs/architecture.md names
// every package. It has only tests.
//
// Packages are in rows, the vocabulary lowest and the command highest. A package may
// import only lower rows, never its own. So a change affects only higher rows, and a
// surface can be added or a store replaced without changes elsewhere.
package layering
