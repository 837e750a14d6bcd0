package agent

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const (
	nodeUUID  = "7c56f0bb-608b-4e81-a390-78a61614de7c"
	nodeMAC   = "52:54:00:77:00:06"
	nodeToken = "mwdnu-9BcVDOtDKUi7mn0XU_4fVQOcrEscSxq8iLCfk"
)

// conductor is a strict one: any deviation from the recorded protocol fails the test.
type conductor struct {
	*httptest.Server
	t       *testing.T
	max     string // newest microversion it speaks
	ferrite bool   // takes progress

	mu         sync.Mutex
	issued     bool
	lookups    []string
	progress   []agentapi.Progress
	logged     []string // lines, as they arrived
	refuseLogs int      // how many batches are not taken
	inspection *agentapi.Inspection
	beats      chan agentapi.Heartbeat
	closed     chan struct{} // one for each connection that ended, up to a few

	request     *agentapi.BMCUserRequest // to agents that send inspection data
	users       []agentapi.BMCUser       // as they were handed in
	refuseUsers int                      // how many of them are not taken yet
}

// patience is how long a test waits for an expected event: far less than an agent waits before its next regular
// heartbeat, far more than a busy machine needs.
const patience = time.Minute

func newConductor(t *testing.T, ferrite bool) *conductor {
	c := &conductor{t: t, max: "1.95", ferrite: ferrite, beats: make(chan agentapi.Heartbeat, 100),
		closed: make(chan struct{}, 10)}
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(c.serve))
	c.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	c.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			select {
			case c.closed <- struct{}{}:
			default:
			}
		}
	}
	c.StartTLS()
	t.Cleanup(c.Close)
	return c
}

func (c *conductor) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	version := r.Header.Get(agentapi.VersionHeader)
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/":
		c.answer(w, http.StatusOK,
			nodeapi.Discovery{DefaultVersion: nodeapi.VersionInfo{ID: "v1", MinVersion: "1.1", Version: c.max}})
	case r.Method == http.MethodGet && r.URL.Path == agentapi.LookupPath:
		c.expect("version of lookup", version, "1.62")
		c.lookups = append(c.lookups, r.URL.RawQuery)
		c.answer(w, http.StatusOK, c.lookup())
	case r.Method == http.MethodPost && r.URL.Path == agentapi.HeartbeatPath+nodeUUID:
		c.expect("version of heartbeat", version, min(c.max, "1.68"))
		c.beats <- read[agentapi.Heartbeat](c, r)
		w.WriteHeader(http.StatusAccepted)
	case r.Method == http.MethodPost && r.URL.Path == agentapi.ContinueInspectionPath:
		c.expect("version of inspection", version, "")
		i := read[agentapi.Inspection](c, r)
		c.inspection = &i
		c.answer(w, http.StatusOK, agentapi.InspectionReply{UUID: nodeUUID, BMCUser: c.request})
	case c.request != nil && r.Method == http.MethodPost &&
		r.URL.Path == agentapi.AgentsPath+nodeUUID+agentapi.BMCUserSuffix:
		c.expect("query", r.URL.RawQuery, "")
		if c.refuseUsers > 0 {
			c.refuseUsers--
			w.WriteHeader(http.StatusConflict)
			return
		}
		c.users = append(c.users, read[agentapi.BMCUser](c, r))
		w.WriteHeader(http.StatusAccepted)
	case c.ferrite && r.Method == http.MethodPost && r.URL.Path == agentapi.AgentsPath+nodeUUID+agentapi.ProgressSuffix:
		c.progress = append(c.progress, read[agentapi.Progress](c, r))
		w.WriteHeader(http.StatusAccepted)
	case c.ferrite && r.Method == http.MethodPost && r.URL.Path == agentapi.AgentsPath+nodeUUID+agentapi.LogSuffix:
		c.takeLog(w, r)
	default:
		c.t.Errorf("unexpected %s %s", r.Method, r.URL)
		w.WriteHeader(http.StatusNotFound)
	}
}

// takeLog takes log lines, after the refusals that a test asked for.
func (c *conductor) takeLog(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			c.t.Error(err)
			return
		}
		r.Body = z
	}
	l := read[agentapi.LogLines](c, r)
	c.expect("token of the log", l.AgentToken, nodeToken)
	if c.refuseLogs > 0 {
		c.refuseLogs--
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	// Lines come again after a lost answer, as when the agent hands over.
	again := min(len(c.logged)-int(l.First), len(l.Lines))
	if again < 0 || !slices.Equal(c.logged[l.First:int(l.First)+again], l.Lines[:again]) {
		c.t.Errorf("log lines %q from %d on, after %q", l.Lines, l.First, c.logged)
		return
	}
	c.logged = append(c.logged, l.Lines[again:]...)
	w.WriteHeader(http.StatusAccepted)
}

