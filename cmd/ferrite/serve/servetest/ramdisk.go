package servetest

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// The nodes of tests: one, and its child.
const (
	NodeUUID  = "11111111-2222-4333-8444-555555555555"
	ChildUUID = "22222222-2222-4333-8444-555555555555"
)

// Beat is a step that waits for the next heartbeat.
var Beat = map[string]any{"interface": "deploy", "step": "wait"}

// Ramdisk is a machine with a ramdisk that is always up when its node waits for it. It looks itself up and calls,
// through any conductor that lives, and carries out commands at once.
type Ramdisk struct {
	API      *atomic.Pointer[string]
	Server   *httptest.Server
	pem      string // "" to announce no certificate
	Path     string // of the callback URL
	token    string
	mu       sync.Mutex
	commands []agentapi.Result
}

// BootRamdisk runs the ramdisk of NodeUUID beside a conductor until end.
func BootRamdisk(t *testing.T, api *atomic.Pointer[string]) (end func()) {
	r := &Ramdisk{API: api}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(r.Command))
	r.pem = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Server.Certificate().Raw}))
	return r.Run(t)
}

// Run looks for work until end.
func (r *Ramdisk) Run(t *testing.T) (end func()) {
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if r.wanted(ctx) && !r.beat(ctx) {
				r.lookup(ctx)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return func() {
		stop()
		<-done
		r.Server.Close()
	}
}

// call asks the conductor; a conductor that is dead answers nothing.
func (r *Ramdisk) call(ctx context.Context, method, path string, body, answer any) bool {
	raw, err := json.Marshal(body)
	if err != nil {
		return false
	}
	q, err := http.NewRequestWithContext(ctx, method, *r.API.Load()+path, bytes.NewReader(raw))
	if err != nil {
		return false
	}
	q.Header.Set("X-OpenStack-Ironic-API-Version", "1.80")
	q.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.StatusCode/100 == 2 && (answer == nil || json.NewDecoder(res.Body).Decode(answer) == nil)
}

// wanted replaces the machine's power: fake hardware has no machine to switch on, so the node's state stands in for it.
func (r *Ramdisk) wanted(ctx context.Context) bool {
	var n struct {
		State string `json:"provision_state"`
	}
	return r.call(ctx, http.MethodGet, "/v1/nodes/"+NodeUUID, nil, &n) && n.State == "clean wait"
}

func (r *Ramdisk) lookup(ctx context.Context) {
	var reply agentapi.LookupReply
	if r.call(ctx, http.MethodGet, agentapi.LookupPath+"?node_uuid="+NodeUUID, nil, &reply) {
		r.token = reply.Config.AgentToken
	}
}

func (r *Ramdisk) beat(ctx context.Context) bool {
	return r.token != "" && r.call(ctx, http.MethodPost, agentapi.HeartbeatPath+NodeUUID, agentapi.Heartbeat{
		CallbackURL: r.Server.URL + r.Path, AgentToken: r.token, AgentVersion: "10.0.0", AgentVerifyCA: r.pem,
	}, nil)
}

// Command answers /v1/commands/.
func (r *Ramdisk) Command(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var answer any = agentapi.Results{Commands: r.commands}
	if q.Method == http.MethodPost {
		var c agentapi.Command
		_ = json.NewDecoder(q.Body).Decode(&c)
		_, name, _ := c.Split()
		res := agentapi.Result{ID: fmt.Sprint(len(r.commands)), Name: name, Status: agentapi.Succeeded,
			Result: json.RawMessage(`{"clean_steps":{},"hardware_manager_version":{}}`)}
		r.commands = append(r.commands, res)
		answer = res
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// Commands is how many commands came.
func (r *Ramdisk) Commands() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.commands)
}
