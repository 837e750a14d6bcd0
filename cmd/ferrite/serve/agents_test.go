package serve

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
)

// TestForeignAgents: an agent that announces no certificate, speaks http, has a path
// or runs on this host is commanded where the operator said so, and nowhere else.
func TestForeignAgents(t *testing.T) {
	t.Parallel()
	const here, path = "--agent-allow=127.0.0.0/8", "/agents/web-1"
	ca := filepath.Join(t.TempDir(), "ca.pem")
	_, other := newAgent(t, true, nil)
	for name, tt := range map[string]struct {
		tls   bool
		path  string
		flags []string
		trust any    // driver_info/agent_verify_ca
		wrong string // "" for cleaned
	}{
		"by nobody":               {true, "", []string{here}, nil, "is not trusted"},
		"by a flag":               {true, "", []string{here, "--agent-ca=" + ca}, nil, ""},
		"by a flag, not its node": {true, "", []string{here, "--agent-ca=" + ca}, other, "is not trusted"},
		"unchecked":               {true, "", []string{here}, false, ""},
		"a file":                  {true, "", []string{here, "--ca-folder=" + filepath.Dir(ca)}, ca, ""},
		"http":                    {false, "", []string{here}, nil, "expected https"},
		"http, let":               {false, "", []string{here, "--agent-require-tls=false"}, nil, ""},
		"http with a path, let": {
			false, path, []string{here, "--agent-require-tls=false", "--agent-callback-path"}, nil, "",
		},
		"on the conductor's own host": {false, "", []string{"--agent-require-tls=false"}, nil, "is a loopback address"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &servetest.Ramdisk{API: &atomic.Pointer[string]{}, Path: tt.path}
			below := http.StripPrefix(tt.path, http.HandlerFunc(r.Command))
			var cert string
			if r.Server, cert = newAgent(t, tt.tls, below); cert != "" {
				if err := os.WriteFile(ca, []byte(cert), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c := startFor(t, &conductor{Far: true}, filepath.Join(t.TempDir(), "data"), tt.flags...)
			defer c.End(t)
			r.API.Store(&c.URL)
			defer r.Run(t)()
			c.Call(t, "POST", "/v1/nodes",
				map[string]any{"uuid": servetest.NodeUUID, "driver": "fake-hardware", "deploy_interface": "direct",
					"driver_info": map[string]any{"agent_verify_ca": tt.trust}}, 201)
			c.Call(t, "PUT", "/v1/nodes/"+servetest.NodeUUID+"/states/provision", map[string]any{"target": "manage"}, 202)
			c.Until(t, servetest.NodeUUID, "manageable")
			c.Call(t, "PUT", "/v1/nodes/"+servetest.NodeUUID+"/states/provision",
				map[string]any{"target": "clean", "clean_steps": []any{servetest.Beat}}, 202)
			end := map[bool]string{true: "manageable", false: "clean failed"}[tt.wrong == ""]
			if n := c.Until(t, servetest.NodeUUID, end); !strings.Contains(fmt.Sprint(n["last_error"]), tt.wrong) {
				t.Errorf("last_error %v, want %q", n["last_error"], tt.wrong)
			}
			if (r.Commands() > 0) != (tt.wrong == "") {
				t.Errorf("%d commands came", r.Commands())
			}
			if warned := strings.Contains(c.Log.String(),
				"--agent-require-tls is false"); warned != strings.Contains(fmt.Sprint(tt.flags), "tls=false") {
				t.Errorf("the start warns of http: %v", warned)
			}
		})
	}
}

// newAgent starts an agent and returns its certificate, "" for none.
func newAgent(t *testing.T, secure bool, h http.Handler) (srv *httptest.Server, cert string) {
	t.Helper()
	srv = httptest.NewUnstartedServer(h)
	t.Cleanup(srv.Close)
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	if !secure {
		srv.Start()
		return srv, ""
	}
	own, err := servetest.SelfSigned()
	if err != nil {
		t.Fatal(err)
	}
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12}
	srv.StartTLS()
	return srv, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]}))
}
