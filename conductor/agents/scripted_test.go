package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// scripted is a conductor that knows one node and notes its calls.
type scripted struct {
	state node.State
	sent  bool     // the token was given out
	calls []string // calls that came through

	nobody, discovers bool // no node waits for inspection data; unknown machines are discovered

	request *agentapi.BMCUserRequest // to agents of strangers
}

func (s *scripted) note(format string, args ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

func (s *scripted) Node(_ context.Context, ref string) (node.Node, error) {
	if ref != aNode && ref != "n1" {
		return node.Node{}, node.Refuse(node.NotFound, "no %s", ref)
	}
	return node.Node{UUID: aNode, ProvisionState: s.state, InstanceInfo: map[string]any{"configdrive": "secret"}}, nil
}

func (s *scripted) Find(ctx context.Context, macs []string, uuid string, _ netip.Addr) (node.Node, error) {
	if slices.Contains(macs, aMAC) {
		uuid = aNode
	}
	n, err := s.Node(ctx, uuid)
	if class := n.ProvisionState.Class(); class != node.Working && class != node.Waiting {
		return node.Node{}, node.Refuse(node.NotFound, "a secret reason")
	}
	return n, err
}

func (s *scripted) Lookup(_ context.Context, macs []string, uuid string,
	c node.Caller) (agentapi.LookupNode, string, error) {
	s.note("lookup %v %q from %s", macs, uuid, c.From)
	if s.state != node.CleanWait || uuid != "" && uuid != aNode {
		return agentapi.LookupNode{}, "", node.Refuse(node.NotFound, "a secret reason")
	}
	token := aToken
	if s.sent {
		token = agentapi.MaskedToken
	}
	s.sent = true
	return agentapi.LookupNode{UUID: aNode, InstanceInfo: map[string]any{"configdrive": "secret"}}, token, nil
}

func (s *scripted) Heartbeat(_ context.Context, uuid string, hb agentapi.Heartbeat) error {
	s.note("heartbeat %s %s %s", uuid, hb.CallbackURL, hb.AgentVersion)
	switch {
	case uuid != aNode:
		return node.Refuse(node.NotFound, "no %s", uuid)
	case hb.AgentToken != aToken:
		return node.Refuse(node.Invalid, "Invalid or missing agent token received.")
	}
	return nil
}

func (s *scripted) ContinueInspection(_ context.Context, uuid string, data agentapi.Inspection, raw []byte,
	c node.Caller) (node.Node, error) {
	s.note("inspection %q %s from %s", uuid, data.Inventory.Interfaces[0].MACAddress, c.From)
	if !json.Valid(raw) {
		return node.Node{}, errors.New("the raw data is not what was sent")
	}
	if s.nobody {
		return node.Node{}, node.Refuse(node.NotFound, "a secret reason")
	}
	return s.Node(context.Background(), aNode)
}

func (s *scripted) Discover(_ context.Context, data agentapi.Inspection, _ []byte,
	from netip.Addr) (node.Node, *agentapi.BMCUserRequest, error) {
	s.note("discover %s from %s", data.Inventory.Interfaces[0].MACAddress, from)
	if !s.discovers {
		return node.Node{}, nil, node.Refuse(node.NotFound, "a secret reason")
	}
	return node.Node{UUID: aNode, ProvisionState: node.Enroll}, s.request, nil
}

func (s *scripted) TakeBMCUser(_ context.Context, uuid string, u agentapi.BMCUser, from netip.Addr) error {
	s.note("%s of %s from %s", u, uuid, from)
	if s.request == nil || u.Token != s.request.Token {
		return node.Refuse(node.NotFound, "a secret reason")
	}
	return nil
}

func (s *scripted) Progress(_ context.Context, uuid string, p agentapi.Progress) error {
	s.note("progress %s %s %d of %d", uuid, p.Step, p.Done, p.Total)
	return nil
}

func (s *scripted) CheckToken(_ context.Context, uuid, token string) error {
	switch {
	case uuid != aNode:
		return node.Refuse(node.NotFound, "no %s", uuid)
	case token != aToken:
		return node.Refuse(node.Invalid, "Invalid or missing agent token received.")
	}
	return nil
}
