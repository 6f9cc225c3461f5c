package pgtest

var Sweep = sweep
