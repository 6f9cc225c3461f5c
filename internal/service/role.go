package service

// Role is the part of the service that a process runs: all, serve, ingest or deliver.
// Processes on one store share the work.
type Role string

// All is the role of a process that runs the whole service.
const All Role = "all"

// Serves reports whether the process serves clients.
func (r Role) Serves() bool { return r == All || r == "serve" }

// Ingests reports whether the process reads the source.
func (r Role) Ingests() bool { return r == All || r == "ingest" }

// Delivers reports whether the process delivers to webhooks.
func (r Role) Delivers() bool { return r == All || r == "deliver" }
