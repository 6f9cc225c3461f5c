package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

const chartDir = "../helm/pregon"

// chartExample returns the values of docs/deploy.md that an operator begins with.
func chartExample(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```yaml\n(source: cnmv\n.*?)```").FindSubmatch(text)
	if example == nil {
		t.Fatal("docs/deploy.md has no values for the chart")
	}
	return string(example[1])
}

func renderChart(t *testing.T, values string) (*chart, *kit) {
	t.Helper()
	c, err := render(chartDir, "pregon", values)
	if err != nil {
		t.Fatal(err)
	}
	k, err := parse(c.objects)
	if err != nil {
		t.Fatal(err)
	}
	return c, k
}

// TestChart renders the chart for each kind of installation and checks all objects. The
// problems of one pod with SQLite are those that follow from it.
func TestChart(t *testing.T) {
	f := readAll(t)
	onePod := []string{
		"has fewer than two replicas",
		"maxUnavailable is not 0",
		"PREGON_REDIS is not from a Secret",
		"PREGON_STORE is not from a Secret",
	}
	for _, test := range []struct {
		name        string
		values      string
		deployments int
		ingresses   int
		problems    []string
	}{
		{
			name:        "demo",
			deployments: 1,
			problems: append([]string{
				"PREGON_SECRET_KEY is not from a Secret",
				`PREGON_TRUSTED_PROXY: netip.ParsePrefix(""): no '/'`,
			}, onePod...),
		},
		{
			name:        "SQLite",
			values:      strings.Replace(chartExample(t), "type: postgres", "claim: pregon-data", 1),
			deployments: 1,
			ingresses:   1,
			problems:    append([]string{"the volume data is not an emptyDir"}, onePod...),
		},
		{
			name:        "PostgreSQL",
			values:      chartExample(t),
			deployments: 1,
			ingresses:   1,
		},
		{
			name:        "roles",
			values:      chartExample(t) + "separateRoles: true\n",
			deployments: 3,
			ingresses:   1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, k := renderChart(t, test.values)
			if len(k.deployments) != test.deployments || len(k.services) != 1 || len(k.ingresses) != test.ingresses {
				t.Errorf("%d Deployments, %d Services and %d Ingresses", len(k.deployments), len(k.services), len(k.ingresses))
			}
			if len(k.accounts)+len(k.monitors) > 0 {
				t.Errorf("%d ServiceAccounts and %d PodMonitors that were not asked for", len(k.accounts), len(k.monitors))
			}
			var want []string
			for _, problem := range test.problems {
				want = append(want, "Deployment pregon: "+problem)
			}
			got := k.problems(f)
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			given, err := loader.LoadValues(strings.NewReader(test.values))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range lint.RunAll(chartDir, given, "pregon").Messages {
				if m.Severity > support.InfoSev {
					t.Errorf("helm lint: %v", m)
				}
			}
			if !strings.Contains(c.notes, "Pregón is ") {
				t.Errorf("the notes do not say where it is: %q", c.notes)
			}
		})
	}
}

// TestChartDemo: without values the chart runs the demo in one pod, whose link signs in
// through the port that the notes forward.
func TestChartDemo(t *testing.T) {
	c, k := renderChart(t, "")
	d := k.deployments[0]
	env := k.environment(d, t.Errorf)
	for name, want := range map[string]string{
		"PREGON_SOURCE":     "demo",
		"PREGON_STORE":      "sqlite:/data/pregon.db",
		"PREGON_BASE_URL":   "http://127.0.0.1:8080",
		"PREGON_LOG_FORMAT": "text",
	} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	if *d.Spec.Replicas != 1 || d.Spec.Strategy.Type != "Recreate" {
		t.Errorf("%d replicas with the strategy %s", *d.Spec.Replicas, d.Spec.Strategy.Type)
	}
	for _, want := range []string{"port-forward service/" + k.services[0].Name + " 8080:80", "logs deployment/" + d.Name, "fictional"} {
		if !strings.Contains(c.notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, c.notes)
		}
	}
}

