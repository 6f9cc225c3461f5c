package check

import (
	"bytes"
	"os"
	"path/filepath"
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

// TestManifests builds both kustomizations and checks all objects.
func TestManifests(t *testing.T) {
	f := readAll(t)
	for dir, deployments := range map[string]int{"../kubernetes/base": 1, "../kubernetes/overlays/roles": 3} {
		objects, err := build(dir)
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
	objects, err := build("../kubernetes/overlays/roles")
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
