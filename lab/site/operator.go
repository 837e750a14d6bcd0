package site

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// callTime bounds one call of the API.
const callTime = 20 * time.Second

// Call makes one call of the API at the newest microversion. in and out are
// JSON, nil for none; an answer that is no success is a *nodeapi.Fault.
func (s *Site) Call(ctx context.Context, method, path string, in, out any) error {
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
	r.Header.Set(nodeapi.HeaderVersion, "latest")
	r.Header.Set("Content-Type", "application/json")
	s.access.sign(r)
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
		return fmt.Errorf("%s %s: %s: %w", method, path, res.Status, nodeapi.ParseFault(res.StatusCode, answer))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}

// Enroll creates the node of a machine, under the machine's name, with a port
// for each of its network cards. more overrides or adds to the body.
func (s *Site) Enroll(ctx context.Context, m *lab.Machine, more map[string]any) (nodeapi.Node, error) {
	info := map[string]any{"redfish_address": m.URL, "redfish_username": m.Username, "redfish_password": m.Password}
	maps.Copy(info, m.Settings)
	body := map[string]any{"name": m.Name, "driver": "redfish", "inspect_interface": "agent", "driver_info": info}
	for k, v := range more {
		body[k] = v
	}
	var n nodeapi.Node
	if err := s.Call(ctx, http.MethodPost, "/v1/nodes", body, &n); err != nil {
		return n, err
	}
	for _, nic := range m.Spec().NICs {
		port := map[string]any{"node_uuid": n.UUID, "address": nic.MAC}
		if err := s.Call(ctx, http.MethodPost, "/v1/ports", port, nil); err != nil {
			return n, err
		}
	}
	return n, nil
}

// Image is the image of a deploy: its URL, and its sum, which may be empty where the conductor finds it out.
type Image struct {
	URL, SHA256, Format string
	Mirrors             []string // where else it is, in the order they are tried
	PullSecret          string   // of a container registry
}

// SetImage sets the image for the next deploy of a node.
func (s *Site) SetImage(ctx context.Context, name string, i Image) error {
	info := map[string]any{"image_source": i.URL}
	if i.SHA256 != "" {
		info["image_os_hash_algo"], info["image_os_hash_value"] = "sha256", i.SHA256
	}
	if i.Format != "" {
		info["image_disk_format"] = i.Format
	}
	if len(i.Mirrors) > 0 {
		info["image_mirrors"] = i.Mirrors
	}
	if i.PullSecret != "" {
		info["image_pull_secret"] = i.PullSecret
	}
	return s.Call(ctx, http.MethodPatch, "/v1/nodes/"+name,
		[]nodeapi.Patch{{Op: "add", Path: "/instance_info", Value: info}}, nil)
}

// Provision asks for a verb, for a deploy or rebuild with a config drive; nil
// for none.
func (s *Site) Provision(ctx context.Context, name, verb string, configDrive any) error {
	body := nodeapi.Provision{Target: verb, ConfigDrive: configDrive}
	return s.Call(ctx, http.MethodPut, "/v1/nodes/"+name+"/states/provision", body, nil)
}

// Node reads a node.
func (s *Site) Node(ctx context.Context, name string) (n nodeapi.Node, err error) {
	err = s.Call(ctx, http.MethodGet, "/v1/nodes/"+name, nil, &n)
	return n, err
}

// Status reads why a node waits.
func (s *Site) Status(ctx context.Context, name string) (st nodeapi.Status, err error) {
	err = s.Call(ctx, http.MethodGet, "/ferrite/v1/nodes/"+name+"/status", nil, &st)
	return st, err
}

// How often a node is read while waiting for it: one of our conductor, and one of a peer, which is slow to answer.
const (
	pollEvery     = 100 * time.Millisecond
	peerPollEvery = 500 * time.Millisecond
)

func (s *Site) pollEvery() time.Duration {
	if s.config.Peer != nil {
		return peerPollEvery
	}
	return pollEvery
}

// Until waits until a node rests in a state. A node that rests in another state is an error
// that says why.
func (s *Site) Until(ctx context.Context, name, state string) (nodeapi.Node, error) {
	for {
		n, err := s.Node(ctx, name)
		if err == nil && n.Reservation == "" && slices.Contains(nodeapi.RestingStates(), n.ProvisionState) {
			if n.ProvisionState == state {
				return n, nil
			}
			return n, fmt.Errorf("node %s is %q, not %q: %s", name, n.ProvisionState, state, n.LastError)
		}
		if err != nil && ctx.Err() == nil && !s.ended() {
			return n, err
		}
		select {
		case <-ctx.Done():
			return n, fmt.Errorf("node %s is still %q, not %q: %w", name, n.ProvisionState, state, ctx.Err())
		case <-time.After(s.pollEvery()):
		}
	}
}

// ended reports whether the conductor is down, as it is while a test has
// killed it.
func (s *Site) ended() bool {
	if s.Conductor == nil { // the caller's: see Of
		return false
	}
	select {
	case <-s.Conductor.Done():
		return true
	default:
		return false
	}
}

// Ask asks for a verb and waits until the node rests in a state.
func (s *Site) Ask(ctx context.Context, name, verb, state string) (nodeapi.Node, error) {
	if err := s.Provision(ctx, name, verb, nil); err != nil {
		return nodeapi.Node{}, err
	}
	return s.Until(ctx, name, state)
}
