// Package confine takes from a process what it does not need: privileges to
// gain, files, the network, and system calls that only serve to leave.
//
// Each layer is the kernel's. Where the kernel has not got one the others still
// hold, and Status says which is missing.
package sandbox

import "strings"

// Policy is what a confined process may still do with files. All else is denied,
// also to what it starts.
type Policy struct {
	Read  []string // files, and directories with all below: read and execute; what does not exist is passed over
	Write []string // files that are also written, such as /dev/null
}

// Layer is one means of confinement.
type Layer string

// The layers.
const (
	NoNewPrivileges Layer = "no_new_privs" // no program gives more rights than its caller has
	Landlock        Layer = "landlock"     // files, TCP, signals to others
	Seccomp         Layer = "seccomp"      // sockets, other processes' memory, the kernel's own affairs
)

// Layers are all of them.
var Layers = []Layer{NoNewPrivileges, Landlock, Seccomp}

// Status is how a process is confined: for each layer why it is missing, or
// nothing when it holds. A layer that is not in it is missing too.
type Status map[Layer]string

// Holds reports whether a layer is in force.
func (s Status) Holds(l Layer) bool {
	why, ok := s[l]
	return ok && why == ""
}

// Missing returns the layers that are not in force, with the reasons, for
// people; nothing when all are.
func (s Status) Missing() string {
	var list []string
	for _, l := range Layers {
		if !s.Holds(l) {
			why := s[l]
			if why == "" {
				why = "not tried"
			}
			list = append(list, string(l)+": "+why)
		}
	}
	return strings.Join(list, "; ")
}