// TestChartOptions: what is off by default.
func TestChartOptions(t *testing.T) {
	_, k := renderChart(t, chartExample(t)+`
separateRoles: true
settings: {PREGON_REGISTERS: none, PREGON_RATE: 3, PREGON_MAX_CONNECTIONS: 1000000, PREGON_SHARE: 0.5}
secretSettings: {PREGON_LLM_KEY: llm-key}
secretFiles: {PREGON_CONFIG: access.yaml}
networkPolicy: {egressPorts: [443, 9000]}
podMonitor: {enabled: true, labels: {release: prometheus}}
serviceAccount: {create: true, annotations: {example: "yes"}}
nodeSelector: {disk: ssd}
tolerations: [{key: reserved, operator: Exists}]
`)
	if len(k.accounts) != 1 || k.accounts[0].Annotations["example"] != "yes" {
		t.Errorf("ServiceAccounts: %v", k.accounts)
	}
	if len(k.monitors) != 1 {
		t.Fatalf("%d PodMonitors", len(k.monitors))
	}
	monitor := k.monitors[0]
	if monitor.Labels["release"] != "prometheus" || monitor.Spec.JobLabel != "app.kubernetes.io/name" {
		t.Errorf("the PodMonitor has the labels %v and takes the job from %s", monitor.Labels, monitor.Spec.JobLabel)
	}
	for _, d := range k.deployments {
		pod := d.Spec.Template
		for name, value := range monitor.Spec.Selector.MatchLabels {
			if pod.Labels[name] != value {
				t.Errorf("the PodMonitor does not select %s", d.Name)
			}
		}
		if port := *monitor.Spec.PodMetricsEndpoints[0].Port; pod.Spec.Containers[0].Ports[1].Name != port {
			t.Errorf("the PodMonitor reads the port %s of %s", port, d.Name)
		}
		env := k.environment(d, t.Errorf)
		if env["PREGON_REGISTERS"] != "none" || env["PREGON_RATE"] != "3" ||
			env["PREGON_MAX_CONNECTIONS"] != "1000000" || env["PREGON_SHARE"] != "0.5" {
			t.Errorf("the settings of %s: %v", d.Name, env)
		}
		if value, ok := env["PREGON_LLM_KEY"]; !ok || value != "" {
			t.Errorf("PREGON_LLM_KEY of %s is not from the Secret", d.Name)
		}
		mounts := pod.Spec.Containers[0].VolumeMounts
		mount := mounts[len(mounts)-1]
		volume := pod.Spec.Volumes[len(pod.Spec.Volumes)-1]
		if volume.Secret == nil || volume.Name != mount.Name || volume.Secret.SecretName != "pregon" {
			t.Fatalf("%s does not mount the Secret: %+v", d.Name, volume)
		}
		if file := volume.Secret.Items[0]; file.Key != "access.yaml" || env["PREGON_CONFIG"] != mount.MountPath+"/"+file.Path {
			t.Errorf("PREGON_CONFIG of %s is %s, and %+v is mounted at %s", d.Name, env["PREGON_CONFIG"], file, mount.MountPath)
		}
		if pod.Spec.ServiceAccountName != k.accounts[0].Name || pod.Spec.NodeSelector["disk"] != "ssd" || len(pod.Spec.Tolerations) != 1 {
			t.Errorf("%s is not placed as it should: %+v", d.Name, pod.Spec)
		}
	}
	for _, p := range k.policies {
		if ports := p.Spec.Egress[0].Ports; len(ports) != 4 || ports[3].Port.IntValue() != 9000 {
			t.Errorf("the network policy %s admits %v", p.Name, ports)
		}
	}
}

