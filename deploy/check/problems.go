package check

import (
	"fmt"
	"net"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// facts are what other files of the project say.
type facts struct {
	settings string        // the part of docs/cli.md about serve
	shutdown time.Duration // the longest shutdown after --drain
	uid      int64         // of the image
}

// problems returns what is wrong with the kit.
func (k *kit) problems(f facts) []string {
	var found []string
	report := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for _, d := range k.deployments {
		named := func(format string, args ...any) { report("Deployment "+d.Name+": "+format, args...) }
		if len(d.Spec.Template.Spec.Containers) != 1 || len(d.Spec.Template.Spec.InitContainers) > 0 {
			named("has other than one container")
			continue
		}
		env := k.environment(d, named)
		rollout(d, env, f, named)
		settings(d, env, f, named)
		probes(d, named)
		restricted(d, f, named)
		paths(d, env, named)
		k.selected(d, named)
	}
	k.exposed(report)
	return found
}

type reporter func(format string, args ...any)

// environment returns the values of the container's variables; those from a Secret are empty.
func (k *kit) environment(d *appsv1.Deployment, report reporter) map[string]string {
	env := map[string]string{}
	c := d.Spec.Template.Spec.Containers[0]
	for _, from := range c.EnvFrom {
		i := slices.IndexFunc(k.configs, func(m *corev1.ConfigMap) bool {
			return from.ConfigMapRef != nil && m.Name == from.ConfigMapRef.Name
		})
		if i < 0 {
			report("envFrom names no ConfigMap of the kit")
			continue
		}
		for name, value := range k.configs[i].Data {
			env[name] = value
		}
	}
	for _, v := range c.Env {
		env[v.Name] = v.Value
	}
	return env
}

func rollout(d *appsv1.Deployment, env map[string]string, f facts, report reporter) {
	if d.Spec.Replicas == nil || *d.Spec.Replicas < 2 {
		report("has fewer than two replicas")
	}
	if r := d.Spec.Strategy.RollingUpdate; r == nil || r.MaxUnavailable == nil || r.MaxUnavailable.String() != "0" {
		report("maxUnavailable is not 0")
	}
	if len(d.Spec.Template.Spec.TopologySpreadConstraints) == 0 {
		report("is not spread over nodes")
	}
	drain, err := time.ParseDuration(env["PREGON_DRAIN"])
	if err != nil {
		report("PREGON_DRAIN: %v", err)
	}
	grace := d.Spec.Template.Spec.TerminationGracePeriodSeconds
	if need := drain + f.shutdown; grace == nil || time.Duration(*grace)*time.Second < need {
		report("terminationGracePeriodSeconds is less than %v", need)
	}
}

func settings(d *appsv1.Deployment, env map[string]string, f facts, report reporter) {
	for name := range env {
		if !strings.Contains(f.settings, "`"+name+"`") {
			report("%s is not a setting of serve", name)
		}
	}
	for _, name := range []string{"PREGON_STORE", "PREGON_REDIS", "PREGON_SECRET_KEY"} {
		if value, ok := env[name]; !ok || value != "" {
			report("%s is not from a Secret", name)
		}
	}
	if err := proxies(env["PREGON_TRUSTED_PROXY"]); err != nil {
		report("%v", err)
	}
	args := d.Spec.Template.Spec.Containers[0].Args
	if len(args) == 0 || args[0] != "serve" {
		report("does not run serve")
		return
	}
	for _, arg := range args[1:] {
		flag, value, _ := strings.Cut(arg, "=")
		// docs/cli.md writes the choices of a flag after it, such as `--role=all\|serve`.
		if !strings.Contains(f.settings, "`"+flag+"`") && !strings.Contains(f.settings, "`"+flag+"=") {
			report("%s is not a flag of serve", flag)
		}
		if flag == "--role" && value != d.Spec.Template.Labels["app.kubernetes.io/component"] {
			report("the role %s is not the component in its labels", value)
		}
	}
	if _, ok := env["PREGON_STORE_READ"]; ok && !slices.Contains(args, "--role=serve") {
		report("PREGON_STORE_READ is for --role=serve only")
	}
}

// The shortest prefixes of a network of proxies. A network of all pods of a cluster is
// larger.
const (
	widest4 = 24
	widest6 = 64
)

// proxies checks that only a few addresses are trusted to name the client.
func proxies(value string) error {
	for network := range strings.SplitSeq(value, ",") {
		if _, err := netip.ParseAddr(network); err == nil {
			continue
		}
		prefix, err := netip.ParsePrefix(network)
		if err != nil {
			return fmt.Errorf("PREGON_TRUSTED_PROXY: %w", err)
		}
		widest := widest6
		if prefix.Addr().Is4() {
			widest = widest4
		}
		if prefix.Bits() < widest {
			return fmt.Errorf("PREGON_TRUSTED_PROXY trusts %s, which is more than the addresses of a proxy", prefix)
		}
	}
	return nil
}

func probes(d *appsv1.Deployment, report reporter) {
	c := d.Spec.Template.Spec.Containers[0]
	for _, p := range []struct {
		name, path string
		probe      *corev1.Probe
	}{
		{"startupProbe", "/readyz", c.StartupProbe},
		{"readinessProbe", "/readyz", c.ReadinessProbe},
		{"livenessProbe", "/healthz", c.LivenessProbe},
	} {
		if p.probe == nil || p.probe.HTTPGet == nil || p.probe.HTTPGet.Path != p.path ||
			p.probe.HTTPGet.Port.String() != "http" {
			report("%s does not ask for %s on http", p.name, p.path)
		}
	}
	if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() {
		report("requests no processor or no memory")
	}
	if c.Resources.Limits.Memory().Cmp(*c.Resources.Requests.Memory()) < 0 {
		report("its limit of memory is below what it requests")
	}
}

// restricted checks the restricted profile of the Pod Security Standards, and what the image needs.
func restricted(d *appsv1.Deployment, f facts, report reporter) {
	pod, c := d.Spec.Template.Spec.SecurityContext, d.Spec.Template.Spec.Containers[0].SecurityContext
	if pod == nil || c == nil {
		report("has no securityContext")
		return
	}
	is := func(b *bool, want bool) bool { return b != nil && *b == want }
	if !is(pod.RunAsNonRoot, true) || pod.RunAsUser == nil || *pod.RunAsUser != f.uid {
		report("does not run as the user %d of the image", f.uid)
	}
	if pod.SeccompProfile == nil || pod.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		report("seccompProfile is not RuntimeDefault")
	}
	if !is(c.AllowPrivilegeEscalation, false) || c.Privileged != nil {
		report("may gain privileges")
	}
	if c.Capabilities == nil || !slices.Equal(c.Capabilities.Drop, []corev1.Capability{"ALL"}) ||
		len(c.Capabilities.Add) > 0 {
		report("keeps capabilities")
	}
	if !is(c.ReadOnlyRootFilesystem, true) {
		report("can write to its root file system")
	}
	if !is(d.Spec.Template.Spec.EnableServiceLinks, false) {
		report("gets variables of other Services")
	}
	if s := d.Spec.Template.Spec; s.HostNetwork || s.HostPID || s.HostIPC {
		report("uses a namespace of the host")
	}
}