// lookup gives the token out once, as every conductor does.
func (c *conductor) lookup() agentapi.LookupReply {
	token := nodeToken
	if c.issued {
		token = agentapi.MaskedToken
	}
	c.issued = true
	return agentapi.LookupReply{
		Node: agentapi.LookupNode{UUID: nodeUUID, Properties: map[string]any{}, InstanceInfo: map[string]any{}},
		Config: agentapi.LookupConfig{
			HeartbeatTimeout: 300, AgentToken: token, AgentTokenRequired: true, FerriteProgress: c.ferrite,
			FerriteLog: c.ferrite, FerriteName: "web-1",
			PermittedImageFormats: []string{"raw", "qcow2"},
		},
	}
}

// read decodes a body, refusing keys Ironic would refuse.
func read[T any](c *conductor, r *http.Request) T {
	var v T
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		c.t.Errorf("%s: %v", r.URL.Path, err)
	}
	if checked, ok := any(v).(interface{ Validate() error }); ok {
		if err := checked.Validate(); err != nil {
			c.t.Errorf("%s: %v", r.URL.Path, err)
		}
	}
	return v
}

func (c *conductor) answer(w http.ResponseWriter, status int, v any) {
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		c.t.Error(err)
	}
}

func (c *conductor) expect(what, got, want string) {
	if got != want {
		c.t.Errorf("%s: %q, expected %q", what, got, want)
	}
}

// beat waits for a heartbeat.
func (c *conductor) beat() agentapi.Heartbeat {
	c.t.Helper()
	select {
	case b := <-c.beats:
		return b
	case <-time.After(patience):
		c.t.Fatalf("no heartbeat in %v", patience)
		return agentapi.Heartbeat{}
	}
}

// hungUp waits until one side has ended a connection.
func (c *conductor) hungUp() {
	c.t.Helper()
	select {
	case <-c.closed:
	case <-time.After(patience):
		c.t.Fatalf("nobody came and went in %v", patience)
	}
}

// commander talks to an agent as a conductor does: by the certificate of its
// heartbeat alone.
type commander struct {
	t      *testing.T
	client *http.Client
	url    string
}

func (c *conductor) commander(b agentapi.Heartbeat) *commander {
	c.t.Helper()
	block, _ := pem.Decode([]byte(b.AgentVerifyCA))
	if block == nil {
		c.t.Fatal("heartbeat without a certificate")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		c.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	c.t.Cleanup(transport.CloseIdleConnections)
	return &commander{c.t, &http.Client{Transport: transport, Timeout: 30 * time.Second}, b.CallbackURL}
}

// send gives a command and returns its result.
func (c *commander) send(name string, params any, wait bool) agentapi.Result {
	c.t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		c.t.Fatal(err)
	}
	body, err := json.Marshal(agentapi.Command{Name: name, Params: raw})
	if err != nil {
		c.t.Fatal(err)
	}
	query := "?wait=false&agent_token=" + nodeToken
	if wait {
		query = "?wait=true&agent_token=" + nodeToken
	}
	resp, err := c.client.Post(c.url+"/v1/commands/"+query, "application/json", bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close() // read to its end
	text, err := io.ReadAll(resp.Body)
	var r agentapi.Result
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(text, &r) != nil {
		c.t.Fatalf("%s: %d %s %v", name, resp.StatusCode, text, err)
	}
	return r
}

// list is GET /v1/commands/, with or without token.
func (c *commander) list(query string) (int, []agentapi.Result) {
	c.t.Helper()
	resp, err := c.client.Get(c.url + "/v1/commands/" + query)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close() // read to its end
	var r agentapi.Results
	if err := json.NewDecoder(resp.Body).Decode(&r); err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, r.Commands
}

// recordedParams are the parameters of a command as Ironic sent them.
func recordedParams(t *testing.T, name string) map[string]any {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "proto", "agentapi", "testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var c struct{ Params map[string]any }
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	return c.Params
}

// equalJSON compares echoed with sent JSON.
func equalJSON(t *testing.T, what string, got json.RawMessage, want any) {
	t.Helper()
	var g any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if diff := cmp.Diff(want, g); diff != "" {
		t.Errorf("%s:\n%s", what, strings.TrimSpace(diff))
	}
}
