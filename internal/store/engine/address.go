package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"pregon/internal/fault"
	"pregon/internal/store/highwater"
)

// Address names a store: a SQLite file or a PostgreSQL database.
type Address struct {
	path      string // of a SQLite file, empty for PostgreSQL
	mustExist bool   // the file is never created
	anew      bool   // an empty file is created even where a store was served
	url       string // of a PostgreSQL database
}

// ParseAddress parses the value of --store.
func ParseAddress(s string) (Address, error) {
	scheme, rest, _ := strings.Cut(s, ":")
	switch {
	case scheme == "sqlite" && rest != "" && !strings.HasPrefix(rest, "//") && rest != ":memory:":
		path, query, _ := strings.Cut(rest, "?")
		if mode := strings.TrimPrefix(query, "mode="); path != "" && (query == "" || mode == "rw" || mode == "rwc") {
			return Address{path: path, mustExist: mode == "rw"}, nil
		}
		return Address{}, fault.New(fault.Invalid,
			"the address sqlite:PATH takes ?mode=rw, for a file that must exist, and no other parameter")
	case scheme == "postgres" || scheme == "postgresql":
		if u, err := url.Parse(s); err == nil && strings.HasPrefix(rest, "//") && u.Path != "/" {
			return Address{url: s}, nil
		}
	}
	// The value is not repeated: it may be a secret in the wrong place.
	return Address{}, fault.New(fault.Invalid,
		"the address of a store must be sqlite:PATH, a file, or postgres://USER@HOST/DATABASE")
}

// Path returns the path of a SQLite file, empty for PostgreSQL.
func (a Address) Path() string { return a.path }

// MustExist reports whether the address is that of a file that is never created.
func (a Address) MustExist() bool { return a.mustExist }

// BeginAnew returns the address with which Open creates an empty SQLite store even
// where another one was served before.
func (a Address) BeginAnew() Address {
	a.anew = true
	return a
}

// MayCreate returns an error, Conflict, if a file beside the path shows that a SQLite
// store was there. An empty store in its place would be served as if nothing had ever
// been published, and every key, webhook and report would be gone. A write-ahead log
// counts only if the file was not opened: otherwise SQLite has applied its commits, and
// what is left is from a process that was killed while it created the store.
func (a Address) MayCreate(opened bool) error {
	if a.url != "" || a.anew {
		return nil
	}
	served := highwater.File(a.path + ".served")
	files := []string{string(served)}
	if !opened {
		files = append(files, a.path+"-wal")
	}
	for _, evidence := range files {
		info, err := os.Stat(evidence)
		if err != nil || info.Size() == 0 {
			continue
		}
		upTo := ""
		if last, ok := served.Last(); ok {
			upTo = fmt.Sprintf(", and was served up to change %d", last.Seq)
		}
		return fault.New(fault.Conflict, "there is no store at %[1]s any more, but %[2]s shows that one was "+
			"there%[3]s: mount its volume, "+
			"or remove %[1]s-wal and %[1]s-shm, copy a backup to %[1]s and run `pregon restore` (docs/data.md); "+
			"to start over without its data, repeat the command once with --new-store",
			a.path, evidence, upTo)
	}
	return nil
}

// IsPostgres reports whether the address is that of a PostgreSQL database.
func (a Address) IsPostgres() bool { return a.url != "" }

// String returns the address without its secrets.
func (a Address) String() string {
	if a.url == "" {
		if a.mustExist {
			return "sqlite:" + a.path + "?mode=rw"
		}
		return "sqlite:" + a.path
	}
	u, err := url.Parse(a.url)
	if err != nil {
		return "postgres://…"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path} // parameters can hold passwords too
	if u.User != nil {
		shown.User = url.User(u.User.Username())
	}
	return shown.String()
}

// Digest identifies the store in names of files and keys. It is the same for
// every spelling of the address and reveals no secret.
func (a Address) Digest() string {
	sum := sha256.Sum256([]byte(a.identity()))
	return hex.EncodeToString(sum[:8])
}

func (a Address) identity() string {
	if a.url == "" {
		path, err := filepath.Abs(a.path)
		if err != nil {
			path = a.path
		}
		return "sqlite:" + path
	}
	config, err := pgx.ParseConfig(a.url)
	if err != nil {
		return a.url
	}
	return fmt.Sprintf("postgres: %q %d %q %q %q %q", strings.ToLower(config.Host), config.Port,
		config.Database, config.User,
		config.RuntimeParams["search_path"], config.RuntimeParams["options"])
}

// Catalogue returns where the catalogue of the store is saved: beside a SQLite file, else
// in the cache directory, if there is one. Otherwise it returns "".
func (a Address) Catalogue(cacheDir string) string {
	switch {
	case a.url == "":
		return a.path + ".catalogue"
	case cacheDir != "":
		return filepath.Join(cacheDir, "catalogue-"+a.Digest())
	}
	return ""
}

// HighWater returns the files that record how far the log was served: one beside
// a SQLite file, else one in the cache directory, if there is one.
func (a Address) HighWater(cacheDir string) []highwater.Place {
	switch {
	case a.url == "":
		return []highwater.Place{highwater.File(a.path + ".served")}
	case cacheDir != "":
		return []highwater.Place{highwater.File(filepath.Join(cacheDir, "served-"+a.Digest()+".json"))}
	}
	return nil
}
