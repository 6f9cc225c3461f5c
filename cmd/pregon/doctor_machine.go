package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
	"pregon/internal/fault"
	"pregon/internal/server/ratelimit"
	"pregon/internal/sim/paper"
	"pregon/internal/source/doctor"
	"pregon/internal/source/ingest"
	"pregon/internal/source/regulator"
	"pregon/internal/store/engine"
)

// machine checks what serve needs on this machine, with the same settings.
func (e *examination) machine(ctx context.Context) error {
	for _, check := range []struct {
		name string
		run  func(context.Context, *doctor.Check)
	}{
		{"clock", e.clock},
		{"contact", e.contact},
		{"store", e.store},
		{"disk", e.disk},
		{"documents", e.documents},
		{"tesseract", e.tesseract},
		{"model", e.languageModel},
		{"bucket", e.s3},
		{"snapshots", e.snapshots},
		{"redis", e.redis},
		{"listen", e.listens},
	} {
		c := doctor.Check{Name: check.name, Verdict: doctor.OK}
		check.run(ctx, &c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e.done(c)
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

func (e *examination) clock(_ context.Context, c *doctor.Check) {
	c.Found = time.Now().In(disclosure.Madrid).Format("2006-01-02 15:04:05 MST")
	skew, known := e.tape.Skew()
	switch {
	case !known:
		c.Found += ", not compared, because no answer of the source has a date"
		return
	case skew.Abs() >= worstSkew:
		c.Lose(0, "it differs from that of the source by %v: set it, and keep it right with NTP", skew.Round(time.Second))
	case skew.Abs() >= warnSkew:
		c.Doubt(0, "it differs from that of the source by %v: keep it right with NTP", skew.Round(time.Second))
	}
	c.Found += fmt.Sprintf(", within %v of the source", max(skew.Abs(), time.Second).Round(time.Second))
}

func (e *examination) contact(_ context.Context, c *doctor.Check) {
	c.Found = e.site(e.baseURL(e.Listen)).UserAgent()
	if e.Contact == "" && e.RegulatorURL == regulator.PublicOrigin {
		c.Doubt(0, "the regulator does not have a contact for this service: set --contact to an address or a page")
	}
}

// store checks that serve can use the store, without migrating it.
func (e *examination) store(ctx context.Context, c *doctor.Check) {
	address, err := e.address()
	if err != nil {
		c.Lose(0, "%v", err)
		return
	}
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
		c.Fail(0, "it has schema version %d and this program knows %d: use a newer pregon", schema.Version, schema.Latest)
		c.Loses = true
	case schema.Version < schema.Latest:
		c.Found += fmt.Sprintf(", schema version %d: serve brings it to %d", schema.Version, schema.Latest)
		if !address.IsPostgres() {
			checkWritable(c, filepath.Dir(address.Path()))
		}
	default:
		c.Found += fmt.Sprintf(", schema version %d", schema.Version)
		if err := e.useStore(ctx, c, address); err != nil {
			c.Fail(0, "%v", err)
			c.Loses = true
		}
	}
}

// useStore reads the head and the source of the store, and writes a lease.
func (e *examination) useStore(ctx context.Context, c *doctor.Check, address engine.Address) error {
	db, err := address.OpenComplete(ctx)
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
	want := ""
	switch {
	case e.Source == "demo":
		want = "demo"
	case e.Source == "cnmv" && e.RegulatorURL == regulator.PublicOrigin:
		want = "cnmv"
	}
	if source != "" && want != "" && source != want {
		return fault.New(fault.Conflict, "it belongs to the source %s: give %s a store of its own", source, want)
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
		c.Doubt(0, "%v", err)
	}
}

// Free space of a disk, in bytes.
const (
	warnSpace  = 1 << 30
	worstSpace = 100 << 20
)

func (e *examination) disk(_ context.Context, c *doctor.Check) {
	type place struct {
		name, dir string
		stores    bool // reports are stored there
	}
	places := []place{{"the cache", e.cacheDir(e.log), false}, {"temporary files", os.TempDir(), false}}
	if address, err := e.address(); err == nil && !address.IsPostgres() {
		places = append([]place{{"the store", filepath.Dir(address.Path()), true}}, places...)
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
			c.Doubt(0, "%d MB are free for %s", free>>20, p.name)
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
	return paper.Make(paper.Source{Report: &report, Form: form, Text: "La sociedad comunica una prueba de lectura."}, 1).Body
}

// documents reads a sample in the confined child process.
func (e *examination) documents(ctx context.Context, c *doctor.Check) {
	text, err := e.reader.Read(ctx, sample("pdf"))
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
		if e.reader.Lacks(layer) {
			c.Doubt(0, "the child process is not confined by %s, which this system lacks", layer)
		}
	}
}

// tesseract reads a sample that is a scanned page.
func (e *examination) tesseract(ctx context.Context, c *doctor.Check) {
	language, err := pdf.OCRLanguage("")
	if err != nil {
		c.Doubt(0, "scanned documents are not read: %v (packages tesseract-ocr and tesseract-ocr-spa)", err)
		return
	}
	c.Found = "reads in the language " + language
	if language != "spa" {
		c.Doubt(0, "it does not have Spanish: install tesseract-ocr-spa")
	}
	text, err := e.reader.Read(ctx, sample("scan"))
	if err != nil {
		c.Fail(0, "a scanned sample cannot be read: %v", err)
	} else if text.Method != extract.ByOCR || text.Pages[0].Text == "" {
		c.Fail(0, "a scanned sample is not recognized: %s", strings.Join(text.Notes, " "))
	}
}

func (e *examination) languageModel(ctx context.Context, c *doctor.Check) {
	model, err := e.modelFlags.settings(e.process).Client(e.log, nil)
	switch {
	case err != nil:
		c.Fail(0, "%v", err)
		return
	case model == nil:
		c.Found = "none: summaries are sentences of the documents"
		return
	}
	defer model.Close()
	begun := time.Now()
	schema := json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"],"additionalProperties":false}`)
	if _, err := model.Complete(ctx, "Answer in JSON.", `Answer {"answer":"ok"}.`, schema); err != nil {
		c.Fail(0, "%v", err)
		return
	}
	c.Found = fmt.Sprintf("%s answers in %.1f s", e.LLMModel, time.Since(begun).Seconds())
}

// s3 checks the buckets of documents and snapshots. Serve does not start without
// them.
func (e *examination) s3(ctx context.Context, c *doctor.Check) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var usable []string
	for _, b := range []struct{ flag, address string }{{"--documents-s3", e.DocumentsS3}, {"--bulk-s3", e.BulkS3}} {
		if b.address == "" || b.flag == "--bulk-s3" && e.Bulk == "off" {
			continue
		}
		if _, err := bucket.Open(ctx, e.bucketOptions(e.process, b.flag, b.address)); err != nil {
			c.Fail(0, "%s: %v", b.flag, err)
			c.Loses = true
			continue
		}
		usable = append(usable, b.flag+" "+b.address+" can be used")
	}
	if c.Found = strings.Join(usable, ", "); c.Found == "" && c.Verdict == doctor.OK {
		c.Found = "none"
	}
}

// snapshots checks the directory in which a process that ingests makes snapshots.
func (e *examination) snapshots(_ context.Context, c *doctor.Check) {
	dir, err := e.bulkDir()
	switch {
	case err != nil:
		c.Fail(0, "%v", err)
	case dir == "" || !e.Role.Ingests():
		c.Found = "none in a directory"
	default:
		c.Found = dir
		checkWritable(c, dir)
		c.Loses = false // only snapshots are
	}
}

func (e *examination) redis(_ context.Context, c *doctor.Check) {
	if c.Found = e.showRedis(); e.Redis == "" {
		c.Found = "none: each replica counts for itself"
		return
	}
	r, err := ratelimit.OpenRedis(e.Redis, e.log)
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
func (e *examination) listens(_ context.Context, c *doctor.Check) {
	c.Found = e.Listen
	l, err := net.Listen("tcp", e.Listen)
	switch {
	case err == nil:
		_ = l.Close()
	case errors.Is(err, syscall.EADDRINUSE):
		c.Doubt(0, "the address is in use, perhaps by a running serve")
	case errors.Is(err, fs.ErrPermission):
		c.Fail(0, "serve may not listen there: %v", err)
		c.Loses = true
	default:
		c.Fail(0, "%v", err)
		c.Loses = true
	}
}
