package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"sigs.k8s.io/yaml"
)

// loadCompose reads compose files as Docker Compose does: against the schema, with
// variables replaced, and with each service, secret and volume that is named defined.
func loadCompose(ctx context.Context, env map[string]string, texts ...[]byte) (*types.Project, error) {
	dir, err := filepath.Abs("../compose")
	if err != nil {
		return nil, err
	}
	var files []types.ConfigFile
	for n, text := range texts {
		files = append(files, types.ConfigFile{Filename: fmt.Sprintf("%d.yaml", n), Content: text})
	}
	details := types.ConfigDetails{
		WorkingDir:  dir,
		ConfigFiles: files,
		Environment: maps.Clone(env), // the loader adds to it
	}
	return loader.LoadWithContext(ctx, details, func(o *loader.Options) { o.SetProjectName("pregon", true) })
}

// composeEnv returns the variables that an operator sets.
func composeEnv(t *testing.T) map[string]string {
	t.Helper()
	env := map[string]string{"PREGON_DOMAIN": "pregon.example", "PREGON_CONTACT": "ops@pregon.example"}
	images, err := resolveImages(t, "skopeo", "sha256:"+strings.Repeat("0", 64))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(images) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		env[name] = value
	}
	return env
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// proxyAddress returns the fixed address of Caddy.
func proxyAddress(p *types.Project) netip.Addr {
	network := p.Services["caddy"].Networks["default"]
	if network == nil {
		return netip.Addr{}
	}
	address, _ := netip.ParseAddr(network.Ipv4Address)
	return address
}

// composeProblems returns what is wrong with the replicas of a project.
func composeProblems(p *types.Project, f facts, containerfile string) error {
	var found []error
	report := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }
	replicas := 0
	proxy := proxyAddress(p)
	for _, pool := range p.Networks["default"].Ipam.Config {
		if shared, err := netip.ParsePrefix(pool.IPRange); err != nil || shared.Contains(proxy) {
			report("another container can get the address of caddy: ip_range %q, %v", pool.IPRange, err)
		}
	}
	for _, s := range p.Services {
		for _, v := range s.Volumes {
			if _, err := os.Stat(v.Source); v.Type == types.VolumeTypeBind && err != nil {
				report("%s: %v", s.Name, err)
			}
		}
		if s.Build == nil {
			if !strings.Contains(s.Image, "@sha256:") {
				report("%s: the image %s does not have a digest", s.Name, s.Image)
			}
			continue
		}
		replicas++
		for name, value := range s.Build.Args {
			if value == nil || !strings.Contains(*value, "@sha256:") {
				report("%s: the argument %s does not have a digest", s.Name, name)
			}
		}
		if trusted := s.Environment["PREGON_TRUSTED_PROXY"]; trusted == nil || *trusted != proxy.String() {
			report("%s: PREGON_TRUSTED_PROXY is not the address of caddy, %s", s.Name, proxy)
		}
		if !strings.Contains(containerfile, " AS "+s.Build.Target+"\n") {
			report("%s: the container file has no stage %q", s.Name, s.Build.Target)
		}
		if _, err := os.Stat(filepath.Join(s.Build.Context, s.Build.Dockerfile)); err != nil {
			report("%s: %v", s.Name, err)
		}
		for name := range s.Environment {
			if strings.HasPrefix(name, "PREGON_") && !strings.Contains(f.settings, "`"+strings.TrimSuffix(name, "_FILE")+"`") {
				report("%s: %s is not a setting of serve", s.Name, name)
			}
		}
		if grace := s.StopGracePeriod; grace == nil || time.Duration(*grace) < 5*time.Second+f.shutdown {
			report("%s: stop_grace_period is shorter than a shutdown", s.Name)
		}
		if !s.ReadOnly || len(s.CapDrop) != 1 || s.CapDrop[0] != "ALL" || s.Privileged {
			report("%s: can write to its root or keeps capabilities", s.Name)
		}
		for _, mount := range s.Tmpfs {
			if strings.HasPrefix(mount, "/cache") && !strings.Contains(mount, fmt.Sprintf("uid=%d", f.uid)) {
				report("%s: the user %d of the image cannot write to its cache", s.Name, f.uid)
			}
		}
	}
	if replicas != 2 {
		report("%d replicas, want 2", replicas)
	}
	return errors.Join(found...)
}

