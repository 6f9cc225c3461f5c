package pgtest

var Sweep = sweep

// Dir returns the directory of a cluster.
func Dir(c *Cluster) string { return c.dir }
