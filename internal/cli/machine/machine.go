// Package machine checks what serve needs on the machine it runs on, for pregon doctor.
package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document/bucket"
	"pregon/internal/document/extract"
	"pregon/internal/document/extract/pdf"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/document/llm"
	"pregon/internal/fault"
	"pregon/internal/server/ratelimit"
	"pregon/internal/sim/paper"
	"pregon/internal/source/doctor"
	"pregon/internal/source/ingest"
	"pregon/internal/store/engine"
)

// Checks are what serve would start with.
type Checks struct {
	Store    engine.Address
	Source   string // that the store must belong to; empty if any
	Contact  Contact
	CacheDir string // empty for none
	Reader   *sandbox.Reader
	Model    llm.Options // of which the URL is empty if there is no model
	Buckets  []bucket.Options
	// SnapshotDir is the directory in which this process would make snapshots; empty
	// for none.
	SnapshotDir string
	Redis       string // address; empty for none
	RedisShown  string // Redis without its secrets
	Listen      string
	// Skew returns the difference between the clocks of this machine and of the source,
	// and whether it is known.
	Skew   func() (time.Duration, bool)
	Logger *slog.Logger
}

// Contact is how the regulator can reach the operator.
type Contact struct {
	UserAgent string
	Missing   bool // the regulator is asked, and no contact was given
}

