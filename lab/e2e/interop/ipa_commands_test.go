package interop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// ipaCommand is a command of the agent's. Its Python function has only the named parameters, and raises a TypeError for
// others.
type ipaCommand struct {
	async bool
	needs []string
	may   []string
	last  bool // the agent takes no other after it
	run   func(a *ipaAgent, params map[string]json.RawMessage) (result any, err error)
}

// ipaCommands are those that this test has an occasion for.
func ipaCommands() map[string]ipaCommand {
	steps, step := []string{"node", "ports"}, []string{"step", "node", "ports"}
	boot := []string{"efi_system_part_uuid", "prep_boot_part_uuid", "target_boot_mode", "ignore_bootloader_failure"}
	return map[string]ipaCommand{
		"clean.get_clean_steps":      {needs: steps, run: (*ipaAgent).list},
		"deploy.get_deploy_steps":    {needs: steps, run: (*ipaAgent).list},
		"clean.execute_clean_step":   {async: true, needs: step, may: []string{"clean_version"}, run: (*ipaAgent).execute},
		"deploy.execute_deploy_step": {async: true, needs: step, may: []string{"deploy_version"}, run: (*ipaAgent).execute},
		"image.install_bootloader": {async: true, needs: []string{"root_uuid"}, may: boot,
			run: (*ipaAgent).installBootloader},
		"standby.get_partition_uuids": {run: (*ipaAgent).partitionUUIDs},
		"standby.sync":                {run: (*ipaAgent).nothing},
		"standby.power_off":           {async: true, last: true, run: (*ipaAgent).powerOff},
		"log.collect_system_logs":     {run: (*ipaAgent).systemLogs},
		"rescue.finalize_rescue": {last: true, needs: []string{"rescue_password"}, may: []string{"hashed"},
			run: (*ipaAgent).finalizeRescue},
	}
}

// serve is the agent's API: /v1/commands/, with the slash, is all a conductor
// needs of it.
func (a *ipaAgent) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/commands/" || r.Method != http.MethodGet && r.Method != http.MethodPost {
		a.refuse(w, http.StatusNotFound, "%s %s", r.Method, r.URL.Path)
		return
	}
	query := r.URL.Query()
	for name, values := range query {
		if name != "agent_token" && (name != "wait" || r.Method != http.MethodPost) || len(values) != 1 {
			a.refuse(w, http.StatusBadRequest, "%s with %s=%q", r.Method, name, values)
			return
		}
	}
	_, token := a.identity()
	if token == "" || query.Get("agent_token") != token {
		a.refuse(w, http.StatusUnauthorized, "401 Unauthorized: Token invalid.")
		return
	}
	if r.Method == http.MethodGet {
		a.answer(w, http.StatusOK, a.results())
		return
	}
	a.take(w, r, query.Get("wait"))
}

// refuse answers a request that no conductor should make.
func (a *ipaAgent) refuse(w http.ResponseWriter, status int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	a.t.Errorf("the agent refuses with %d: %s", status, text)
	a.answer(w, status, agentapi.Fault{Code: "Client", String: text})
}

func (a *ipaAgent) answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// results lists the commands, and notifies the function that waits for the list.
func (a *ipaAgent) results() agentapi.Results {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.listed != nil {
		close(a.listed)
		a.listed = nil
	}
	return agentapi.Results{Commands: slices.Clone(a.commands)}
}

