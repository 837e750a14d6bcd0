//go:build proxytest

package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
	"github.com/ferrite-metal/ferrite/lab/redfish/sshconsole"
	"github.com/ferrite-metal/ferrite/lab/redfish/sshconsole/sshconsoletest"
)

// proxied is a conductor, and the parts for its proxies.
type proxied struct {
	dir   string
	roots *x509.CertPool
	board *sshconsoletest.Board
	after int64 // of the audit
}

func newProxied(t *testing.T) *proxied {
	t.Helper()
	for _, line := range []string{"link set lo up", "addr add 192.0.2.11/24 dev lo", "addr add 198.51.100.1/24 dev lo",
		"addr add 203.0.113.1/24 dev lo", "link add boot0 type bridge", "addr add 10.0.0.1/24 dev boot0",
		"link set boot0 up"} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v %s", line, err, out)
		}
	}
	p := &proxied{dir: t.TempDir(), roots: x509.NewCertPool()}
	p.certificate(t)
	hash, err := bcrypt.GenerateFromPassword([]byte("wonderland"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "users"), []byte("alice:"+string(hash)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.board = sshconsoletest.Start(t, "", sshconsole.Config{User: redfishtest.User, Password: redfishtest.Password})
	bmc := redfish.New(redfish.Config{Machine: redfishtest.NewMachineOf(redfishtest.SystemUUID),
		Username: redfishtest.User, Password: redfishtest.Password, SSHPort: p.board.Port(t),
		Log: slog.New(slog.DiscardHandler)})
	server := httptest.NewServer(bmc)
	t.Cleanup(func() { bmc.Close(); server.Close() })
	c := &servetest.Conductor{HTTP: p.client("192.0.2.11"),
		Sign: func(r *http.Request) { r.SetBasicAuth("alice", "wonderland") }}
	servetest.StartFor(t, c, serve.Command(), filepath.Join(p.dir, "data"), "--api-address", "192.0.2.11:6385",
		"--auth", "basic", "--htpasswd-file", p.dir+"/users", "--tls-cert", p.dir+"/conductor.pem",
		"--tls-key", p.dir+"/conductor.pem", "--trusted-proxies", "192.0.2.5", "--boot", "--boot-interface", "boot0",
		"--boot-address", "10.0.0.1/24", "--dhcp", "off")
	t.Cleanup(func() { c.End(t) })
	c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "redfish", "name": "n1", "driver_info": map[string]any{
		"redfish_address": server.URL, "redfish_username": redfishtest.User,
		"redfish_password": redfishtest.Password}}, http.StatusCreated)
	return p
}

// certificate makes the certificate of the conductor, which the proxies share.
func (p *proxied) certificate(t *testing.T) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"rack-1.example"},
		IPAddresses: []net.IP{net.ParseIP("192.0.2.5"), net.ParseIP("192.0.2.11")}}
	raw, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	both := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	p.roots.AppendCertsFromPEM(both)
	for _, name := range []string{"conductor.pem", "cloud.example.pem"} {
		if err := os.WriteFile(filepath.Join(p.dir, name), both, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// start runs a proxy until the test ends.
func (p *proxied) start(t *testing.T, program, file string) {
	t.Helper()
	file = strings.NewReplacer("/etc/haproxy", p.dir, "/etc/nginx", p.dir).Replace(file)
	path, args := filepath.Join(p.dir, "proxy.conf"), []string{"-db", "-f"}
	if program == "nginx" {
		file = "load_module modules/ngx_stream_module.so;\ndaemon off;\n" +
			"pid " + p.dir + "/pid;\nerror_log stderr;\nuser root;\n" +
			strings.Replace(file, "http {", "http {\n    access_log off;\n    client_body_temp_path "+p.dir+"/body;", 1)
		args = []string{"-p", "/usr/lib/nginx", "-c"}
	}
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, append(args, path)...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &said, &said, 5*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s says:\n%s", program, &said)
		}
	})
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", "192.0.2.5:443")
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not listen: %v\n%s", program, err, &said)
		}
	}
}

// client is one at an address.
func (p *proxied) client(from string) *http.Client {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
	return &http.Client{Transport: &http.Transport{DialContext: d.DialContext,
		TLSClientConfig: &tls.Config{RootCAs: p.roots}, DisableKeepAlives: true}}
}

// ask makes a request of a client, with a password.
func (p *proxied) ask(c *http.Client, method, url, password string, body io.Reader, header ...string) (
	*http.Response, error) {
	r, err := http.NewRequest(method, url, body)
	if err != nil {
		return nil, err
	}
	r.SetBasicAuth("alice", password)
	r.Header.Set("X-OpenStack-Ironic-API-Version", "1.80")
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return c.Do(r)
}

// status is the status of an answer, 0 for none.
func (p *proxied) status(c *http.Client, method, url, password string, body io.Reader) int {
	res, err := p.ask(c, method, url, password, body)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}