func TestCompose(t *testing.T) {
	text := readFile(t, "../compose/compose.yaml")
	containerfile := readFile(t, "../container/Containerfile")
	f := readAll(t)
	env := composeEnv(t)
	check := func(text []byte, env map[string]string) error {
		p, err := loadCompose(t.Context(), env, text)
		if err != nil {
			return err
		}
		return composeProblems(p, f, string(containerfile))
	}
	if err := check(text, env); err != nil {
		t.Fatal(err)
	}
	if err := check(text, nil); err == nil || !strings.Contains(err.Error(), "set it to") {
		t.Errorf("without PREGON_DOMAIN and PREGON_CONTACT: got %v", err)
	}
	for name := range env {
		if !bytes.Contains(text, []byte("${"+name)) {
			continue // of monitoring.yaml
		}
		without := maps.Clone(env)
		delete(without, name)
		if err := check(text, without); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: got %v", name, err)
		}
	}
	for _, test := range []struct{ old, new, want string }{
		{"image: ${REDIS_IMAGE:?run deploy/container/resolve >deploy/compose/.env}", "image: redis:7", "does not have a digest"},
		{"GO_IMAGE: ${GO_IMAGE:?run deploy/container/resolve >deploy/compose/.env}", "GO_IMAGE: golang:1.26", "does not have a digest"},
		{"PREGON_TRUSTED_PROXY: 172.30.0.2 ", "PREGON_TRUSTED_PROXY: 172.30.0.0/24 ", "not the address of caddy"},
		{"ipv4_address: 172.30.0.2}", "ipv4_address: 172.30.0.3}", "not the address of caddy"},
		{"ip_range: 172.30.0.128/25", "ip_range: 172.30.0.0/25", "can get the address of caddy"},
		{"read_only: true", "read_onyl: true", "read_onyl"},
		{"cap_drop: [ALL]", "cap_drop: ALL", "cap_drop"},
		{"cap_drop: [ALL]", "cap_drop: [CHOWN]", "keeps capabilities"},
		{"nofile: 16384", "nofile: many", "nofile"},
		{"stop_grace_period: 60s", "stop_grace_period: 60", "stop_grace_period"},
		{"stop_grace_period: 60s", "stop_grace_period: 40s", "shorter than a shutdown"},
		{"depends_on: [postgres, redis]", "depends_on: [postgres, valkey]", "valkey"},
		{"secrets: [secret-key, pgpass]", "secrets: [secret-keys, pgpass]", "secret-keys"},
		{"- caddy:/data", "- cady:/data", "cady"},
		{"target: tesseract", "target: ocr", `no stage "ocr"`},
		{"context: ../..", "context: ..", "no such file"},
		{"./Caddyfile:", "./Caddifle:", "no such file"},
		{"uid=65532", "uid=1000", "cannot write to its cache"},
		{"PREGON_REDIS:", "PREGON_" + "REDIES:", "not a setting of serve"},
		{"pregon-2: *pregon", "pregon-2: {image: other}", "1 replicas"},
	} {
		if !bytes.Contains(text, []byte(test.old)) {
			t.Fatalf("the file has no %q", test.old)
		}
		err := check(bytes.ReplaceAll(text, []byte(test.old), []byte(test.new)), env)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("with %q: got %v, want %q", test.new, err, test.want)
		}
	}
}

// TestMonitoring: with monitoring.yaml Prometheus reads both replicas, and no port but that
// of Caddy is open to other machines.
func TestMonitoring(t *testing.T) {
	env := composeEnv(t)
	text := readFile(t, "../compose/compose.yaml")
	more := readFile(t, "../compose/monitoring.yaml")
	p, err := loadCompose(t.Context(), env, text, more)
	if err != nil {
		t.Fatal(err)
	}
	if err := composeProblems(p, readAll(t), string(readFile(t, "../container/Containerfile"))); err != nil {
		t.Error(err)
	}
	var want []string
	for name, s := range p.Services {
		if debug := s.Environment["PREGON_DEBUG_LISTEN"]; debug != nil {
			_, port, _ := strings.Cut(*debug, ":")
			want = append(want, name+":"+port)
		}
		for _, port := range s.Ports {
			if name != "caddy" && port.HostIP != "127.0.0.1" {
				t.Errorf("the port %s of %s is open to other machines", port.Published, name)
			}
		}
	}
	slices.Sort(want)
	var config struct {
		ScrapeConfigs []struct {
			StaticConfigs []struct{ Targets []string } `json:"static_configs"`
		} `json:"scrape_configs"`
	}
	if err := yaml.Unmarshal(readFile(t, "../compose/prometheus.yaml"), &config); err != nil {
		t.Fatal(err)
	}
	if got := config.ScrapeConfigs[0].StaticConfigs[0].Targets; len(want) != 2 || !slices.Equal(got, want) {
		t.Errorf("Prometheus reads %q, and the replicas have their metrics at %q", got, want)
	}
	for _, name := range []string{"PROMETHEUS_IMAGE", "GRAFANA_IMAGE"} {
		without := maps.Clone(env)
		delete(without, name)
		if _, err := loadCompose(t.Context(), without, text, more); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: got %v", name, err)
		}
	}
}
