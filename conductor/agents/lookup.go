package agents

import (
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The microversions lookup is made of.
const (
	lookupSince = 22
	tokenSince  = 62 // the agent's token is part of the answer
)

// maxMACs bounds the addresses of one lookup.
const maxMACs = 256

// lookup answers GET /v1/lookup?addresses=mac,mac&node_uuid=.
func (s *Server) lookup(w http.ResponseWriter, r *http.Request) error {
	minor, err := begin(w, r, lookupSince)
	if err != nil {
		return err
	}
	macs, uuid, err := lookupArgs(r)
	if err != nil {
		return err
	}
	if minor < tokenSince {
		n, err := s.find(r, macs, uuid)
		if err != nil {
			return hide(err)
		}
		return s.answerLookup(w, r, n, nil)
	}
	n, token, err := s.conductor.Lookup(r.Context(), macs, uuid, callerOf(r))
	if err != nil {
		return hide(err)
	}
	return s.answerLookup(w, r, n, &token)
}

// hide makes one answer of all the reasons for which nothing was found.
func hide(err error) error {
	if errors.Is(err, node.ErrNotFound) {
		return notFound()
	}
	return err
}

// lookupArgs reads the query. MACs that are none are dropped, as Ironic does.
func lookupArgs(r *http.Request) (macs []string, uuid string, err error) {
	q := r.URL.Query()
	for name := range q {
		if name != "addresses" && name != "node_uuid" {
			return nil, "", badRequest("Unexpected arguments: %s", name)
		}
	}
	for a := range strings.SplitSeq(strings.Join(q["addresses"], ","), ",") {
		mac, err := net.ParseMAC(strings.TrimSpace(a))
		if err == nil && len(mac) == 6 && len(macs) < maxMACs {
			macs = append(macs, mac.String())
		}
	}
	if uuid = strings.ToLower(q.Get("node_uuid")); uuid != "" && !isUUID(uuid) {
		return nil, "", badRequest("Expected UUID for node_uuid: %s", q.Get("node_uuid"))
	}
	if len(macs) == 0 && uuid == "" {
		return nil, "", badRequest("At least one of 'addresses' and 'node_uuid' parameters is required")
	}
	return macs, uuid, nil
}

// find is a lookup from the time before tokens: it must not use this boot's token up, and it
// answers no more than the UUID, because an agent that old cannot go on and anybody else has
// no business here.
func (s *Server) find(r *http.Request, macs []string, uuid string) (agentapi.LookupNode, error) {
	n, err := s.conductor.Find(r.Context(), macs, uuid, clientaddr.Of(r))
	return agentapi.LookupNode{UUID: n.UUID}, err
}

// answerLookup gives the agent its node and its settings. token is nil when there is none to
// give.
func (s *Server) answerLookup(w http.ResponseWriter, r *http.Request, n agentapi.LookupNode, token *string) error {
	n.Properties = orEmpty(n.Properties)
	n.InstanceInfo = orEmpty(nodeapi.MaskInstance(n.InstanceInfo))
	internal := map[string]any{}
	for k, v := range nodeapi.Mask(n.DriverInternalInfo) {
		internal[k] = v
	}
	if token != nil {
		internal["agent_secret_token"] = nodeapi.Masked
	}
	n.DriverInternalInfo = internal
	base := "http://" + r.Host
	if r.TLS != nil {
		base = "https://" + r.Host
	}
	n.Links = []agentapi.Link{
		{Href: base + "/v1/nodes/" + n.UUID, Rel: "self"}, {Href: base + "/nodes/" + n.UUID, Rel: "bookmark"},
	}
	status := http.StatusOK
	if r.Method == http.MethodPost {
		status = http.StatusAccepted
	}
	return answer(w, status, lookupReply{Node: n, Config: s.config(n.Name, token)})
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
