// Package agenttest has the agents of simulated machines: they look themselves up, call, and carry out the commands of
// cleaning and deploys, over HTTP. A ledger records all commands to an agent.
//
// It knows no conductor: it calls the URL that it is given.
package agenttest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Version is the version that agents report.
const Version = "11.0.0"

// Config is one machine.
type Config struct {
	// Call makes one request as the machine does. A status of 0 is no answer.
	Call func(method, path string, body, answer any) (status int, err error)
	MAC  string
	URL  string // where its agent is called
	// Boot is the time until the first call, give or take a half. Step is the time for a step of cleaning. Beat is the
	// pause between heartbeats of an idle agent.
	Boot, Step, Beat time.Duration
	// Off turns the machine off, at the agent's command; it may be nil.
	Off func()
}

// Command is one command that an agent was given.
type Command struct {
	At      time.Time
	Boot    int    // the machine's
	Name    string // such as clean.execute_clean_step
	Step    string // of that
	Refused bool   // the agent was at another one
}

// Machine is a machine with an agent that runs while the machine is on.
type Machine struct {
	Config

	mu     sync.Mutex
	boots  int
	agent  *agent // nil while it is off
	ledger []Command
	calls  []string // the last of them
}

// agent is one boot; the machine's mutex guards it.
type agent struct {
	*Machine
	boot     int
	gone     chan struct{} // closed when the power is off
	node     string
	token    string
	commands []agentapi.Result
}

// New makes a machine that is off.
func New(c Config) *Machine { return &Machine{Config: c} }

// Power boots the machine anew, or takes its power away.
func (m *Machine) Power(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.agent != nil {
		close(m.agent.gone)
		m.agent = nil
	}
	if on {
		m.boots++
		m.agent = &agent{Machine: m, boot: m.boots, gone: make(chan struct{})}
		go m.agent.live()
	}
}

// Ledger lists the commands of all boots.
func (m *Machine) Ledger() []Command {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Command(nil), m.ledger...)
}

// mostCalls is how many calls a machine remembers.
const mostCalls = 50

// call calls the conductor, and records the outcome.
func (a *agent) call(method, path string, body, answer any) error {
	_, err := a.Call(method, path, body, answer)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls[max(0, len(a.calls)-mostCalls+1):],
		fmt.Sprintf("%s boot %d: %s %s: %v", time.Now().Format(time.StampMilli), a.boot, method, path, err))
	return err
}

// Calls are the last calls of the machine's agents, with their errors.
func (m *Machine) Calls() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.calls)
}

// live is the life of an agent: it looks itself up, and calls.
func (a *agent) live() {
	if !a.pause(a.Boot/2 + rand.N(a.Boot+1)) { //nolint:gosec // a wait is no secret
		return
	}
	for {
		var reply agentapi.LookupReply
		if err := a.call(http.MethodGet, agentapi.LookupPath+"?addresses="+a.MAC, nil, &reply); err == nil {
			a.mu.Lock()
			a.node, a.token = reply.Node.UUID, reply.Config.AgentToken
			a.mu.Unlock()
			break
		}
		if !a.pause(time.Second) {
			return
		}
	}
	for a.beat() && a.pause(a.Beat) {
	}
}

// beat calls until it is heard. It reports whether the machine is still on.
func (a *agent) beat() bool {
	a.mu.Lock()
	path := agentapi.HeartbeatPath + a.node
	said := map[string]string{"callback_url": a.URL, "agent_token": a.token, "agent_version": Version}
	a.mu.Unlock()
	for {
		if err := a.call(http.MethodPost, path, said, nil); err == nil {
			return true
		}
		if !a.pause(time.Second) {
			return false
		}
	}
}

// pause waits. It reports whether the machine is still on.
func (a *agent) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-a.gone:
		return false
	}
}

// done ends a step of a kind, such as clean, and calls.
func (a *agent) done(nth int, kind string, step json.RawMessage) {
	a.mu.Lock()
	c := &a.commands[nth]
	c.Status = agentapi.Succeeded
	c.Result = json.RawMessage(`{"` + kind + `_result": null, "` + kind + `_step": ` + string(step) + `}`)
	a.mu.Unlock()
	a.beat()
}