// TestChartRefusals: values that cannot work are refused, in words that say what to do.
func TestChartRefusals(t *testing.T) {
	example := chartExample(t)
	without := func(line string) string {
		values := regexp.MustCompile(`(?m)^`+line+`:.*\n`).ReplaceAllString(example, "")
		if values == example {
			t.Fatalf("the values of docs/deploy.md do not have %s", line)
		}
		return values
	}
	digest := "image: {digest: sha256:" + strings.Repeat("0", 63) + "}"
	for _, test := range []struct{ values, want string }{
		{"source: cnmv", "baseURL is required with source: cnmv. Set it to"},
		{without("baseURL"), "baseURL is required with source: cnmv"},
		{without("contact"), "contact is required with source: cnmv"},
		{without("trustedProxy"), "trustedProxy is required with source: cnmv"},
		{without("secretName"), "secretName is required with source: cnmv"},
		{without("store"), "store.claim is required with source: cnmv and SQLite"},
		{strings.Replace(example, "10.42.7.0/26", "10.0.0.0/8", 1), "trustedProxy has 10.0.0.0/8: name addresses"},
		{strings.Replace(example, "10.42.7.0/26", "999.1.1.1", 1), "trustedProxy has 999.1.1.1: name addresses"},
		{strings.Replace(example, "10.42.7.0/26", `"::/0"`, 1), "trustedProxy has ::/0: name addresses"},
		{strings.Replace(example, "type: postgres", "type: postgres, claim: data", 1), "store.claim is for SQLite"},
		{"store: {type: postgres}", "secretName is required with store.type: postgres"},
		{"{store: {type: postgres}, secretName: s}", "source: demo needs store.type: sqlite"},
		{"separateRoles: true", "separateRoles needs store.type: postgres"},
		{"ingress: {enabled: true}", "baseURL is required with an Ingress"},
		{"{ingress: {enabled: true}, baseURL: 'https://a.example'}", "trustedProxy is required with an Ingress"},
		{"secretSettings: {PREGON_LLM_KEY: key}", "set secretName"},
		{"secretFiles: {PREGON_CONFIG: access.yaml}", "set secretName"},
		{"{secretFiles: {PREGON_CONFIG: ../passwd}, secretName: s}", "'/secretFiles/PREGON_CONFIG'"},
		{"settings: {PREGON_LISTEN: ':80'}", "PREGON_LISTEN is set by the chart"},
		{"settings: {PREGON_LLM_KEY: x}", "PREGON_LLM_KEY is a secret, and settings are in a ConfigMap"},
		{"settings: {PREGON_SMTP_PASSWORD: x}", "PREGON_SMTP_PASSWORD is a secret, and settings are in a ConfigMap"},
		{"settings: {REGISTERS: none}", "additional properties 'REGISTERS' not allowed"},
		{"sorce: cnmv", "additional properties 'sorce' not allowed"},
		{"source: both", "'/source': value must be one of 'demo', 'cnmv'"},
		{"store: {type: mysql}", "'/store/type': value must be one of 'sqlite', 'postgres'"},
		{"roles: {all: {replicas: 0}}", "'/roles/all/replicas': minimum: got 0, want 1"},
		{"roles: {write: {replicas: 2}}", "additional properties 'write' not allowed"},
		{"baseURL: reports.example", "'/baseURL'"},
		{"baseURL: https://reports.example/api", "'/baseURL'"},
		{digest, "'/image/digest'"},
		{"networkPolicy: {egressPorts: [https]}", "'/networkPolicy/egressPorts/0': got string, want integer"},
	} {
		if _, err := render(chartDir, "pregon", test.values); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\ngot %v, want %q", test.values, err, test.want)
		}
	}
}

// TestChartNames: names that YAML would read as a number or a word of its own are texts.
func TestChartNames(t *testing.T) {
	for _, name := range []string{"1", "1e3", "true", "null"} {
		_, k := renderChart(t, strings.NewReplacer("NAME", `"`+name+`"`).Replace(`
source: cnmv
image: {tag: NAME, pullSecrets: [NAME]}
baseURL: https://a.example
contact: NAME
trustedProxy: [10.0.0.1]
secretName: NAME
store: {claim: NAME}
settings: {PREGON_ALERTS_FROM: NAME}
secretSettings: {PREGON_LLM_KEY: NAME}
secretFiles: {PREGON_CONFIG: NAME}
ingress: {enabled: true, className: NAME, tlsSecretName: NAME, annotations: {a: NAME}}
networkPolicy: {ingressNamespace: NAME, monitoringNamespace: NAME}
podMonitor: {enabled: true, labels: {a: NAME}}
serviceAccount: {create: true, name: NAME, annotations: {a: NAME}}
nodeSelector: {a: NAME}
`))
		if got := k.deployments[0].Spec.Template.Spec.ServiceAccountName; got != name {
			t.Errorf("the ServiceAccount of the pods is %q, want %q", got, name)
		}
		if got := k.ingresses[0].Spec.TLS[0].SecretName; got != name {
			t.Errorf("the certificate is in the Secret %q, want %q", got, name)
		}
	}
}

// TestChartReleases: a release whose objects could not be created is refused.
func TestChartReleases(t *testing.T) {
	for release, want := range map[string]string{
		"pregon":     "",
		"my-reports": "",
		"2reports":   "the objects would be named 2reports-pregon",
		"my.pregon":  "the objects would be named my.pregon",
	} {
		_, err := render(chartDir, release, "")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", release, err, want)
		}
	}
}

