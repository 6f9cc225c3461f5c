// Package proxytest runs the proxies and caches of the kit for operators, in folder
// deploy, in front of services on this machine.
package proxytest

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"pregon/internal/test/processtest"
)

// Options are where a proxy runs and what is behind it.
type Options struct {
	Deploy   string   // the folder deploy
	Dir      string   // for the files of the proxy; must be empty
	Replicas []string // addresses: two, or up to three with HAProxy, or one with Varnish
}

// Proxy is a running proxy.
type Proxy struct {
	*processtest.Process
	Address string
	HTTP2   string // address for HTTP/2 without TLS; Caddy and Varnish have none
	output  string
}

// Output returns what the proxy printed.
func (p *Proxy) Output() string {
	text, _ := os.ReadFile(p.output)
	return string(text)
}

// writer writes the configuration of a proxy, and returns the command that runs it.
type writer func(o Options, p *Proxy) (command []string, err error)

// Nginx, Caddy and HAProxy start a proxy and wait until it answers.
func Nginx(o Options) (*Proxy, error)   { return start(o, writeNginx) }
func Caddy(o Options) (*Proxy, error)   { return start(o, writeCaddy) }
func HAProxy(o Options) (*Proxy, error) { return start(o, writeHAProxy) }

// NginxCache and Varnish start a cache and wait until it answers. They name in X-Cache
// what they did: HIT is an answer that they kept.
func NginxCache(o Options) (*Proxy, error) { return start(o, writeNginxCache) }
func Varnish(o Options) (*Proxy, error)    { return start(o, writeVarnish) }

func start(o Options, write writer) (*Proxy, error) {
	p := &Proxy{output: filepath.Join(o.Dir, "out")}
	for _, address := range []*string{&p.Address, &p.HTTP2} {
		port, err := processtest.FreePort()
		if err != nil {
			return nil, err
		}
		*address = fmt.Sprintf("127.0.0.1:%d", port)
	}
	args, err := write(o, p)
	if err != nil {
		return nil, err
	}
	out, err := os.Create(p.output)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+o.Dir, "XDG_DATA_HOME="+o.Dir, "XDG_CONFIG_HOME="+o.Dir)
	cmd.Stdout = out
	cmd.Stderr = out
	if p.Process, err = processtest.Start(cmd); err != nil {
		return nil, err
	}
	if err := p.Await(p.ping); err != nil {
		return nil, fmt.Errorf("%w: %s", err, p.Output())
	}
	return p, nil
}

func (p *Proxy) ping() error {
	resp, err := http.Get("http://" + p.Address + "/readyz")
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New("the proxy answers " + resp.Status)
	}
	return nil
}

// adapt reads a file of the kit and replaces texts that it must contain.
func (o Options) adapt(file string, replace ...string) (string, error) {
	body, err := os.ReadFile(filepath.Join(o.Deploy, file))
	if err != nil {
		return "", err
	}
	text := string(body)
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			return "", fmt.Errorf("%s has no %q", file, replace[i])
		}
		text = strings.ReplaceAll(text, replace[i], replace[i+1])
	}
	return text, nil
}

// write writes a file of the proxy and returns its path.
func (o Options) write(name, text string) (string, error) {
	file := filepath.Join(o.Dir, name)
	return file, os.WriteFile(file, []byte(text), 0o600)
}

// writeNginx writes a configuration around the file of the kit.
func writeNginx(o Options, p *Proxy) ([]string, error) {
	return o.nginx("nginx/pregon.conf", p)
}

func writeNginxCache(o Options, p *Proxy) ([]string, error) {
	return o.nginx("nginx/pregon-cache.conf", p, "/var/cache/nginx/pregon", filepath.Join(o.Dir, "cache"))
}

func (o Options) nginx(site string, p *Proxy, replace ...string) ([]string, error) {
	site, err := o.adapt(site, append(replace,
		"127.0.0.1:8080", o.Replicas[0],
		"127.0.0.1:8081", o.Replicas[1],
		"listen 80;", "listen "+p.Address+";\n\tlisten "+p.HTTP2+" http2;")...)
	if err != nil {
		return nil, err
	}
	file, err := o.write("nginx.conf", fmt.Sprintf(`daemon off;
user root;
master_process off;
pid %[1]s/pid;
error_log stderr;
events { worker_connections 4000; }
http {
access_log off;
client_body_temp_path %[1]s/a;
proxy_temp_path %[1]s/b;
fastcgi_temp_path %[1]s/c;
uwsgi_temp_path %[1]s/d;
scgi_temp_path %[1]s/e;
%[2]s}
`, o.Dir, site))
	return []string{"/usr/sbin/nginx", "-p", o.Dir, "-c", file}, err
}

func writeVarnish(o Options, p *Proxy) ([]string, error) {
	p.HTTP2 = ""
	host, port, err := net.SplitHostPort(o.Replicas[0])
	if err != nil {
		return nil, err
	}
	text, err := o.adapt("varnish/pregon.vcl",
		`.host = "127.0.0.1"`, `.host = "`+host+`"`,
		`.port = "8080"`, `.port = "`+port+`"`)
	if err != nil {
		return nil, err
	}
	file, err := o.write("pregon.vcl", text)
	return []string{
		"/usr/sbin/varnishd", "-F",
		"-j", "none",
		"-n", filepath.Join(o.Dir, "varnish"),
		"-s", "malloc,64m",
		"-a", p.Address,
		"-f", file,
	}, err
}

func writeCaddy(o Options, p *Proxy) ([]string, error) {
	p.HTTP2 = ""
	text, err := o.adapt("compose/Caddyfile",
		"{$PREGON_DOMAIN:pregon.example}", "http://"+p.Address,
		"{$PREGON_REPLICAS:pregon-1:8080 pregon-2:8080}", strings.Join(o.Replicas, " "))
	if err != nil {
		return nil, err
	}
	file, err := o.write("Caddyfile", "{\n\tadmin off\n}\n"+text)
	return []string{"caddy", "run", "--adapter", "caddyfile", "--config", file}, err
}

// writeHAProxy leaves out the servers of the file for which there is no replica.
func writeHAProxy(o Options, p *Proxy) ([]string, error) {
	text, err := o.adapt("haproxy/haproxy.cfg",
		"bind :80\n", "bind "+p.Address+"\n    bind "+p.HTTP2+" proto h2\n",
		"maxconn 9000", "maxconn 4000")
	if err != nil {
		return nil, err
	}
	var kept strings.Builder
	replicas := o.Replicas
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "    server ") {
			if len(replicas) == 0 {
				continue
			}
			fields := strings.Fields(line)
			line = strings.Replace(line, fields[2], replicas[0], 1)
			replicas = replicas[1:]
		}
		kept.WriteString(line)
	}
	file, err := o.write("haproxy.cfg", kept.String())
	return []string{"/usr/sbin/haproxy", "-db", "-f", file}, err
}
