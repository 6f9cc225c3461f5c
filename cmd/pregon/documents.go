package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/document/extract/worker"
	"pregon/internal/document/llm"
	"pregon/internal/document/summary"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// documentFlags configure the reading of documents.
type documentFlags struct {
	KeepDocuments bool   `help:"Keep the documents' own bytes in the store too, not only their text."`
	CacheDir      string `placeholder:"DIR" help:"Private directory for the compiled reader of PDF files, which is ready at once with it and else takes seconds at every start. Default: pregon in the user's cache directory."`
}

// modelFlags configure the language model that writes summaries.
type modelFlags struct {
	LLMURL    string `name:"llm-url" placeholder:"URL" help:"OpenAI-compatible endpoint that writes summaries, its key in PREGON_LLM_KEY. Default: none, and summaries are sentences of the documents."`
	LLMModel  string `name:"llm-model" placeholder:"NAME" help:"Model to ask for."`
	LLMVerify string `name:"llm-verify-model" placeholder:"NAME" help:"Model that checks what the other wrote. Default: the same model, in a call of its own."`
	LLMBudget int    `name:"llm-budget" default:"2000000" placeholder:"TOKENS" help:"Tokens that the model may cost in a day. Beyond it summaries are sentences of the documents."`
}

// llmKeyEnv has no flag: see secretVariables.
const llmKeyEnv = "PREGON_LLM_KEY"

func (f *modelFlags) validate() error {
	if (f.LLMURL == "") != (f.LLMModel == "") {
		return fault.New(fault.Invalid, "--llm-url and --llm-model belong together: give both or none")
	}
	if f.LLMURL == "" {
		if f.LLMVerify != "" {
			return fault.New(fault.Invalid, "--llm-verify-model needs --llm-url and --llm-model")
		}
		return nil
	}
	u, err := url.Parse(f.LLMURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Fragment != "" {
		return fault.New(fault.Invalid, "--llm-url must be http:// or https:// and a host, perhaps with a path; a key belongs into %s", llmKeyEnv)
	}
	if f.LLMBudget < 1 {
		return fault.New(fault.Invalid, "--llm-budget %d must be at least 1", f.LLMBudget)
	}
	return nil
}

// model returns the client of the model, nil if none is configured.
func (f *modelFlags) model(key string, logger *slog.Logger) (*llm.Client, error) {
	if f.LLMURL == "" {
		return nil, nil
	}
	return llm.New(llm.Options{URL: f.LLMURL, Model: f.LLMModel, Key: key, TokensPerDay: f.LLMBudget, Logger: logger})
}

// documents reads and stores documents.
type documents struct {
	*document.Keeper
	readers []*sandbox.Reader
	model   *llm.Client // nil for none
}

// readersAtOnce is how many documents are read at the same time, so that slow
// ones, such as scans, do not block the others.
const readersAtOnce = 4

// newDocuments creates the readers. They start with the first document.
func (f *documentFlags) newDocuments(db store.Documents, model *llm.Client, verify string, logger *slog.Logger) (*documents, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "cannot find the executable, which is started again to read documents")
	}
	l := &documents{model: model}
	o := document.Options{Store: db, Originals: f.KeepDocuments, Logger: logger}
	if model != nil {
		o.Models = &summary.Models{Writer: model, Verifier: model.Model(verify)}
	}
	for range readersAtOnce {
		r := sandbox.NewReader(sandbox.Options{Command: []string{program, "extract-worker"}, CacheDir: f.cacheDir(logger), Logger: logger})
		l.readers = append(l.readers, r)
		o.Readers = append(o.Readers, r)
	}
	l.Keeper = document.NewKeeper(o)
	return l, nil
}

func (f *documentFlags) cacheDir(logger *slog.Logger) string {
	if f.CacheDir != "" {
		return f.CacheDir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		logger.Debug("no cache directory: the reader of PDF files is compiled at every start", "err", err)
		return ""
	}
	return filepath.Join(dir, "pregon")
}

// lacking returns how many readers run without a layer of confinement.
func (d *documents) lacking(layer sandbox.Layer) (n int) {
	for _, r := range d.readers {
		if r.Lacks(layer) {
			n++
		}
	}
	return n
}

func (d *documents) close() (err error) {
	for _, r := range d.readers {
		err = errors.Join(err, r.Close())
	}
	return err
}

// extractWorkerCmd is the child process that opens documents. Serve and backfill
// start it.
type extractWorkerCmd struct{}

// Run reads documents until standard input ends.
func (extractWorkerCmd) Run(_ context.Context, p *process) error {
	return worker.Serve(p.stdin, p.stdout)
}

type documentCmd struct {
	storeFlag
	ID       string `arg:"" help:"Id of the report, such as oir-40374."`
	Original bool   `help:"Write the document's own bytes, which serve keeps with --keep-documents."`
}

// Run prints the text of a report's document, or the document.
func (c *documentCmd) Run(ctx context.Context, p *process) error {
	db, err := c.open(ctx, false)
	if err != nil {
		return err
	}
	defer db.Close()
	known, err := db.Reports(ctx, strings.ToLower(c.ID))
	if err != nil {
		return err
	}
	if len(known) == 0 {
		return fault.New(fault.NotFound, "there is no report %s", c.ID)
	}
	d := known[0].DocumentNow()
	if d.Status != disclosure.DocumentReady {
		return fault.New(fault.NotFound, "%s has no stored document; run pregon backfill --documents (%s: %s)", known[0].ID, d.Status, d.Reason)
	}
	if c.Original {
		body, err := db.Original(ctx, d.SHA256)
		if err != nil {
			return fault.Wrap(fault.NotFound, err, "the document's own bytes are not kept: serve keeps them with --keep-documents")
		}
		_, err = p.stdout.Write(body)
		return err
	}
	text, err := document.Load(ctx, db, d.SHA256)
	if fault.KindOf(err) == fault.NotFound {
		return fault.New(fault.NotFound, "%s has no stored document; run pregon backfill --documents", known[0].ID)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.stdout, document.Plain(document.Cut(text, 0, math.MaxInt32)))
	return err
}