// paths checks that the settings, the ports and the volumes agree.
func paths(d *appsv1.Deployment, env map[string]string, report reporter) {
	c := d.Spec.Template.Spec.Containers[0]
	for name, setting := range map[string]string{"http": "PREGON_LISTEN", "debug": "PREGON_DEBUG_LISTEN"} {
		_, port, err := net.SplitHostPort(env[setting])
		if err != nil || !slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool {
			return p.Name == name && strconv.Itoa(int(p.ContainerPort)) == port
		}) {
			report("%s is not the port %s", setting, name)
		}
		if name == "debug" && d.Spec.Template.Annotations["prometheus.io/port"] != port {
			report("prometheus.io/port is not that of %s", setting)
		}
	}
	// Not the top of the volume, to which others may write: such a cache is refused.
	if !slices.ContainsFunc(c.VolumeMounts,
		func(m corev1.VolumeMount) bool { return m.MountPath == path.Dir(env["PREGON_CACHE_DIR"]) }) {
		report("PREGON_CACHE_DIR is not in a volume")
	}
	for _, m := range c.VolumeMounts {
		if !slices.ContainsFunc(d.Spec.Template.Spec.Volumes,
			func(v corev1.Volume) bool { return v.Name == m.Name && v.EmptyDir != nil }) {
			report("the volume %s is not an emptyDir", m.Name)
		}
	}
}

