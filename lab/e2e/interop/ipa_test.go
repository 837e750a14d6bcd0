package interop

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// ipaAgent is one boot of an agent that speaks as ironic-python-agent 2023.1 was recorded to (testdata of
// proto/agentapi). It accepts only requests of the protocol: any other request of a conductor fails the test.
type ipaAgent struct {
	t       *testing.T
	machine *ipaMachine
	api     string
	manner  manner
	server  *httptest.Server
	pem     string

	life  context.Context
	stop  context.CancelFunc
	ended sync.WaitGroup
	wake  chan struct{} // a heartbeat is due
	taken chan struct{} // a heartbeat was taken

	mu       sync.Mutex
	node     string // UUID, once looked up
	token    string
	commands []agentapi.Result
	listed   chan struct{} // the commands have been listed; made anew for each command
	version  string        // of the hardware manager

	partitions bool // the disk was divided for a partition image
	grub       bool // a lookup has allowed grub-install
}

// The microversions that ironic-python-agent 2023.1 asks for. Its inspection data come without a version.
const (
	ipaLookup    = "1.62"
	ipaHeartbeat = "1.68"
)

// recorded is a file of the exchanges of Ironic 21.4 with ironic-python-agent.
func recorded(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "proto", "agentapi", "testdata", name+".json"))
	if err != nil {
		t.Error(err)
		return
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// startIPA boots an agent, which lives until end.
func startIPA(t *testing.T, m *ipaMachine, how manner) *ipaAgent {
	a := &ipaAgent{t: t, machine: m, api: m.conductor.URL, manner: how, version: "1.1", wake: make(chan struct{}, 1),
		taken: make(chan struct{}, 1)}
	a.life, a.stop = context.WithCancel(context.Background())
	a.server = httptest.NewUnstartedServer(http.HandlerFunc(a.serve))
	a.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // of clients that hang up
	cert, err := servetest.SelfSigned()
	if err != nil {
		t.Error(err)
	}
	a.server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	a.server.StartTLS()
	a.pem = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]}))
	a.ended.Go(a.run)
	return a
}

// end takes the power away.
func (a *ipaAgent) end() {
	a.stop()
	a.server.CloseClientConnections()
	a.server.Close()
	a.ended.Wait()
}

// run is the agent's life: inspection when it is asked for, lookup, heartbeats.
func (a *ipaAgent) run() {
	if !a.booted() || !a.discovers() {
		return
	}
	if a.manner.inspects {
		a.inspect()
		<-a.life.Done() // all that this boot was for
		return
	}
	if !a.lookup("") {
		return
	}
	for {
		a.beat()
		select {
		case <-a.life.Done():
			return
		case <-a.wake:
		}
	}
}

