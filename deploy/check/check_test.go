package check

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func readAll(t *testing.T) facts {
	t.Helper()
	var texts []string
	for _, name := range []string{"docs/cli.md", "docs/operations.md", "deploy/container/Containerfile"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	f, err := readFacts(texts[0], texts[1], texts[2])
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// siteExample returns the kustomization of docs/deploy.md that an operator begins with.
func siteExample(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(text)
	if example == nil {
		t.Fatal("docs/deploy.md has no kustomization")
	}
	return string(example[1])
}

// site writes the kustomization of an operator beside deploy, with one of the two
// components of the kit, and returns its directory.
func site(t *testing.T, example, component string) string {
	t.Helper()
	kit, err := filepath.Abs("../kubernetes/" + component)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(dir, kit)
	if err != nil {
		t.Fatal(err)
	}
	const named = "../deploy/kubernetes/base]"
	if !strings.Contains(example, named) {
		t.Fatalf("the kustomization of docs/deploy.md does not have %s", named)
	}
	example = strings.Replace(example, named, relative+"]", 1)
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRequiredSettings: without the settings that only the operator knows nothing is
// rendered, and the error names the missing one.
func TestRequiredSettings(t *testing.T) {
	example := siteExample(t)
	for _, component := range []string{"base", "overlays/roles"} {
		for _, name := range []string{"PREGON_TRUSTED_PROXY", "PREGON_BASE_URL", "PREGON_CONTACT"} {
			without := regexp.MustCompile("(?m)^ *- "+name+"=.*\n").ReplaceAllString(example, "")
			if without == example {
				t.Fatalf("the kustomization of docs/deploy.md does not have %s", name)
			}
			_, err := build(site(t, without, component))
			if want := "data." + name; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s without %s: %v, want an error that has %q", component, name, err, want)
			}
		}
		if _, err := build("../kubernetes/" + component); err == nil || !strings.Contains(err.Error(), "cannot merge or replace") {
			t.Errorf("%s alone: %v, want an error about the missing ConfigMap", component, err)
		}
	}
}

// TestResolve: the script gives a digest for each image that the container file and the
// compose files have as an argument, and fails if a registry has none or nothing can ask.
func TestResolve(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0", 64)
	for _, tool := range []string{"skopeo", "docker"} {
		lines, err := resolveImages(t, tool, digest)
		if err != nil {
			t.Fatal(err)
		}
		arguments := 0
		for _, name := range []string{"container/Containerfile", "compose/compose.yaml", "compose/monitoring.yaml"} {
			for _, variable := range regexp.MustCompile(`[A-Z]+_IMAGE`).FindAllString(string(readFile(t, "../"+name)), -1) {
				arguments++
				if given := regexp.MustCompile(`(?m)^` + variable + `=\S+@` + digest + `$`); !given.MatchString(lines) {
					t.Errorf("%s: %s needs %s, which is not in\n%s", tool, name, variable, lines)
				}
			}
		}
		if arguments < 9 {
			t.Errorf("found %d arguments, want more", arguments)
		}
		if lines, err := resolveImages(t, tool, "latest"); err == nil {
			t.Errorf("with a registry without digests it prints %q", lines)
		}
	}
	var failed *exec.ExitError
	lines, err := resolveImages(t, "curl", digest)
	if !errors.As(err, &failed) || !strings.Contains(string(failed.Stderr), "neither skopeo nor Docker is installed") {
		t.Errorf("without a tool that asks it prints %q, %v", lines, err)
	}
}

// resolveImages runs deploy/container/resolve with one tool, which prints a digest.
func resolveImages(t *testing.T, tool, digest string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, tool), fmt.Appendf(nil, "#!/bin/sh\necho %s\n", digest), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "../container/resolve")
	cmd.Env = append(os.Environ(), "PATH="+dir)
	out, err := cmd.Output()
	return string(out), err
}

// TestManifests builds both components with the kustomization of docs/deploy.md and
// checks all objects.
func TestManifests(t *testing.T) {
	f := readAll(t)
	for dir, deployments := range map[string]int{"base": 1, "overlays/roles": 3} {
		objects, err := build(site(t, siteExample(t), dir))
		if err != nil {
			t.Fatal(err)
		}
		k, err := parse(objects)
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		if len(k.deployments) != deployments || len(k.services) != 1 || len(k.ingresses) != 1 {
			t.Errorf("%s: %d Deployments, %d Services and %d Ingresses, want %d, 1 and 1", dir, len(k.deployments), len(k.services), len(k.ingresses), deployments)
		}
		for _, problem := range k.problems(f) {
			t.Errorf("%s: %s", dir, problem)
		}
		t.Logf("%s: %d objects agree with the Kubernetes API, docs/cli.md and the container file", dir, len(objects))
	}
}

