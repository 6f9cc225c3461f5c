package sandbox

import "strings"

// Policy lists the files that a confined process and its children may use.
type Policy struct {
	Read  []string // files and directories to read and execute; missing ones are ignored
	Write []string // files to read and write, such as /dev/null
}

// Layer is a kernel mechanism of confinement. If the kernel lacks one, the others
// still hold.
type Layer string

// The layers.
const (
	NoNewPrivileges Layer = "no_new_privs" // a program cannot gain privileges
	Landlock        Layer = "landlock"     // no files, TCP connections or signals outside the policy
	Seccomp         Layer = "seccomp"      // no system calls for sockets, other processes and administration
)

// Layers lists all layers.
var Layers = []Layer{NoNewPrivileges, Landlock, Seccomp}

// Status holds for each layer why it is missing, or "" if it is in force. A layer
// without an entry is missing too.
type Status map[Layer]string

// Holds reports whether a layer is in force.
func (s Status) Holds(l Layer) bool {
	why, ok := s[l]
	return ok && why == ""
}

// Missing describes the layers that are not in force, or returns "".
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