// TestChartEncrypts: an Ingress for https has TLS, also with the controller's certificate.
func TestChartEncrypts(t *testing.T) {
	for values, want := range map[string]string{
		"{baseURL: 'https://a.example', trustedProxy: [10.0.0.1], ingress: {enabled: true}}":                    `"tls":[{"hosts":["a.example"],"secretName":"pregon-tls"}]`,
		"{baseURL: 'https://a.example', trustedProxy: [10.0.0.1], ingress: {enabled: true, tlsSecretName: ''}}": `"tls":[{"hosts":["a.example"]}]`,
	} {
		c, err := render(chartDir, "pregon", values)
		if err != nil {
			t.Fatal(err)
		}
		if all := string(bytes.Join(c.objects, nil)); !strings.Contains(all, want) {
			t.Errorf("%s\ngot %s, want %s", values, all, want)
		}
	}
}

// differences are the fields in which the chart differs from the manifests, as patterns of
// a kind and a path.
var differences = []string{
	// The chart does not name the namespace: helm install does.
	`\w+ metadata\.namespace`,
	// Helm distinguishes releases of one chart by the labels of their objects.
	`\w+ .*(labels|matchLabels|selector)\.app\.kubernetes\.io/instance`,
	`\w+ metadata\.labels\.(app\.kubernetes\.io/(name|component|managed-by)|helm\.sh/chart)`,
	// kubectl names each content of the ConfigMap, Helm marks the pods with its checksum.
	`ConfigMap metadata\.name`,
	`Deployment .*\.envFrom\.0\.configMapRef\.name`,
	`Deployment spec\.template\.metadata\.annotations\.checksum/config`,
	// kustomize copies the required settings to the container, to fail without them.
	`Deployment .*\.env\.PREGON_(BASE_URL|CONTACT|TRUSTED_PROXY)\.(name|value)`,
	`ConfigMap data\.PREGON_SOURCE`,
	`Deployment .*\.imagePullPolicy`,
}

// TestChartIsManifests compares the chart with the manifests for the same settings, field
// by field.
func TestChartIsManifests(t *testing.T) {
	used := map[string]bool{}
	for component, values := range map[string]string{
		"base":           chartExample(t),
		"overlays/roles": chartExample(t) + "separateRoles: true\n",
	} {
		manifests, err := build(site(t, siteExample(t), component))
		if err != nil {
			t.Fatal(err)
		}
		c, _ := renderChart(t, values)
		for _, difference := range compare(fields(t, manifests), fields(t, c.objects)) {
			known := false
			for _, pattern := range differences {
				if regexp.MustCompile(`^[^:]*: ` + pattern + `: `).MatchString(difference) {
					known = true
					used[pattern] = true
				}
			}
			if !known {
				t.Errorf("%s: %s", component, difference)
			}
		}
	}
	for _, pattern := range differences {
		if !used[pattern] {
			t.Errorf("the chart no longer differs in %s: remove it from the list", pattern)
		}
	}
}

// fields returns the values of all objects, by the kind and name of the object and the
// path of the field.
func fields(t *testing.T, objects [][]byte) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, object := range objects {
		var decoded map[string]any
		if err := json.Unmarshal(object, &decoded); err != nil {
			t.Fatal(err)
		}
		kind := decoded["kind"].(string)
		name := decoded["metadata"].(map[string]any)["name"].(string)
		if kind == "ConfigMap" {
			name = "pregon"
		}
		flatten(all, name+": "+kind+" ", "", decoded)
	}
	return all
}

// flatten adds the values below a field. Items that have a name are distinguished by it,
// since their order does not matter.
func flatten(all map[string]string, object, at string, value any) {
	at = strings.TrimPrefix(at, ".")
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			flatten(all, object, at+"."+key, inner)
		}
	case []any:
		for i, inner := range value {
			key := fmt.Sprint(i)
			if item, ok := inner.(map[string]any); ok && item["name"] != nil {
				key = fmt.Sprint(item["name"])
			}
			flatten(all, object, at+"."+key, inner)
		}
	default:
		all[object+at] = fmt.Sprint(value)
	}
}

// compare returns the fields that differ, as OBJECT: KIND PATH: ONE and OTHER.
func compare(manifests, chart map[string]string) (out []string) {
	all := maps.Clone(manifests)
	maps.Copy(all, chart)
	for _, field := range slices.Sorted(maps.Keys(all)) {
		inManifests, one := manifests[field]
		inChart, two := chart[field]
		switch {
		case !one:
			inManifests = "nothing"
		case !two:
			inChart = "nothing"
		}
		if inManifests != inChart {
			out = append(out, fmt.Sprintf("%s: %s in the manifests, %s in the chart", field, inManifests, inChart))
		}
	}
	return out
}