// selected checks that the Deployment, one budget and one network policy select its
// pods, and that it is spread by its own pods.
func (k *kit) selected(d *appsv1.Deployment, report reporter) {
	pod := labels.Set(d.Spec.Template.Labels)
	matches := func(s *metav1.LabelSelector) bool {
		selector, err := metav1.LabelSelectorAsSelector(s)
		return err == nil && !selector.Empty() && selector.Matches(pod)
	}
	if !matches(d.Spec.Selector) {
		report("its selector does not match its labels")
	}
	for _, other := range k.deployments {
		if other != d && matches(other.Spec.Selector) {
			report("%s selects its pods too", other.Name)
		}
	}
	for _, c := range d.Spec.Template.Spec.TopologySpreadConstraints {
		if !matches(c.LabelSelector) {
			report("it is spread by other pods")
		}
	}
	budgets, policies := 0, 0
	for _, b := range k.budgets {
		if matches(b.Spec.Selector) {
			budgets++
		}
	}
	for _, p := range k.policies {
		if matches(&p.Spec.PodSelector) {
			policies++
		}
	}
	if budgets != 1 || policies != 1 {
		report("%d budgets and %d network policies select its pods, want one of each", budgets, policies)
	}
}

// exposed checks that each Service selects the pods of one Deployment that serves
// clients, and that each Ingress leads to a Service.
func (k *kit) exposed(report reporter) {
	for _, s := range k.services {
		var roles []string
		for _, d := range k.deployments {
			if labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(d.Spec.Template.Labels)) {
				roles = append(roles, d.Spec.Template.Labels["app.kubernetes.io/component"])
			}
		}
		if !slices.Equal(roles, []string{"all"}) && !slices.Equal(roles, []string{"serve"}) {
			report("Service %s selects the roles %q", s.Name, roles)
		}
	}
	for _, i := range k.ingresses {
		if i.Annotations["nginx.ingress.kubernetes.io/proxy-buffering"] != "off" {
			report("Ingress %s buffers streams", i.Name)
		}
		for _, rule := range i.Spec.Rules {
			for _, p := range rule.HTTP.Paths {
				if b := p.Backend.Service; b == nil || !slices.ContainsFunc(k.services, func(s *corev1.Service) bool {
					return s.Name == b.Name &&
						slices.ContainsFunc(s.Spec.Ports,
							func(p corev1.ServicePort) bool { return p.Name == b.Port.Name })
				}) {
					report("Ingress %s leads to no Service", i.Name)
				}
			}
		}
	}
}

// readFacts finds in the texts of three files what the kit must agree with.
func readFacts(cli, operations, containerfile string) (facts, error) {
	before, after, found := strings.Cut(cli, "\n## pregon serve\n")
	serve, _, more := strings.Cut(after, "\n## ")
	shutdown := regexp.MustCompile("takes `--drain` and ([0-9]+) s at most").FindStringSubmatch(operations)
	user := regexp.MustCompile(`(?m)^USER ([0-9]+):`).FindStringSubmatch(containerfile)
	if !found || !more || shutdown == nil || user == nil {
		return facts{}, fmt.Errorf("docs/cli.md, docs/operations.md or the Containerfile is not as expected: %q %q", shutdown, user)
	}
	seconds, _ := strconv.Atoi(shutdown[1])
	uid, _ := strconv.ParseInt(user[1], 10, 64)
	return facts{settings: before + serve, shutdown: time.Duration(seconds) * time.Second, uid: uid}, nil
}
