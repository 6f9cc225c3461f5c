// Package documents holds what reads the documents of reports: the confined child
// processes that open them, the language model that may write summaries, and the place
// where the documents' own bytes are kept.
package documents

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"pregon/internal/document"
	"pregon/internal/document/bucket"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/document/extract/xls"
	"pregon/internal/document/index"
	"pregon/internal/document/llm"
	"pregon/internal/document/summary"
	"pregon/internal/fault"
	"pregon/internal/server/telemetry"
	"pregon/internal/source/ingest"
	"pregon/internal/store"
)

// WorkerCommand is the command of the program that reads documents in a child process.
const WorkerCommand = "extract-worker"

// readersAtOnce is how many documents are read at the same time, so that slow
// ones, such as scans, do not block the others.
const readersAtOnce = 4

// Settings are the choices of the operator.
type Settings struct {
	CacheDir string // for the compiled reader of PDF files; empty for none
	// Bucket keeps the documents' own bytes. If it is nil they are kept in the store,
	// or nowhere.
	Bucket      *bucket.Options
	KeepInStore bool
	Model       Model
}

// Model is the language model that writes summaries.
type Model struct {
	URL          string // empty for none: summaries are sentences of the documents
	Name         string
	Key          string
	VerifyName   string // of the model that checks what the other wrote; empty for the same
	TokensPerDay int
}

// Options returns the options of its client, without a trace.
func (m Model) Options(logger *slog.Logger) llm.Options {
	return llm.Options{
		URL:          m.URL,
		Model:        m.Name,
		Key:          m.Key,
		TokensPerDay: m.TokensPerDay,
		Logger:       logger,
	}
}

// Options are the settings of Documents and what they need.
type Options struct {
	Settings
	Store      store.Documents
	Logger     *slog.Logger
	TraceModel func(name string, status int, start time.Time) // may be nil
}

// Documents reads and stores documents.
type Documents struct {
	*document.Keeper
	readers []*sandbox.Reader
	books   *sandbox.Books
	model   *llm.Client // nil for none
}

// New creates the readers, which start with the first document. It fails if the bucket
// cannot be used.
func New(ctx context.Context, o Options) (*Documents, error) {
	model, err := o.model()
	if err != nil {
		return nil, err
	}
	books, err := NewBooks(o.Logger)
	if err != nil {
		return nil, err
	}
	d := &Documents{model: model, books: books}
	keeper := document.Options{Store: o.Store, Logger: o.Logger}
	if model != nil {
		keeper.Models = &summary.Models{Writer: model, Verifier: model.Model(o.Model.VerifyName)}
	}
	for range readersAtOnce {
		r, err := NewReader(o.CacheDir, o.Logger)
		if err != nil {
			return nil, err
		}
		d.readers = append(d.readers, r)
		keeper.Readers = append(keeper.Readers, r)
	}
	d.Keeper = document.NewKeeper(keeper)
	if d.Originals, err = o.originals(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// model returns the client of the language model, nil if there is none.
func (o *Options) model() (*llm.Client, error) {
	if o.Model.URL == "" {
		return nil, nil
	}
	client := o.Model.Options(o.Logger)
	client.Trace = o.TraceModel
	return llm.New(client)
}

// originals returns where the bytes of documents are kept, nil for nowhere.
func (o *Options) originals(ctx context.Context) (document.Originals, error) {
	switch {
	case o.Bucket != nil:
		b, err := bucket.Open(ctx, *o.Bucket)
		if err != nil {
			return nil, err
		}
		return b, nil
	case o.KeepInStore:
		return o.Store, nil
	}
	return nil, nil
}

// NewReader creates a reader of documents, in a child process of the same program.
func NewReader(cacheDir string, logger *slog.Logger) (*sandbox.Reader, error) {
	command, err := workerCommand()
	if err != nil {
		return nil, err
	}
	return sandbox.NewReader(sandbox.Options{
		Command:  command,
		CacheDir: cacheDir,
		Logger:   logger,
	}), nil
}

// NewBooks creates a reader of workbooks, in child processes of the same program.
func NewBooks(logger *slog.Logger) (*sandbox.Books, error) {
	command, err := workerCommand()
	if err != nil {
		return nil, err
	}
	return sandbox.NewBooks(sandbox.Options{Command: command, Logger: logger}), nil
}

// workerCommand returns the command of the child processes.
func workerCommand() ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err,
			"cannot find the executable, which is started again to read documents")
	}
	return []string{program, WorkerCommand}, nil
}

// Workbook returns the cells of a workbook, which is read in a child process of its
// own: it does not wait for documents. The error is an *xls.Error if the workbook
// cannot be read; after any other error a retry may succeed.
func (d *Documents) Workbook(ctx context.Context, data []byte) (xls.Book, error) {
	return d.books.Workbook(ctx, data)
}

// NewIndexKeeper returns what merges the index of the documents' words.
func NewIndexKeeper(db index.Store, logger *slog.Logger) *index.Keeper {
	return &index.Keeper{Store: db, Holder: ingest.ProcessName(), Logger: logger}
}

// Close ends the child processes.
func (d *Documents) Close() (err error) {
	for _, r := range d.readers {
		err = errors.Join(err, r.Close())
	}
	return errors.Join(err, d.books.Close())
}

// lacking returns how many readers run without a layer of confinement.
func (d *Documents) lacking(layer sandbox.Layer) (n int) {
	for _, r := range d.readers {
		if r.Lacks(layer) {
			n++
		}
	}
	if d.books.Lacks(layer) {
		n++
	}
	return n
}

// Observe registers the metrics of reading documents.
func (d *Documents) Observe(m *telemetry.Metrics) {
	for _, l := range sandbox.Layers {
		m.GaugeOf("pregon_document_workers_unconfined",
			"Processes that read documents without a layer of confinement, because the kernel lacks it.",
			"layer", string(l), func() float64 {
				return float64(d.lacking(l))
			})
	}
	if d.model != nil {
		observeModel(m, d.model)
	}
	for _, o := range document.Outcomes {
		m.CounterOf("pregon_document_reads_total",
			"Attempts to read a document by outcome: ready, again later, or failed for good.",
			"outcome", o.String(), func() float64 {
				return float64(d.Counted(o))
			})
	}
}

func observeModel(m *telemetry.Metrics, model *llm.Client) {
	m.Counter("pregon_llm_requests_total",
		"Requests to the language model. Only with --llm-url, as all of pregon_llm_.", func() float64 {
			return float64(model.Stats().Requests)
		})
	m.Counter("pregon_llm_request_failures_total", "Requests to the language model that failed.", func() float64 {
		return float64(model.Stats().Failures)
	})
	m.Counter("pregon_llm_tokens_total", "Tokens that the language model used.", func() float64 {
		return float64(model.Stats().Tokens)
	})
	m.Gauge("pregon_llm_circuit_open",
		"1 while the language model is not called because it failed, else 0.", func() float64 {
			return telemetry.Bool(model.Stats().Open)
		})
}
