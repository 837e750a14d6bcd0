package site

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite-lab/lab"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Node is what an operator looks at.
type Node struct {
	UUID        string         `json:"uuid"`
	State       string         `json:"provision_state"`
	LastError   string         `json:"last_error"`
	Reservation string         `json:"reservation"`
	Maintenance bool           `json:"maintenance"`
	Properties  map[string]any `json:"properties"`
}

// AnswerError is an answer that is not a success.
type AnswerError struct {
	Call   string
	Status int
	Body   string
}

func (e *AnswerError) Error() string { return fmt.Sprintf("%s: %d: %s", e.Call, e.Status, e.Body) }

// callTime bounds one call of the API.
const callTime = 20 * time.Second

// call makes one call at the newest microversion. in and out are JSON; nil for
// none.
func (s *Site) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	if in == nil {
		body = nil
	}
	r, err := http.NewRequestWithContext(ctx, method, s.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("X-OpenStack-Ironic-API-Version", "latest")
	r.Header.Set("Content-Type", "application/json")
	res, err := s.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return &AnswerError{method + " " + path, res.StatusCode, strings.TrimSpace(string(answer))}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}

// Call makes one call of the API and decodes its answer into out, if any.
func (s *Site) Call(ctx context.Context, method, path string, in, out any) error {
	return s.call(ctx, method, path, in, out)
}

// Enroll creates the node of a machine, under the machine's name, with a port
// for each of its network cards. more overrides or adds to the body.
func (s *Site) Enroll(ctx context.Context, m *lab.Machine, more map[string]any) (Node, error) {
	body := map[string]any{
		"name": m.Name, "driver": "redfish", "inspect_interface": "agent",
		"driver_info": map[string]any{"redfish_address": m.URL, "redfish_username": m.Username, "redfish_password": m.Password},
	}
	for k, v := range more {
		body[k] = v
	}
	var n Node
	if err := s.call(ctx, http.MethodPost, "/v1/nodes", body, &n); err != nil {
		return n, err
	}
	for _, nic := range m.Spec().NICs {
		port := map[string]any{"node_uuid": n.UUID, "address": nic.MAC}
		if err := s.call(ctx, http.MethodPost, "/v1/ports", port, nil); err != nil {
			return n, err
		}
	}
	return n, nil
}

// Image is what a deploy writes: where it is, and its sum.
type Image struct {
	URL, SHA256, Format string
}

// SetImage says what the next deploy of a node writes.
func (s *Site) SetImage(ctx context.Context, name string, i Image) error {
	info := map[string]any{"image_source": i.URL, "image_os_hash_algo": "sha256", "image_os_hash_value": i.SHA256}
	if i.Format != "" {
		info["image_disk_format"] = i.Format
	}
	return s.call(ctx, http.MethodPatch, "/v1/nodes/"+name, []any{map[string]any{"op": "add", "path": "/instance_info", "value": info}}, nil)
}

// Provision asks for a verb; more adds to the body (configdrive).
func (s *Site) Provision(ctx context.Context, name, verb string, more map[string]any) error {
	body := map[string]any{"target": verb}
	for k, v := range more {
		body[k] = v
	}
	return s.call(ctx, http.MethodPut, "/v1/nodes/"+name+"/states/provision", body, nil)
}

// Node reads a node.
func (s *Site) Node(ctx context.Context, name string) (n Node, err error) {
	err = s.call(ctx, http.MethodGet, "/v1/nodes/"+name, nil, &n)
	return n, err
}

// Status reads why a node waits.
func (s *Site) Status(ctx context.Context, name string) (st nodeapi.Status, err error) {
	err = s.call(ctx, http.MethodGet, "/ferrite/v1/nodes/"+name+"/status", nil, &st)
	return st, err
}

// resting are the states that nothing leaves by itself.
var resting = []string{
	"enroll", "manageable", "available", "active", "error",
	"inspect failed", "clean failed", "deploy failed",
}

// pollEvery is how often a node is looked at while waiting for it.
const pollEvery = 100 * time.Millisecond

// Until waits until a node rests in a state. One that rests elsewhere is an
// error that says why.
func (s *Site) Until(ctx context.Context, name, state string) (Node, error) {
	for {
		n, err := s.Node(ctx, name)
		if err == nil && n.Reservation == "" && slices.Contains(resting, n.State) {
			if n.State == state {
				return n, nil
			}
			return n, fmt.Errorf("node %s is %q, not %q: %s", name, n.State, state, n.LastError)
		}
		if err != nil && ctx.Err() == nil && !s.ended() {
			return n, err
		}
		select {
		case <-ctx.Done():
			return n, fmt.Errorf("node %s is still %q, not %q: %w", name, n.State, state, ctx.Err())
		case <-time.After(pollEvery):
		}
	}
}

// ended reports whether the conductor is down, as it is while a test has
// killed it.
func (s *Site) ended() bool {
	select {
	case <-s.Conductor.Done():
		return true
	default:
		return false
	}
}

// Ask asks for a verb and waits until the node rests in a state.
func (s *Site) Ask(ctx context.Context, name, verb, state string) (Node, error) {
	if err := s.Provision(ctx, name, verb, nil); err != nil {
		return Node{}, err
	}
	return s.Until(ctx, name, state)
}
