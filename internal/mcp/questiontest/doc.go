// Package questiontest asks the tools questions about the simulated market, and compares
// the answers with the truth of the simulator.
//
// The market has a fixed seed, and the clock stands still. The files in testdata have the
// questions, with the calls that a model makes for each. The right answer is computed from
// the generators of the market, never from the catalogue: from the titles of reports as
// well as from the documents that state facts. testdata/heldout.json is
// written by a person who sees only the list of tools: change the product to fit it, not
// the questions or their calls.
package questiontest
