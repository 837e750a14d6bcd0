package agenttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// mostCommand bounds a command in bytes.
const mostCommand = 1 << 20

// steps are the steps that an agent offers, by kind: the default step of automated cleaning, and the step that writes
// an image.
var steps = map[string]string{"clean": "erase_devices_metadata", "deploy": "write_image"}

// stepsOf lists the steps of a kind. A priority of 0 leaves it to the conductor when a step is taken.
func stepsOf(kind string) json.RawMessage {
	priority := map[string]int{"clean": 99}[kind]
	return json.RawMessage(fmt.Sprintf(`{%q: {"GenericHardwareManager": [{"step": %q, "priority": %d,
		"interface": "deploy", "reboot_requested": false, "abortable": true}]},
		"hardware_manager_version": {"generic_hardware_manager": "1.1"}}`, kind+"_steps", steps[kind], priority))
}

// command is a command from a conductor.
type command struct {
	Name   string
	Params struct{ Step json.RawMessage }
}

// ServeHTTP answers as the agent: it lists its commands, or takes another one. A machine that is off does not answer.
func (m *Machine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var c command
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostCommand))
		if err == nil {
			err = json.Unmarshal(body, &c)
		}
		if err != nil {
			http.Error(w, "expected a command: "+err.Error(), http.StatusBadRequest)
			return
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.agent
	switch {
	case a == nil:
		panic(http.ErrAbortHandler)
	case a.token == "" || r.URL.Query().Get("agent_token") != a.token:
		answer(w, http.StatusUnauthorized, agentapi.Fault{Code: "Client", String: "Token invalid."})
	case r.Method == http.MethodGet:
		answer(w, http.StatusOK, agentapi.Results{Commands: a.commands})
	default:
		a.take(w, c)
	}
}

// take begins a command, unless another is under way. The machine's mutex is held.
func (a *agent) take(w http.ResponseWriter, c command) {
	var step struct{ Step string }
	_ = json.Unmarshal(c.Params.Step, &step) // other commands have none
	n := len(a.commands)
	busy := n > 0 && a.commands[n-1].Status == agentapi.Running
	a.ledger = append(a.ledger, Command{time.Now(), a.boot, c.Name, step.Step, busy})
	if busy {
		answer(w, http.StatusConflict, agentapi.Fault{Code: "Client", String: "Agent is busy: executing command " +
			a.commands[n-1].Name})
		return
	}
	kind, short, _ := strings.Cut(c.Name, ".")
	result := agentapi.Result{ID: fmt.Sprintf("%s-%d-%d", a.MAC, a.boot, n), Name: short, Status: agentapi.Succeeded,
		Result: json.RawMessage(`null`)}
	switch c.Name {
	case "clean.get_clean_steps", "deploy.get_deploy_steps":
		result.Result = stepsOf(kind)
	case "clean.execute_clean_step", "deploy.execute_deploy_step":
		result.Status = agentapi.Running
		time.AfterFunc(a.Step, func() { a.done(n, kind, c.Params.Step) })
	case "standby.power_off":
		if a.Off != nil {
			go a.Off() // the machine's mutex is held
		}
	}
	a.commands = append(a.commands, result)
	answer(w, http.StatusOK, result)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // whoever asked may be gone
}
