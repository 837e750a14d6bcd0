package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// agents measures what ramdisks call: nodes are brought to where they wait for
// their agents in cleaning, and into maintenance, so that a heartbeat starts
// nothing. A heartbeat that is refused counts for nothing.
func (c *caller) agents(ctx context.Context, t *table) error {
	macs := map[string]string{}
	var nodes []string
	for i := range loadAgents {
		id, err := c.waiting(ctx, i)
		if err != nil {
			return err
		}
		nodes = append(nodes, id)
		macs[id] = agentMAC(i)
	}
	calls := make([][2]string, loadAgents) // path and body
	place := map[string]int{}
	for i, id := range nodes {
		place[id] = i
	}
	err := t.measure("lookup, 1 caller", func() (int, error) {
		return len(nodes), each(1, nodes, func(id string) error {
			var reply agentapi.LookupReply
			if err := c.call(ctx, "GET", agentapi.LookupPath+"?node_uuid="+id+"&addresses="+macs[id], nil, &reply); err != nil {
				return err
			}
			body, err := json.Marshal(map[string]string{
				"callback_url": "https://127.0.0.1:9/", "agent_version": "9.4.0", "agent_token": reply.Config.AgentToken,
			})
			calls[place[id]] = [2]string{agentapi.HeartbeatPath + id, string(body)}
			return err
		})
	})
	for _, id := range nodes {
		if err == nil {
			err = c.call(ctx, "PUT", "/v1/nodes/"+id+"/maintenance", map[string]string{"reason": "load"}, nil)
		}
	}
	if err != nil {
		return err
	}
	return c.heartbeats(ctx, t, calls)
}

// heartbeats measures those that are accepted, and says how many were not.
func (c *caller) heartbeats(ctx context.Context, t *table, calls [][2]string) error {
	for _, callers := range []int{1, 8} {
		refused := make(chan struct{}, 1<<20)
		err := t.measure(fmt.Sprintf("heartbeat, %d callers", callers), func() (int, error) {
			n, err := during(callers, func(i int) error {
				call := calls[i%len(calls)]
				status, answer, err := c.once(ctx, "POST", call[0], []byte(call[1]))
				switch {
				case err != nil:
					return err
				case status == http.StatusConflict || status == http.StatusServiceUnavailable:
					refused <- struct{}{}
				case status != http.StatusAccepted:
					return fmt.Errorf("POST %s: status %d: %.300s", call[0], status, answer)
				}
				return nil
			})
			return n - len(refused), err
		})
		if err != nil {
			return err
		}
		if len(refused) > 0 {
			fmt.Printf("bench: %s refused %d heartbeats of %d callers\n", c.base, len(refused), callers)
		}
	}
	return nil
}

func agentMAC(i int) string { return fmt.Sprintf("52:54:01:00:%02x:%02x", i>>8, i&255) }

// waiting makes a node that waits for its agent in cleaning.
func (c *caller) waiting(ctx context.Context, i int) (string, error) {
	id, err := c.create(ctx, map[string]any{
		"deploy_interface": "direct", "boot_interface": "fake",
		"driver_info": map[string]any{"deploy_kernel": "http://127.0.0.1:9/k", "deploy_ramdisk": "http://127.0.0.1:9/r"},
	})
	if err != nil {
		return "", err
	}
	if err := c.call(ctx, "POST", "/v1/ports", map[string]any{"node_uuid": id, "address": agentMAC(i)}, nil); err != nil {
		return "", err
	}
	for _, v := range []struct{ target, goal string }{{"manage", "manageable"}, {"provide", "clean wait"}} {
		if err := c.call(ctx, "PUT", "/v1/nodes/"+id+"/states/provision", map[string]string{"target": v.target}, nil); err != nil {
			return "", err
		}
		for state := ""; state != v.goal; time.Sleep(2 * time.Millisecond) {
			var n struct {
				State string `json:"provision_state"`
			}
			if err := c.call(ctx, "GET", "/v1/nodes/"+id+"/states", nil, &n); err != nil {
				return "", err
			}
			state = n.State
		}
	}
	return id, nil
}
