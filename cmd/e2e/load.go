package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The load: so many nodes of fake-hardware, so many callers, the best of so
// many rounds.
const (
	loadNodes   = 200
	loadCallers = 16
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

// benchLoad takes nodes of a conductor of its own through their lives, all at
// once, and those of a peer when one is named.
func (s *shared) benchLoad(ctx context.Context) error {
	ours, peer := map[string]float64{}, map[string]float64{}
	for range loadRounds {
		err := s.conductor(ctx, func(address string, _ int) error { return load(ctx, "http://"+address, ours) })
		if err != nil {
			return fmt.Errorf("load: %w", err)
		}
	}
	if at := os.Getenv(peerURL); at != "" {
		if err := load(ctx, at, peer); err != nil {
			return fmt.Errorf("load on %s %s: %w", peerURL, at, err)
		}
	}
	for _, v := range loadVerbs {
		line := fmt.Sprintf("bench: %s %d nodes: %.0f nodes/s", v.name, loadNodes, ours[v.name])
		if peer[v.name] > 0 {
			line += fmt.Sprintf(", peer %.1f nodes/s, ratio %.1f", peer[v.name], ours[v.name]/peer[v.name])
		}
		fmt.Println(line)
	}
	return nil
}

// load measures nodes a second by verb on a server without nodes, and keeps what
// is better than in the rounds before. It leaves its nodes there.
func load(ctx context.Context, base string, best map[string]float64) error {
	ctx, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	c := &caller{base: base, http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: loadCallers}}}
	nodes, err := c.create(ctx)
	if err != nil {
		return err
	}
	for _, v := range loadVerbs {
		took, err := c.all(ctx, nodes, v.target, v.goal)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		best[v.name] = max(best[v.name], loadNodes/took.Seconds())
	}
	return nil
}

// caller is a client that does nothing but call.
type caller struct {
	base string
	http *http.Client
}

func (c *caller) create(ctx context.Context) ([]string, error) {
	nodes := make([]string, loadNodes)
	places := make(chan int, loadNodes)
	for i := range nodes {
		places <- i
	}
	err := c.each(nodes, func(string) error {
		var n nodeapi.Node
		err := c.call(ctx, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware"}, &n)
		nodes[<-places] = n.UUID
		return err
	})
	return nodes, err
}

// all asks every node for a verb and waits until all are there.
func (c *caller) all(ctx context.Context, nodes []string, target, goal string) (time.Duration, error) {
	start := time.Now()
	err := c.each(nodes, func(id string) error {
		return c.call(ctx, "PUT", "/v1/nodes/"+id+"/states/provision", nodeapi.Provision{Target: target}, nil)
	})
	for err == nil {
		var list nodeapi.NodeList
		err = c.call(ctx, "GET", "/v1/nodes?fields=uuid&limit=1000&provision_state="+url.QueryEscape(goal), nil, &list)
		if err == nil && len(list.Nodes) >= len(nodes) {
			return time.Since(start), nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return 0, err
}

// each does something to all nodes, as many at a time as there are callers.
func (c *caller) each(nodes []string, do func(id string) error) error {
	var next atomic.Int64
	errs := make([]error, loadCallers)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for errs[i] == nil {
				n := next.Add(1) - 1
				if n >= int64(len(nodes)) {
					return
				}
				errs[i] = do(nodes[n])
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// call asks again when the server is busy: Ironic is, at this load.
func (c *caller) call(ctx context.Context, method, path string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	for {
		status, answer, err := c.once(ctx, method, path, raw)
		switch {
		case err != nil:
			return err
		case status == http.StatusConflict || status == http.StatusServiceUnavailable:
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s %s: still status %d: %.300s: %w", method, path, status, answer, ctx.Err())
			case <-time.After(100 * time.Millisecond):
			}
			continue
		case status >= 300:
			return fmt.Errorf("%s %s: status %d: %.300s", method, path, status, answer)
		case into == nil:
			return nil
		}
		return json.Unmarshal(answer, into)
	}
}

func (c *caller) once(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(nodeapi.HeaderVersion, cmp.Or(os.Getenv("API_VERSION"), "1.82"))
	res, err := c.http.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}
