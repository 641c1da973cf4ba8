package servers

import (
	"encoding/json"
	"strings"
	"syscall"
)

// All returns the servers, each of its own implementation of HTTP/2.
func All() []*Server {
	return []*Server{
		{Name: "Go"},
		{
			Name: "nginx", program: "nginx", version: []string{"-v"},
			files: map[string]string{"nginx.conf": nginxConf}, args: []string{"-p", "{{.Dir}}/", "-c", "nginx.conf", "-e", "error.log"},
			log: "access.log", read: words, reload: syscall.SIGHUP, quit: syscall.SIGTERM,
		},
		{
			Name: "Apache", program: "apache2", version: []string{"-v"},
			files: map[string]string{"apache.conf": apacheConf}, args: []string{"-f", "{{.Dir}}/apache.conf", "-DFOREGROUND"},
			log: "access.log", read: words, reload: syscall.SIGUSR1, quit: syscall.SIGTERM,
		},
		{
			Name: "h2o", program: "h2o", version: []string{"--version"},
			files: map[string]string{"h2o.conf": h2oConf}, args: []string{"-c", "h2o.conf"},
			log: "access.log", read: words, quit: syscall.SIGKILL,
		},
		{
			Name: "Caddy", program: "caddy", version: []string{"version"},
			files: map[string]string{"Caddyfile": caddyfile}, args: []string{"run", "--config", "Caddyfile", "--adapter", "caddyfile"},
			log: "access.log", read: caddyLine, quit: syscall.SIGKILL,
		},
		{
			Name: "HAProxy", program: "haproxy", version: []string{"-v"}, backend: true,
			files: map[string]string{"haproxy.conf": haproxyConf}, args: []string{"-W", "-f", "haproxy.conf"},
			read: words, reload: syscall.SIGUSR2, quit: syscall.SIGTERM,
		},
		{
			Name: "nghttpd", program: "nghttpd", version: []string{"--version"},
			args: []string{
				"-v", "-d", "{{.Root}}", "-a", "127.0.0.1", "{{if .Streams}}-m{{.Streams}}{{end}}", "{{.Port}}", "{{.Key}}", "{{.Cert}}",
			},
			read: nghttpdLine, quit: syscall.SIGKILL,
		},
		{
			Name: "Node.js", program: "node", version: []string{"--version"},
			files: map[string]string{"server.js": nodeServer}, args: []string{"server.js"}, read: words, quit: syscall.SIGKILL,
		},
	}
}

// words reads the port of a client, a protocol, a method and a URI. The protocol may come once
// more, as Apache logs the URI before index.html is added to it only with the whole line of a
// request.
func words(line string) (r Request, ok bool) {
	all := strings.Fields(line)
	if len(all) < 4 || !strings.HasPrefix(all[1], "HTTP/") {
		return r, false
	}
	return Request{all[0], all[1], all[2], all[3]}, true
}

const nginxConf = `worker_processes 1;
daemon off;
pid nginx.pid;
events { worker_connections 1024; }
http {
  include /etc/nginx/mime.types;
  log_format words '$remote_port $server_protocol $request_method $request_uri';
  access_log access.log words;
  gzip on;
  client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
  {{with .Requests}}keepalive_requests {{.}};{{end}}
  {{with .Streams}}http2_max_concurrent_streams {{.}};{{end}}
  {{if .Window}}http2_body_preread_size 0;{{end}}
  server {
    listen 127.0.0.1:{{.Port}} ssl{{if not .HTTP1}} http2{{end}};
    ssl_certificate {{.Cert}};
    ssl_certificate_key {{.Key}};
    root {{.Root}};
  }
}
`

