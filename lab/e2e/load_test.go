package e2e

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The load: so many nodes of fake-hardware, so many callers, the best of so
// many rounds.
const (
	loadNodes   = 200  // that go through their lives at once
	loadListed  = 1000 // that there are when lists are asked for
	loadAgents  = 40   // that wait for their agents
	loadCallers = 16
	loadReaders = 32
	loadTime    = 3 * time.Second  // for repeated requests
	loadRounds  = 3                // of ours; a peer has one
	loadLimit   = 10 * time.Minute // for a round, of a slow peer too
)

// peerURL names the environment variable with the URL of a server to measure
// beside ours, without nodes: anything that speaks Ironic's API without authentication.
const peerURL = "PEER_URL"

// loadVerbs is a life, verb by verb, with where each leads.
var loadVerbs = []struct{ name, target, goal string }{
	{"manage", "manage", "manageable"},
	{"provide", "provide", "available"},
	{"deploy", "active", "active"},
	{"delete", "deleted", "available"},
}

// benchLoad puts a conductor of its own under load, and a peer when one is named.
func (s *shared) benchLoad(ctx context.Context) error {
	ours, peer := &table{}, &table{}
	resident := 0.0
	for range loadRounds {
		err := s.conductor(ctx, nil, func(address string, pid int) error {
			ours.pid = pid
			if err := load(ctx, "http://"+address, ours); err != nil {
				return err
			}
			mib, err := residentMiB(pid)
			resident = max(resident, mib)
			return err
		})
		if err != nil {
			return fmt.Errorf("load: %w", err)
		}
	}
	if at := os.Getenv(peerURL); at != "" {
		if err := load(ctx, at, peer); err != nil {
			return fmt.Errorf("load on %s %s: %w", peerURL, at, err)
		}
	}
	ours.print(peer)
	fmt.Printf("bench: %.1f MiB resident after all that\n", resident)
	return nil
}

// load measures a server without nodes. It leaves its nodes there.
func load(ctx context.Context, base string, t *table) error {
	ctx, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	c := newCaller(base)
	nodes, err := c.lives(ctx, t)
	if err != nil {
		return err
	}
	if err := c.reads(ctx, t, nodes[0]); err != nil {
		return err
	}
	return c.agents(ctx, t)
}

// lives takes nodes through their lives, all at once, and returns them.
func (c *caller) lives(ctx context.Context, t *table) ([]string, error) {
	var nodes []string
	for len(nodes) < loadNodes {
		id, err := c.create(ctx, nil)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, id)
	}
	for _, v := range loadVerbs {
		err := t.measure(fmt.Sprintf("%s %d nodes", v.name, loadNodes), func() (int, error) {
			return len(nodes), c.all(ctx, nodes, v.target, v.goal)
		})
		if err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// all asks every node for a verb and waits until all are there.
func (c *caller) all(ctx context.Context, nodes []string, target, goal string) error {
	err := each(loadCallers, nodes, func(id string) error {
		return c.call(ctx, "PUT", "/v1/nodes/"+id+"/states/provision", nodeapi.Provision{Target: target}, nil)
	})
	for err == nil {
		var list nodeapi.NodeList
		err = c.call(ctx, "GET", "/v1/nodes?fields=uuid&limit=1000&provision_state="+url.QueryEscape(goal), nil, &list)
		if err == nil && len(list.Nodes) >= len(nodes) {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return err
}