// booted is the time a machine takes to boot, in which its conductor gets
// round to waiting for it.
func (a *ipaAgent) booted() bool {
	for a.life.Err() == nil {
		if strings.Contains(a.machine.state(), "wait") {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// ask makes one request as the agent does, without credentials.
func (a *ipaAgent) ask(method, path, version string, body []byte) (status int, header http.Header, answer []byte) {
	r, err := http.NewRequestWithContext(a.life, method, a.api+path, bytes.NewReader(body))
	if err != nil {
		a.t.Error(err)
		return 0, nil, nil
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("X-OpenStack-Request-ID", "req-5f40d735-bac2-4fa4-8b16-4ec9ac98b6a5")
	if version != "" {
		r.Header.Set("X-OpenStack-Ironic-API-Version", version)
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		if a.life.Err() == nil {
			a.t.Errorf("%s %s: %v", method, path, err)
		}
		return 0, nil, nil
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	if err != nil && a.life.Err() == nil {
		a.t.Errorf("%s %s: %v", method, path, err)
	}
	if got := res.Header.Get("X-Openstack-Ironic-Api-Version"); version != "" && got != version {
		a.t.Errorf("%s %s at %s is answered at %q", method, path, version, got)
	}
	return res.StatusCode, res.Header, answer
}

// discovers reads the newest version, without asking for one: below 1.68 the
// agent would make no certificate, and the token travel in clear.
func (a *ipaAgent) discovers() bool {
	status, _, raw := a.ask(http.MethodGet, "/", "", nil)
	var root nodeapi.Discovery
	if a.life.Err() != nil {
		return false
	}
	if err := json.Unmarshal(raw, &root); status != http.StatusOK || err != nil {
		a.t.Errorf("GET / answers %d, %v: %s", status, err, raw)
		return false
	}
	if minor, err := nodeapi.ParseVersion(root.DefaultVersion.Version); err != nil || minor < agentapi.HeartbeatMinor {
		a.t.Errorf("GET / tells version %q (%v)", root.DefaultVersion.Version, err)
	}
	return true
}

// inspect sends the recorded data, with neither a version nor a type. The reply names a node, and the agent looks
// itself up by its UUID then. By that time the conductor may no longer expect the agent, and answers 404.
func (a *ipaAgent) inspect() {
	var data map[string]any
	recorded(a.t, "inspection", &data)
	inventory, _ := data["inventory"].(map[string]any)
	inventory["boot"] = map[string]any{"current_boot_mode": "uefi"} // the recorded machine had no firmware to speak of
	raw, err := json.Marshal(data)
	if err != nil {
		a.t.Error(err)
	}
	a.machine.note("sends inspection data")
	status, _, answer := a.ask(http.MethodPost, agentapi.ContinueInspectionPath, "", raw)
	var reply agentapi.InspectionReply
	if err := json.Unmarshal(answer, &reply); status/100 != 2 || err != nil || reply.UUID == "" {
		a.t.Errorf("inspection data is answered %d, %v: %s", status, err, answer)
	}
	status, _, answer = a.ask(http.MethodGet, agentapi.LookupPath+"?addresses="+ipaMAC+"&node_uuid="+reply.UUID,
		ipaLookup, nil)
	if a.life.Err() == nil && status != http.StatusOK && status != http.StatusNotFound {
		a.t.Errorf("a lookup after inspection is answered %d: %s", status, answer)
	}
}

// lookup looks the agent's node up, for the first time in this boot or again. A repeated lookup must not get the token.
func (a *ipaAgent) lookup(uuid string) bool {
	query := url.Values{"addresses": {ipaMAC}}
	if uuid != "" {
		query.Set("node_uuid", uuid)
	}
	status, header, raw := a.ask(http.MethodGet, agentapi.LookupPath+"?"+query.Encode(), ipaLookup, nil)
	if a.life.Err() != nil {
		return false
	}
	var reply agentapi.LookupReply
	if err := json.Unmarshal(raw, &reply); status != http.StatusOK || err != nil || reply.Node.UUID == "" ||
		reply.Config.HeartbeatTimeout <= 0 {
		a.t.Errorf("lookup is answered %d, %v: %s", status, err, raw)
		return false
	}
	if !strings.HasPrefix(header.Get("Content-Type"), "application/json") {
		a.t.Errorf("lookup is answered as %q", header.Get("Content-Type"))
	}
	if !reply.Config.AgentTokenRequired {
		a.t.Error("lookup does not ask for a token")
	}
	for _, key := range []string{"configdrive", "hashed_rescue_password", "rescue_password"} {
		if v, eventLog := reply.Node.InstanceInfo[key]; eventLog && v != agentapi.MaskedToken {
			a.t.Errorf("lookup tells instance_info.%s", key)
		}
	}
	a.mu.Lock()
	a.grub = reply.Config.EnableBIOSBootloaderInstall
	a.mu.Unlock()
	return a.adopt(reply, raw)
}

// adopt takes the token: 32 characters or more, sent once and never again.
func (a *ipaAgent) adopt(reply agentapi.LookupReply, raw []byte) bool {
	token := reply.Config.AgentToken
	if node, own := a.identity(); own != "" {
		if token != agentapi.MaskedToken || bytes.Contains(raw, []byte(own)) || reply.Node.UUID != node {
			a.t.Errorf("a second lookup tells of node %s and token %q: %s", reply.Node.UUID, token, raw)
		}
		return true
	}
	if len(token) < 32 || bytes.Count(raw, []byte(token)) != 1 {
		a.t.Errorf("lookup gives token %q: %s", token, raw)
		return false
	}
	a.mu.Lock()
	a.node, a.token = reply.Node.UUID, token
	a.mu.Unlock()
	a.machine.note("looks itself up")
	if before := a.machine.issued(token); before != "" {
		if status, answer := a.call(before); status != http.StatusBadRequest && a.life.Err() == nil {
			a.t.Errorf("a heartbeat with the token of the boot before is answered %d: %s", status, answer)
		}
	}
	return true
}

// identity is the node and its token, once looked up.
func (a *ipaAgent) identity() (node, token string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.node, a.token
}

// call sends a heartbeat as recorded.
func (a *ipaAgent) call(token string) (status int, answer []byte) {
	raw, err := json.Marshal(map[string]string{
		"callback_url": a.server.URL, "agent_token": token, "agent_version": "9.4.4", "agent_verify_ca": a.pem,
	})
	if err != nil {
		a.t.Error(err)
	}
	node, _ := a.identity()
	status, _, answer = a.ask(http.MethodPost, agentapi.HeartbeatPath+node, ipaHeartbeat, raw)
	return status, answer
}

// beat calls, and again until it is taken: with 202 and no word.
func (a *ipaAgent) beat() {
	_, token := a.identity()
	for a.life.Err() == nil {
		switch status, answer := a.call(token); {
		case a.life.Err() != nil:
			return
		case status == http.StatusConflict: // locked
			time.Sleep(5 * time.Millisecond)
			continue
		case status != http.StatusAccepted || len(answer) > 0:
			a.t.Errorf("a heartbeat is answered %d: %s", status, answer)
		}
		select {
		case a.taken <- struct{}{}:
		default:
		}
		return
	}
}

// force makes a heartbeat due.
func (a *ipaAgent) force() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}
