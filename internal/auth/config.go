package auth

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"pregon/internal/auth/access"
	"pregon/internal/auth/oauth"
	"pregon/internal/auth/signin"
	"pregon/internal/auth/token"
	"pregon/internal/fault"
)

// Config is the content of the file named by --config.
type Config struct {
	Plans        map[string]Plan `yaml:"plans"`
	SignIn       SignIn          `yaml:"signin"`
	token.Config `yaml:",inline"`
}

// SignIn configures how people sign in, and which applications they may authorize.
type SignIn struct {
	signin.Config `yaml:",inline"`
	OAuth         oauth.Config `yaml:",inline"`
}

// Plan is what the keys of a plan may do.
type Plan struct {
	RequestsPerMinute int `yaml:"requests_per_minute"`
}

// typeNames matches our Go types in errors of the YAML decoder, which mean
// nothing to the author of the file.
var typeNames = regexp.MustCompile(` (in|into) (type )?(\[\])?(auth|token|signin|oauth)\.\w+`)

// ReadConfig reads the file; an empty name is an empty configuration. An unknown
// key is an error, since it would silently have no effect.
func ReadConfig(file string) (c Config, err error) {
	if file == "" {
		return c, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return c, fault.Wrap(fault.Invalid, err, "--config cannot be read")
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		words := strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " ")
		return c, fault.New(fault.Invalid, "%s: %s", file, typeNames.ReplaceAllString(words, ""))
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return c, fault.New(fault.Invalid, "%s: there must be one document in the file", file)
	}
	c.resolve(filepath.Dir(file))
	for name, p := range c.Plans {
		if !slices.Contains(access.Plans, name) || p.RequestsPerMinute < 1 || p.RequestsPerMinute > 1_000_000 {
			return c, fault.New(fault.Invalid,
				"%s: plans.%s: a plan is %s, and has requests_per_minute from 1 to 1000000",
				file, name, strings.Join(access.Plans, ", "))
		}
	}
	return c, nil
}

// resolve makes the files that the configuration names relative to its own
// directory.
func (c *Config) resolve(dir string) {
	join := func(file *string) {
		if *file != "" && !filepath.IsAbs(*file) {
			*file = filepath.Join(dir, *file)
		}
	}
	for i := range c.Issuers {
		join(&c.Issuers[i].JWKSFile)
		for j := range c.Issuers[i].Clients {
			join(&c.Issuers[i].Clients[j].JWKSFile)
		}
	}
	for i := range c.SignIn.OAuth.Clients {
		join(&c.SignIn.OAuth.Clients[i].JWKSFile)
	}
}

// CheckConfig returns what is wrong with the file, or nil.
func CheckConfig(file, baseURL string) error {
	c, err := ReadConfig(file)
	if err != nil {
		return err
	}
	if _, err := token.New(token.Options{
		Config:  c.Config,
		BaseURL: baseURL,
		Keys:    keySource(slog.New(slog.DiscardHandler)),
	}); err != nil {
		return fault.New(fault.Invalid, "%s: %s", file, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if err := errors.Join(c.SignIn.Validate(baseURL), c.SignIn.OAuth.Validate()); err != nil {
		return fault.New(fault.Invalid, "%s: %s", file, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return nil
}
