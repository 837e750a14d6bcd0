package node

import (
	"bytes"
	"context"
	"net/url"
	"regexp"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// hostKey is how the agent logs the key of its SSH server.
var hostKey = regexp.MustCompile(`host_key=(SHA256:[A-Za-z0-9+/=]+)`)

// rescueLogin is the command to log in with, and the key that the machine then shows.
func rescueLogin(ctx context.Context, s *client.Session, node string) string {
	var log tail
	key := "not known here: see ferrite node logs " + node
	path := client.FerritePath(node, "logs?"+nodeapi.LogQuery{}.Values().Encode())
	if s.Client.Stream(ctx, path, &log) == nil {
		if all := hostKey.FindAllSubmatch(log.end, -1); len(all) > 0 {
			key = string(all[len(all)-1][1])
		}
	}
	address := rescueAddress(ctx, s, node)
	if address == "" {
		return "the address is not known here: see ferrite lease list; log in as rescue, host key " + key
	}
	return "ssh rescue@" + address + ", host key " + key
}

// tail keeps the end of the bytes written to it.
type tail struct{ end []byte }

// mostTail bounds the kept end of a log.
const mostTail = 1 << 20

func (t *tail) Write(b []byte) (int, error) {
	t.end = append(t.end, b...)
	if over := len(t.end) - mostTail; over > 0 {
		t.end = bytes.Clone(t.end[over:])
	}
	return len(b), nil
}

// rescueAddress is the address of the node's agent, else the address of its lease.
func rescueAddress(ctx context.Context, s *client.Session, node string) string {
	var n struct {
		UUID     string
		Internal struct {
			AgentURL string `json:"agent_url"`
		} `json:"driver_internal_info"`
	}
	if s.Client.Do(ctx, "GET", client.NodePath(node)+"?fields=uuid,driver_internal_info", nil, &n) != nil {
		return ""
	}
	if u, err := url.Parse(n.Internal.AgentURL); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return nodes.Addresses(ctx, s)[n.UUID].IP
}