// take begins a command.
func (a *ipaAgent) take(w http.ResponseWriter, r *http.Request, wait string) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the conductor hung up
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		a.refuse(w, http.StatusBadRequest, "a command as %q", got)
		return
	}
	name, params, err := ipaRequest(body)
	if err != nil {
		a.refuse(w, http.StatusBadRequest, "%v: %s", err, body)
		return
	}
	c := ipaCommands()[name]
	if want := fmt.Sprint(!c.async); wait != want {
		a.refuse(w, http.StatusBadRequest, "%s with wait=%q, expected %s", name, wait, want)
		return
	}
	_, short, _ := strings.Cut(name, ".")
	id, busy := a.begin(short)
	if busy != "" {
		a.answer(w, http.StatusConflict, agentapi.Fault{Code: "Client", String: "Agent is busy: executing command " + busy})
		return
	}
	if c.async {
		a.answer(w, http.StatusOK, agentapi.Result{ID: id, Name: short, Status: agentapi.Running})
		a.ended.Go(func() {
			if c.last || a.watched() {
				a.finish(id, c, params)
				a.force()
			}
		})
		return
	}
	a.answer(w, http.StatusOK, a.finish(id, c, params))
	if c.last {
		a.stop()            // no more heartbeats
		go a.server.Close() // once this answer is out
	}
}

// ipaRequest reads a command strictly.
func ipaRequest(body []byte) (name string, params map[string]json.RawMessage, err error) {
	var top struct {
		Name   string
		Params json.RawMessage
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&top); err != nil {
		return "", nil, err
	}
	c, known := ipaCommands()[top.Name]
	if !known {
		return "", nil, fmt.Errorf("no command %q", top.Name)
	}
	if err := json.Unmarshal(top.Params, &params); err != nil {
		return "", nil, fmt.Errorf("params: %w", err)
	}
	for key := range params {
		if !slices.Contains(c.needs, key) && !slices.Contains(c.may, key) {
			return "", nil, fmt.Errorf("%s got an unexpected keyword argument %q", top.Name, key)
		}
	}
	for _, key := range c.needs {
		if _, given := params[key]; !given {
			return "", nil, fmt.Errorf("%s is missing the argument %q", top.Name, key)
		}
	}
	return top.Name, params, nil
}

// begin notes a command as running, unless another is.
func (a *ipaAgent) begin(short string) (id, busy string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.manner.busy > 0 {
		a.manner.busy--
		a.machine.note("is busy")
		return "", short
	}
	if n := len(a.commands); n > 0 && a.commands[n-1].Status == agentapi.Running {
		return "", a.commands[n-1].Name
	}
	a.machine.note(short)
	id = uuid.NewString()
	a.commands = append(a.commands, agentapi.Result{ID: id, Name: short, Status: agentapi.Running})
	return id, ""
}

// watched waits, in the middle of a command, until the conductor has taken a heartbeat and looked at the commands: a
// command that outlasts a heartbeat must be left running.
func (a *ipaAgent) watched() bool {
	a.mu.Lock()
	looked := make(chan struct{})
	a.listed = looked
	a.mu.Unlock()
	a.force()
	select {
	case <-looked:
		return true
	case <-a.life.Done():
		return false
	}
}

// errOutdated says that the steps were listed by another agent.
var errOutdated = errors.New("hardware manager version mismatch")

// finish runs a command and notes its end.
func (a *ipaAgent) finish(id string, c ipaCommand, params map[string]json.RawMessage) agentapi.Result {
	result, err := c.run(a, params)
	raw, encoding := json.Marshal(result)
	if encoding != nil {
		a.t.Error(encoding)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.commands, func(r agentapi.Result) bool { return r.ID == id })
	r := &a.commands[i]
	var failure *agentapi.CommandError
	switch {
	case err == nil:
		r.Status, r.Result = agentapi.Succeeded, raw
	case errors.Is(err, errOutdated):
		r.Status, r.Error = agentapi.CleanVersionMismatch, agentapi.NewCommandError("VersionMismatch", err.Error(), "")
	case errors.As(err, &failure):
		r.Status, r.Error = agentapi.Failed, failure
	default:
		a.t.Errorf("%s: %v", r.Name, err)
		r.Status, r.Error = agentapi.Failed,
			agentapi.NewCommandError("InvalidCommandParamsError", "Invalid command parameters", err.Error())
	}
	return *r
}