// Run calls done with the result of each check.
func (m *Checks) Run(ctx context.Context, done func(doctor.Check)) error {
	for _, check := range []struct {
		name string
		run  func(context.Context, *doctor.Check)
	}{
		{"clock", m.clock},
		{"contact", m.contact},
		{"store", m.store},
		{"disk", m.disk},
		{"documents", m.documents},
		{"tesseract", m.tesseract},
		{"model", m.languageModel},
		{"bucket", m.s3},
		{"snapshots", m.snapshots},
		{"redis", m.redis},
		{"listen", m.listens},
	} {
		c := doctor.Check{Name: check.name, Verdict: doctor.OK}
		check.run(ctx, &c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		done(c)
	}
	return nil
}

// Differences of the clock. Lists are requested by day and reports compared by time,
// so that a wrong clock hides reports. A small difference only makes figures of
// latency wrong.
const (
	warnSkew  = 5 * time.Second
	worstSkew = 2 * time.Minute
)

func (m *Checks) clock(_ context.Context, c *doctor.Check) {
	c.Found = time.Now().In(disclosure.Madrid).Format("2006-01-02 15:04:05 MST")
	skew, known := m.Skew()
	switch {
	case !known:
		c.Found += ", not compared, because no answer of the source has a date"
		return
	case skew.Abs() >= worstSkew:
		c.Lose(0, "it differs from that of the source by %v: set it, and synchronize it with NTP",
			skew.Round(time.Second))
	case skew.Abs() >= warnSkew:
		c.Odd(0, "it differs from that of the source by %v: synchronize it with NTP", skew.Round(time.Second))
	}
	c.Found += fmt.Sprintf(", within %v of the source", max(skew.Abs(), time.Second).Round(time.Second))
}

func (m *Checks) contact(_ context.Context, c *doctor.Check) {
	c.Found = m.Contact.UserAgent
	if m.Contact.Missing {
		c.Odd(0, "the regulator does not have a contact for this service: set --contact to an address or a page")
	}
}

// store checks that serve can use the store, without migrating it.
func (m *Checks) store(ctx context.Context, c *doctor.Check) {
	address := m.Store
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c.Found = address.String()
	schema, err := address.Schema(ctx)
	absent := fault.KindOf(err) == fault.NotFound && !address.MustExist() || err == nil && schema.Version == 0
	var refused error // serve would not create a store
	if absent {
		refused = address.MayCreate(err == nil)
	}
	switch {
	case refused != nil:
		c.Fail(0, "%v", refused)
		c.Loses = true
	case fault.KindOf(err) == fault.NotFound && !address.MustExist():
		c.Found += " does not exist yet: serve creates it"
		checkWritable(c, filepath.Dir(address.Path()))
	case err != nil:
		c.Fail(0, "%v", err)
		c.Loses = true
	case schema.Version > schema.Latest:
		c.Fail(0, "it has schema version %d and this program knows %d: use a newer pregon", schema.Version,
			schema.Latest)
		c.Loses = true
	case schema.Version < schema.Latest:
		c.Found += fmt.Sprintf(", schema version %d: serve brings it to %d", schema.Version, schema.Latest)
		if !address.IsPostgres() {
			checkWritable(c, filepath.Dir(address.Path()))
		}
	default:
		c.Found += fmt.Sprintf(", schema version %d", schema.Version)
		if err := m.useStore(ctx, c); err != nil {
			c.Fail(0, "%v", err)
			c.Loses = true
		}
	}
}

// useStore reads the head and the source of the store, and writes a lease.
func (m *Checks) useStore(ctx context.Context, c *doctor.Check) error {
	db, err := m.Store.OpenComplete(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	head, err := db.Head(ctx)
	if err != nil {
		return err
	}
	source, err := db.Source(ctx)
	if err != nil {
		return err
	}
	c.Found += fmt.Sprintf(", newest change %s", head)
	if source != "" {
		c.Found += ", source " + source
	}
	if source != "" && m.Source != "" && source != m.Source {
		return fault.New(fault.Conflict, "it belongs to the source %s: give %s a store of its own", source, m.Source)
	}
	lease, err := db.AcquireLease(ctx, "doctor", ingest.ProcessName(), time.Second)
	if err != nil {
		return fmt.Errorf("it cannot be written: %w", err)
	}
	return db.ReleaseLease(ctx, lease)
}

// existing returns the directory, or the nearest one above it that exists.
func existing(dir string) string {
	for {
		info, err := os.Stat(dir)
		if above := filepath.Dir(dir); err == nil && info.IsDir() || above == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// checkWritable checks that files can be created in a directory, or above it if it
// does not exist.
func checkWritable(c *doctor.Check, dir string) {
	_, err := os.Stat(dir + "/.") // fails if it, or one above it, is a file
	var f *os.File
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		f, err = os.CreateTemp(existing(dir), ".pregon-doctor-*")
	}
	if err != nil {
		c.Fail(0, "%v", err)
		c.Loses = true
		return
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		c.Odd(0, "%v", err)
	}
}

// Free space of a disk, in bytes.
const (
	warnSpace  = 1 << 30
	worstSpace = 100 << 20
)

func (m *Checks) disk(_ context.Context, c *doctor.Check) {
	type place struct {
		name, dir string
		stores    bool // reports are stored there
	}
	places := []place{{"the cache", m.CacheDir, false}, {"temporary files", os.TempDir(), false}}
	if !m.Store.IsPostgres() {
		places = append([]place{{"the store", filepath.Dir(m.Store.Path()), true}}, places...)
	}
	var found []string
	for _, p := range places {
		dir := existing(p.dir)
		free, known := engine.DiskFree(dir)
		if p.dir == "" || !known {
			continue
		}
		found = append(found, fmt.Sprintf("%.1f GB free for %s (%s)", float64(free)/1e9, p.name, dir))
		switch {
		case free < worstSpace && p.stores:
			c.Lose(0, "%d MB are free for %s: it needs %d MB at least", free>>20, p.name, worstSpace>>20)
		case free < warnSpace:
			c.Odd(0, "%d MB are free for %s", free>>20, p.name)
		}
	}
	c.Found = strings.Join(found, ", ")
}

// sample returns a document of the simulated market in a form.
func sample(form string) []byte {
	report := disclosure.Report{
		ID:          "oir-1",
		Type:        disclosure.OIR,
		Number:      1,
		CompanyName: "SOCIEDAD DE PRUEBA, S.A.",
		Title:       "[Simulación] Prueba de lectura",
		Category:    "Otra información relevante",
		PublishedAt: time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC),
	}
	source := paper.Source{
		Report: &report,
		Form:   form,
		Text:   "La sociedad comunica una prueba de lectura.",
	}
	return paper.Make(source, 1).Body
}

// documents reads a sample in the confined child process.
func (m *Checks) documents(ctx context.Context, c *doctor.Check) {
	text, err := m.Reader.Read(ctx, sample("pdf"))
	switch {
	case err != nil:
		c.Fail(0, "a sample cannot be read: %v", err)
		return
	case !strings.Contains(text.Pages[0].Text, "prueba de lectura"):
		c.Fail(0, "a sample is read as %.80q", text.Pages[0].Text)
		return
	}
	c.Found = "a sample PDF is read in a child process"
	for _, layer := range sandbox.Layers {
		if m.Reader.Lacks(layer) {
			c.Odd(0, "the child process is not confined by %s, which this system lacks", layer)
		}
	}
}

// tesseract reads a sample that is a scanned page.
func (m *Checks) tesseract(ctx context.Context, c *doctor.Check) {
	language, err := pdf.OCRLanguage("")
	if err != nil {
		c.Odd(0, "scanned documents are not read: %v (packages tesseract-ocr and tesseract-ocr-spa)", err)
		return
	}
	c.Found = "reads in the language " + language
	if language != "spa" {
		c.Odd(0, "it does not have Spanish: install tesseract-ocr-spa")
	}
	text, err := m.Reader.Read(ctx, sample("scan"))
	if err != nil {
		c.Fail(0, "a scanned sample cannot be read: %v", err)
	} else if text.Method != extract.ByOCR || text.Pages[0].Text == "" {
		c.Fail(0, "a scanned sample is not recognized: %s", strings.Join(text.Notes, " "))
	}
}

func (m *Checks) languageModel(ctx context.Context, c *doctor.Check) {
	if m.Model.URL == "" {
		c.Found = "none: summaries are sentences of the documents"
		return
	}
	model, err := llm.New(m.Model)
	if err != nil {
		c.Fail(0, "%v", err)
		return
	}
	defer model.Close()
	begun := time.Now()
	schema := json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string"}},` +
		`"required":["answer"],"additionalProperties":false}`)
	if _, err := model.Complete(ctx, "Answer in JSON.", `Answer {"answer":"ok"}.`, schema); err != nil {
		c.Fail(0, "%v", err)
		return
	}
	c.Found = fmt.Sprintf("%s answers in %.1f s", m.Model.Model, time.Since(begun).Seconds())
}

// s3 checks the buckets of documents and snapshots. Serve does not start without
// them.
func (m *Checks) s3(ctx context.Context, c *doctor.Check) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var usable []string
	for _, b := range m.Buckets {
		if _, err := bucket.Open(ctx, b); err != nil {
			c.Fail(0, "%s: %v", b.Flag, err)
			c.Loses = true
			continue
		}
		usable = append(usable, b.Flag+" "+b.Address+" can be used")
	}
	if c.Found = strings.Join(usable, ", "); c.Found == "" && c.Verdict == doctor.OK {
		c.Found = "none"
	}
}

