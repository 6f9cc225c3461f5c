package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"pregon/internal/document/bucket"
	"pregon/internal/fault"
	"pregon/internal/server/origin"
	"pregon/internal/service/documents"
)

// documentFlags configure the reading of documents.
type documentFlags struct {
	KeepDocuments bool `help:"Keep the documents' own bytes in the store too, not only their text."`
	bucketFlags
	CacheDir string `placeholder:"DIR" help:"Private directory that caches the compiled reader of PDF files and, with PostgreSQL, the catalogue. Without it every start takes some seconds longer. Default: pregon in the user's cache directory."`
}

// bucketFlags name the bucket that keeps the documents' own bytes.
type bucketFlags struct {
	DocumentsS3 string `name:"documents-s3" env:"PREGON_DOCUMENTS_S3" placeholder:"s3://BUCKET/PREFIX" help:"Keep the documents' own bytes in a bucket of an S3-compatible store, not in the database. Its keys are in PREGON_S3_ACCESS_KEY and PREGON_S3_SECRET_KEY."`
	S3Endpoint  string `name:"s3-endpoint" env:"PREGON_S3_ENDPOINT" placeholder:"URL" help:"Address of the S3-compatible store, such as https://minio.example:9000. Default: that of AWS in the region."`
	S3Region    string `name:"s3-region" env:"PREGON_S3_REGION" default:"us-east-1" placeholder:"REGION" help:"Region of the bucket."`

	shared bool // the other settings are also those of another bucket
}

// The keys of the bucket have no flag: see secretVariables.
const (
	s3AccessKeyEnv = "PREGON_S3_ACCESS_KEY"
	s3SecretKeyEnv = "PREGON_S3_SECRET_KEY"
)

func (f *bucketFlags) validate() error {
	if f.DocumentsS3 == "" {
		if f.S3Endpoint != "" && !f.shared {
			return fault.New(fault.Invalid, "--s3-endpoint needs --documents-s3")
		}
		return nil
	}
	return f.validateBucket("--documents-s3", f.DocumentsS3)
}

// validateBucket checks the address of a bucket that a flag names, and how to reach it.
func (f *bucketFlags) validateBucket(flag, address string) error {
	if _, _, err := bucket.Parse(address); err != nil {
		return fault.New(fault.Invalid, "%s %q %s", flag, address, err)
	}
	if f.S3Endpoint != "" && !origin.Valid(f.S3Endpoint) {
		return fault.New(fault.Invalid, "--s3-endpoint %q must be http:// or https:// and a host, with nothing after it", f.S3Endpoint)
	}
	if f.S3Region == "" {
		return fault.New(fault.Invalid, "--s3-region must not be empty")
	}
	return nil
}

// bucketOptions returns how to open the bucket that a flag names.
func (f *bucketFlags) bucketOptions(p *process, flag, address string) bucket.Options {
	return bucket.Options{
		Address:   address,
		Flag:      flag,
		Endpoint:  f.S3Endpoint,
		Region:    f.S3Region,
		AccessKey: p.getenv(s3AccessKeyEnv),
		SecretKey: p.getenv(s3SecretKeyEnv),
	}
}

// bucket returns the bucket of documents, nil if none is configured. It fails if the
// bucket cannot be used.
func (f *bucketFlags) bucket(ctx context.Context, p *process) (*bucket.Bucket, error) {
	if err := f.validate(); err != nil || f.DocumentsS3 == "" {
		return nil, err
	}
	return bucket.Open(ctx, f.bucketOptions(p, "--documents-s3", f.DocumentsS3))
}

// settings returns how documents are read, without a language model.
func (f *documentFlags) settings(p *process, logger *slog.Logger) (s documents.Settings, err error) {
	s.CacheDir = f.cacheDir(logger)
	s.KeepInStore = f.KeepDocuments
	if f.DocumentsS3 == "" { // --s3-endpoint may be that of --bulk-s3
		return s, nil
	}
	kept := f.bucketOptions(p, "--documents-s3", f.DocumentsS3)
	s.Bucket = &kept
	return s, f.validate()
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

// modelFlags configure the language model that writes summaries.
type modelFlags struct {
	LLMURL    string `name:"llm-url" placeholder:"URL" help:"OpenAI-compatible endpoint that writes summaries. Its key is in PREGON_LLM_KEY. Default: none; summaries are then sentences of the documents."`
	LLMModel  string `name:"llm-model" placeholder:"NAME" help:"Model that writes the summaries."`
	LLMVerify string `name:"llm-verify-model" placeholder:"NAME" help:"Model that checks the summaries. Default: the same model, in a separate call."`
	LLMBudget int    `name:"llm-budget" default:"2000000" placeholder:"TOKENS" help:"Tokens that the models may use in a day. After that, summaries are sentences of the documents."`
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
	if u, ok := origin.ParseHTTP(f.LLMURL); !ok || u.Fragment != "" {
		return fault.New(fault.Invalid, "--llm-url must be http:// or https:// and a host, perhaps with a path; put "+
			"a key into %s", llmKeyEnv)
	}
	if f.LLMBudget < 1 {
		return fault.New(fault.Invalid, "--llm-budget %d must be at least 1", f.LLMBudget)
	}
	return nil
}

// settings returns the language model, whose URL is empty if there is none.
func (f *modelFlags) settings(p *process) documents.Model {
	return documents.Model{
		URL:          f.LLMURL,
		Name:         f.LLMModel,
		Key:          p.getenv(llmKeyEnv),
		VerifyName:   f.LLMVerify,
		TokensPerDay: f.LLMBudget,
	}
}