const apacheConf = `ServerName 127.0.0.1
ServerRoot {{.Dir}}
PidFile {{.Dir}}/pid
DefaultRuntimeDir {{.Dir}}
ErrorLog {{.Dir}}/error.log
User www-data
Group www-data
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule mime_module /usr/lib/apache2/modules/mod_mime.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
LoadModule ssl_module /usr/lib/apache2/modules/mod_ssl.so
LoadModule http2_module /usr/lib/apache2/modules/mod_http2.so
TypesConfig /etc/mime.types
LogFormat "%{remote}p %H %r" words
CustomLog {{.Dir}}/access.log words
{{with .Requests}}MaxKeepAliveRequests {{.}}
MaxConnectionsPerChild 5{{end}}
{{with .Streams}}H2MaxSessionStreams {{.}}{{end}}
Listen 127.0.0.1:{{.Port}}
<VirtualHost 127.0.0.1:{{.Port}}>
  Protocols {{if not .HTTP1}}h2 {{end}}http/1.1
  SSLEngine on
  SSLCertificateFile {{.Cert}}
  SSLCertificateKeyFile {{.Key}}
  DocumentRoot {{.Root}}
  DirectoryIndex index.html
  <Directory {{.Root}}>
    Require all granted
  </Directory>
</VirtualHost>
`

const h2oConf = `num-threads: 1
{{with .Streams}}http2-max-concurrent-requests-per-connection: {{.}}{{end}}
listen:
  host: 127.0.0.1
  port: {{.Port}}
  ssl:
    certificate-file: {{.Cert}}
    key-file: {{.Key}}
hosts:
  default:
    paths:
      /:
        file.dir: {{.Root}}
access-log:
  path: {{.Dir}}/access.log
  format: "%{remote}p %H %m %U%q"
error-log: {{.Dir}}/error.log
`

const caddyfile = `{
	admin off
	auto_https off
}
https://127.0.0.1:{{.Port}} {
	bind 127.0.0.1
	tls {{.Cert}} {{.Key}}
	root * {{.Root}}
	file_server {
		disable_canonical_uris
	}
	log {
		output file {{.Dir}}/access.log
		format json
	}
}
`

// caddyLine reads a line of JSON.
func caddyLine(line string) (Request, bool) {
	var l struct {
		Request struct {
			Port   string `json:"remote_port"`
			Proto  string `json:"proto"`
			Method string `json:"method"`
			URI    string `json:"uri"`
		} `json:"request"`
	}
	err := json.Unmarshal([]byte(line), &l)
	return Request{l.Request.Port, l.Request.Proto, l.Request.Method, l.Request.URI}, err == nil && l.Request.URI != ""
}

const haproxyConf = `global
  log stdout format raw local0
  {{with .Streams}}tune.h2.max-concurrent-streams {{.}}{{end}}
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  log global
frontend front
  bind 127.0.0.1:{{.Port}} ssl crt {{.Dir}}/both.pem alpn {{if not .HTTP1}}h2,{{end}}http/1.1
  log-format "%cp %HV %HM %HU"
  default_backend back
backend back
  server files 127.0.0.1:{{.Backend}}
`

// nghttpdLine reads a line about a field that was received, such as:
//
//	[id=1] [  0.015] recv (stream_id=1) :path: /
func nghttpdLine(line string) (Request, bool) {
	id, rest, _ := strings.Cut(strings.TrimPrefix(line, "[id="), "]")
	_, path, ok := strings.Cut(rest, ") :path: ")
	return Request{id, "HTTP/2.0", "GET", path}, ok && strings.Contains(rest, " recv (stream_id=")
}

const nodeServer = `const fs = require("fs"), path = require("path");
const types = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".txt": "text/plain", ".xml": "text/xml"};
const settings = {};
{{with .Streams}}settings.maxConcurrentStreams = {{.}};{{end}}
require("http2").createSecureServer({key: fs.readFileSync("{{.Key}}"), cert: fs.readFileSync("{{.Cert}}"), allowHTTP1: true, settings}, (req, res) => {
  console.log(req.socket.remotePort, "HTTP/" + req.httpVersion, req.method, req.url);
  let name = path.join("{{.Root}}", path.normalize(decodeURIComponent(req.url.split("?")[0])));
  if (name.endsWith("/")) name += "index.html";
  fs.readFile(name, (err, body) => {
    res.statusCode = err ? 404 : 200;
    if (!err) res.setHeader("Content-Type", types[path.extname(name)] || "application/octet-stream");
    res.end(body);
  });
}).listen({{.Port}}, "127.0.0.1");
`
