package layering_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// surfaces are the packages that receive requests, and engines those behind the
// interfaces of the store. A request runs in these and in what they import.
var (
	surfaces = []string{"rest", "mcp", "site", "site/console", "discovery", "auth", "server/httpserver", "server/telemetry"}
	engines  = []string{"store/sqlite", "store/postgres", "store/relational", "store/monitor", "store/readreplica"}
)

// TestWaits: each lock, semaphore and channel that a request may wait for is listed
// with what bounds the wait. A new one needs an entry, and so a thought: can one caller
// make others wait for it, and does the wait end with the request?
func TestWaits(t *testing.T) {
	found := map[string]bool{}
	for _, name := range requestPackages(t) {
		for _, field := range waitsOf(t, name) {
			found[name+" "+field] = true
			if waits[name+" "+field] == "" {
				t.Errorf("%s %s: say in waits of internal/test/layering/waits_test.go what bounds the wait for it", name, field)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(waits)) {
		if !found[name] {
			t.Errorf("%s does not exist any more: remove it from waits", name)
		}
	}
}

// requestPackages returns the packages in which requests run.
func requestPackages(t *testing.T) []string {
	t.Helper()
	names := map[string]bool{}
	for _, p := range list(t) {
		name, ours := shortName(p.ImportPath)
		if !ours || !slices.Contains(surfaces, name) && !slices.Contains(engines, name) {
			continue
		}
		names[name] = true
		for _, d := range p.Deps {
			if dep, ours := shortName(d); ours {
				names[dep] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// waitsOf returns the fields and variables of a package that a goroutine may wait for.
func waitsOf(t *testing.T, name string) (found []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", name, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				found = append(found, waitsIn(g)...)
			}
		}
	}
	return found
}

// waitsIn returns what a declaration of types or variables has.
func waitsIn(g *ast.GenDecl) (found []string) {
	for _, spec := range g.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			ast.Inspect(s.Type, func(n ast.Node) bool {
				if f, ok := n.(*ast.Field); ok && f.Names != nil && isWait(f.Type) {
					found = append(found, s.Name.Name+"."+f.Names[0].Name)
				}
				return true
			})
		case *ast.ValueSpec:
			if s.Type != nil && isWait(s.Type) {
				found = append(found, s.Names[0].Name)
			}
		}
	}
	return found
}

// isWait reports whether goroutines wait for values of a type.
func isWait(expr ast.Expr) bool {
	switch name := types.ExprString(expr); name {
	case "sync.Mutex", "sync.RWMutex", "sync.Once", "*sync.Cond", "singleflight.Group", "*semaphore.Weighted", "*access.Turns", "retry.Lock":
		return true
	default:
		return strings.HasPrefix(name, "chan ") || strings.HasPrefix(name, "atomic.Pointer[chan ")
	}
}

const (
	inMemory   = "held for operations on memory only"
	background = "requests do not wait for it"
)

// waits says what bounds the wait for each lock, semaphore and channel. The store has
// deadlines of its own: see docs/reliability.md.
var waits = map[string]string{
	"auth/access Keyring.changed":                "streams select on it, and on the end of their request",
	"auth/access Keyring.used":                   "a send that would block is dropped",
	"auth/access SlotLimiter.mu":                 inMemory,
	"auth/access Turn.granted":                   "callers take turns; the request, and the limit of Turns.Acquire or of render.Cache",
	"auth/access Turns.mu":                       inMemory,
	"auth/access caller.slots":                   "a second (slotWait), the request; a caller waits for its own slots only, and at most as many requests as it has slots",
	"auth/jwks Set.flight":                       "the request, and fetchTimeout of the load",
	"auth/jwks Set.mu":                           inMemory,
	"auth/oauth documents.fetches":               "never: without a free one the request is refused",
	"auth/oauth documents.mu":                    inMemory,
	"auth/oauth fetched.done":                    "the request, and documentTimeout of the fetch; the fetches that an address causes are limited",
	"server/ratelimit Redis.mu":                  inMemory,
	"server/ratelimit Redis.slots":               "redisTimeout; then this process counts alone",
	"server/ratelimit Window.mu":                 inMemory,
	"auth/signin provider.lock":                  "the request, and providerTimeout of the one that asks the provider",
	"auth/token Ring.asking":                     "wakeTimeout of the poll, once a second; only tokens of unknown keys wait",
	"auth/token tokenCache.mu":                   inMemory,
	"auth/usage Counter.mu":                      "the deadline of requests about an account, and flushTimeout; Count does not take it",
	"auth/usage shard.mu":                        inMemory,
	"transfer/bulk Archive.lock":                 "the request, and readTime of the one that reads the place",
	"catalog Catalog.mu":                         background + ": they read the last snapshot",
	"catalog Snapshot.mu":                        "held while the figures of a minute are computed, for milliseconds",
	"document Contents.loading":                  "the request, and loadContentTime of the load",
	"document Contents.mu":                       inMemory,
	"document Contents.slots":                    "loadContentTime",
	"document Keeper.idle":                       background,
	"document Keeper.reading":                    background,
	"document/index Index.lock":                  "the request, and the deadlines of the store",
	"push/events ConnLimiter.mu":                 inMemory,
	"push/events Hub.mu":                         inMemory,
	"push/events Hub.wake":                       "streams and long polls select on it, and on their own limits",
	"push/events lazy.once":                      "held while one event is encoded",
	"push/events primaryHead.lock":               "the request, askInterval, and askTimeout of the one that asks",
	"catalog/history Archive.mu":                 inMemory,
	"catalog/history build.done":                 "callers take turns; the request, maxWait until the build begins, and maxBuild",
	"catalog/history queue.mu":                   inMemory,
	"catalog/history recent.mu":                  inMemory,
	"mcp subscriptions.mu":                       inMemory + ": a listener that does not read has a queue of its own",
	"mcp/queue Writer.done":                      "WriteTimeout of one write",
	"mcp/queue Writer.mu":                        inMemory,
	"mcp/queue Writer.wake":                      "only the goroutine of the writer waits",
	"query openings.mu":                          inMemory,
	"query calendars.making":                     "the request; making it does not wait for anything",
	"query Service.texts":                        "callers take turns; the request, and maxTextWait",
	"retry Gate.mu":                              background,
	"retry Lock.held":                            "the request",
	"retry Queue.mu":                             background,
	"retry Queue.wake":                           background,
	"search Numbers.mu":                          inMemory,
	"search/saved mappings.mu":                   inMemory,
	"search/segment Dictionary.mu":               inMemory,
	"server/httpserver Server.draining":          "only selected on, never waited for",
	"server/httpserver boundListener.mu":         inMemory,
	"server/httpserver networkCounter.mu":        inMemory,
	"server/telemetry bufferedWriter.mu":         "held while the log is written: standard output must accept it, as for every program",
	"site Site.turns":                            "callers take turns; the request, and render.MaxWait",
	"site/render Cache.mu":                       inMemory + ", never while a page is rendered",
	"site/render flight.done":                    "the request, and MaxWait; the one that renders the page has its turn",
	"source/coverage Tracker.mu":                 inMemory,
	"source/health Monitor.mu":                   inMemory,
	"store Wake.ch":                              background,
	"store Wake.mu":                              inMemory,
	"store/follow Follower.lock":                 "the request, and wakeTimeout of a poll",
	"store/monitor health.mu":                    inMemory,
	"store/postgres Store.appending":             "the context of the append; requests append nothing",
	"store/postgres Store.listening":             background,
	"store/postgres hosts.mu":                    inMemory,
	"proof/transparency Keys.mu":                 inMemory,
	"proof/transparency Publisher.grown":         "the request, and proofWait",
	"proof/transparency Publisher.mu":            "held while hashes in memory are read, or a checkpoint is signed",
	"push/ticket Connection.ended":               "streams select on it, and on the end of their request",
	"push/ticket Registry.mu":                    inMemory,
	"push/queue Options.Wake":                    background,
	"push/queue Queue.mu":                        background,
	"push/queue Queue.outcomes":                  background,
	"push/alert/channel Journal.mu":              "held while a line is written to the file of --alerts-log",
	"push/alert/channel Outbox.mu":               inMemory,
	"push/alert/channel chatPace.mu":             inMemory,
	"push/alert/channel mailConns.mu":            inMemory,
	"push/alert/channel mailConns.slots":         "the request, and longestTurn of a message; an account asks for few",
	"push/alert/channel pace.mu":                 inMemory,
	"push/alert/subscription Registry.changed":   background,
	"push/events compiledEntries.mu":             inMemory,
	"push/webhook/delivery Service.wake":         background,
	"push/webhook/delivery bodies.mu":            inMemory,
	"push/webhook/delivery costs.mu":             inMemory,
	"push/webhook/subscription Registry.changed": background,
	"push/webhook/subscription accounts.mu":      inMemory,
	"push/webhook/subscription removed.mu":       inMemory,
}
