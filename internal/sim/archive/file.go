package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"pregon/internal/fault"
)

// errLocked is returned by lock.
var errLocked = errors.New("locked by another process")

// header is the first line of the file.
type header struct {
	Seed  uint64    `json:"seed"`
	Began time.Time `json:"began"`
}

// file stores the reports published, one JSON line each. Without a disk it stores
// nothing.
type file struct {
	header
	disk *os.File
	size int64
}

// openFile reads a file, or creates one with the header. It drops an incomplete last
// line: the program was killed while writing it, and never served that report.
func openFile(path string, begin header) (*file, []Report, error) {
	f := &file{header: begin}
	if path == "" {
		return f, nil, nil
	}
	disk, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the simulated market: %w", err)
	}
	f.disk = disk
	published, err := f.load(path)
	if err != nil {
		return nil, nil, errors.Join(err, disk.Close())
	}
	return f, published, nil
}

func (f *file) load(path string) ([]Report, error) {
	switch err := lock(f.disk); {
	case errors.Is(err, errLocked):
		return nil, fault.New(fault.Conflict,
			"another process serves the simulated market of %s; stop it or name another file", path)
	case err != nil:
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	data, err := io.ReadAll(f.disk)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	f.size = int64(len(whole))
	if err := f.disk.Truncate(f.size); err != nil {
		return nil, fmt.Errorf("truncating %s: %w", path, err)
	}
	if len(whole) == 0 {
		return nil, f.append(f.header)
	}
	first, rest, _ := bytes.Cut(whole, []byte("\n"))
	began := header{}
	if err := json.Unmarshal(first, &began); err != nil || began.Began.IsZero() {
		return nil, fault.New(fault.Conflict, "%s is not the file of a simulated market", path)
	}
	if began.Seed != f.Seed {
		return nil, fault.New(fault.Conflict,
			"%s holds the simulated market of seed %d, not %d; name another file", path, began.Seed, f.Seed)
	}
	f.header = began
	return readReports(path, rest)
}

func readReports(path string, lines []byte) ([]Report, error) {
	var out []Report
	for line := range bytes.Lines(lines) {
		var one Report
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, len(out)+2, err)
		}
		out = append(out, one)
	}
	return out, nil
}

// append writes one line with one call. If it fails, it removes what it wrote.
func (f *file) append(v any) error {
	if f.disk == nil {
		return nil
	}
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if _, err := f.disk.WriteAt(line, f.size); err != nil {
		return fmt.Errorf("storing the report: %w", errors.Join(err, f.disk.Truncate(f.size)))
	}
	f.size += int64(len(line))
	return nil
}

// close also releases the lock.
func (f *file) close() error {
	if f.disk == nil {
		return nil
	}
	return f.disk.Close()
}