// snapshots checks the directory in which a process that ingests makes snapshots.
func (m *Checks) snapshots(_ context.Context, c *doctor.Check) {
	if m.SnapshotDir == "" {
		c.Found = "none in a directory"
		return
	}
	c.Found = m.SnapshotDir
	checkWritable(c, m.SnapshotDir)
	c.Loses = false // only snapshots are
}

func (m *Checks) redis(_ context.Context, c *doctor.Check) {
	if c.Found = m.RedisShown; m.Redis == "" {
		c.Found = "none: each replica counts for itself"
		return
	}
	r, err := ratelimit.OpenRedis(m.Redis, m.Logger)
	if err != nil {
		c.Fail(0, "%v", err)
		return
	}
	defer r.Close()
	if !r.Up() {
		c.Fail(0, "it does not answer: limits would be counted by each replica")
	}
}

// listens checks that serve can listen on its address.
func (m *Checks) listens(_ context.Context, c *doctor.Check) {
	c.Found = m.Listen
	l, err := net.Listen("tcp", m.Listen)
	switch {
	case err == nil:
		_ = l.Close()
	case errors.Is(err, syscall.EADDRINUSE):
		c.Odd(0, "the address is in use, perhaps by a running serve")
	case errors.Is(err, fs.ErrPermission):
		c.Fail(0, "serve cannot listen there: %v", err)
		c.Loses = true
	default:
		c.Fail(0, "%v", err)
		c.Loses = true
	}
}

// DescribeDocument describes the text of a document.
func (m *Checks) DescribeDocument(ctx context.Context, body []byte) (string, error) {
	text, err := m.Reader.Read(ctx, body)
	if err != nil {
		return "", err
	}
	letters := 0
	for _, page := range text.Pages {
		letters += len(page.Text)
	}
	return fmt.Sprintf("%s, pages: %d, bytes of text: %d, read as %s", text.Type, len(text.Pages), letters,
		text.Method), nil
}