// TestMistakes makes one mistake at a time in the manifests, which the check must find.
func TestMistakes(t *testing.T) {
	f := readAll(t)
	objects, err := build(site(t, siteExample(t), "overlays/roles"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ old, new, want string }{
		{`"readinessProbe":`, `"readynessProbe":`, `unknown field "spec.template.spec.containers[0].readynessProbe"`},
		{`"readinessProbe":`, `"ReadinessProbe":`, `unknown field "spec.template.spec.containers[0].ReadinessProbe"`},
		{`"maxUnavailable":1`, `"maxUnavailabel":1`, `unknown field "spec.maxUnavailabel"`},
		{`"policyTypes":`, `"policyType":`, `unknown field "spec.policyType"`},
		{`"ingressClassName":`, `"className":`, `unknown field "spec.className"`},
		{`"targetPort":`, `"targetport":`, `unknown field "spec.ports[0].targetport"`},
		{`"replicas":2`, `"replicas":"2"`, "cannot unmarshal string"},
		{`"kind":"Ingress"`, `"kind":"Ingres"`, "not a kind that is checked"},
		{`"replicas":2`, `"replicas":1`, "fewer than two replicas"},
		{`"maxUnavailable":0`, `"maxUnavailable":1`, "maxUnavailable is not 0"},
		{`"terminationGracePeriodSeconds":60`, `"terminationGracePeriodSeconds":49`, "less than 50s"},
		{`"PREGON_DRAIN":`, `"PREGON_` + `DRIAN":`, "is not a setting of serve"},
		{`"--role=ingest"`, `"--rol=ingest"`, "--rol is not a flag of serve"},
		{`"--role=ingest"`, `"--role=deliver"`, "not the component"},
		{`"/healthz"`, `"/health"`, "livenessProbe does not ask for /healthz"},
		{`"cpu":"250m",`, ``, "requests no processor"},
		{`"readOnlyRootFilesystem":true`, `"readOnlyRootFilesystem":false`, "can write to its root"},
		{`"RuntimeDefault"`, `"Unconfined"`, "seccompProfile is not"},
		{`"runAsUser":65532`, `"runAsUser":1000`, "the user 65532 of the image"},
		{`"drop":["ALL"]`, `"drop":["CHOWN"]`, "keeps capabilities"},
		{`"mountPath":"/cache"`, `"mountPath":"/caches"`, "PREGON_CACHE_DIR is not in a volume"},
		{`"10.42.7.0/26"`, `"10.0.0.0/8"`, "PREGON_TRUSTED_PROXY trusts 10.0.0.0/8"},
		{`"10.42.7.0/26"`, `"::/0"`, "PREGON_TRUSTED_PROXY trusts ::/0"},
		{`"10.42.7.0/26"`, `"ingress"`, "PREGON_TRUSTED_PROXY: "},
		{`0.0.0.0:9090`, `0.0.0.0:9091`, "PREGON_DEBUG_LISTEN is not the port debug"},
		{`"selector":{"matchLabels":{"app.kubernetes.io/component":"deliver"`, `"selector":{"matchLabels":{"app.kubernetes.io/component":"all"`, "select"},
		{`"podSelector":{"matchLabels":{"app.kubernetes.io/component":"ingest"`, `"podSelector":{"matchLabels":{"app.kubernetes.io/component":"all"`, "0 network policies"},
		{`"selector":{"app.kubernetes.io/component":"serve"`, `"selector":{"app.kubernetes.io/component":"ingest"`, `selects the roles ["ingest"]`},
		{`/proxy-buffering":"off"`, `/proxy-buffering":"on"`, "buffers streams"},
		{`"service":{"name":"pregon"`, `"service":{"name":"pregn"`, "leads to no Service"},
	} {
		t.Run(test.new, func(t *testing.T) {
			var wrong [][]byte
			changed := false
			for _, object := range objects {
				edited := bytes.ReplaceAll(object, []byte(test.old), []byte(test.new))
				changed = changed || !bytes.Equal(edited, object)
				wrong = append(wrong, edited)
			}
			if !changed {
				t.Fatalf("no object has %s", test.old)
			}
			var found string
			if k, err := parse(wrong); err != nil {
				found = err.Error()
			} else {
				found = strings.Join(k.problems(f), "\n")
			}
			if !strings.Contains(found, test.want) {
				t.Errorf("found %q, want %q", found, test.want)
			}
		})
	}
}
