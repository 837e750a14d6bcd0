package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// ramdisk stands for the agent of a node.
type ramdisk struct {
	node, mac string
	heartbeat []byte // its body, once it has looked itself up
}

// agents measures the calls of ramdisks. Nodes are brought to the wait for their agents in cleaning, and into
// maintenance, so that a heartbeat starts nothing.
func (c *caller) agents(ctx context.Context, t *table) error {
	all := make([]*ramdisk, loadAgents)
	for i := range all {
		all[i] = &ramdisk{mac: fmt.Sprintf("52:54:01:00:%02x:%02x", i>>8, i&255)}
		if err := c.await(ctx, all[i]); err != nil {
			return err
		}
	}
	err := t.measure("lookup, 1 caller", func() (int, error) {
		return len(all), each(1, all, func(r *ramdisk) error { return c.lookup(ctx, r) })
	})
	if err != nil {
		return err
	}
	for _, r := range all {
		if err := c.call(ctx, "PUT", "/v1/nodes/"+r.node+"/maintenance", map[string]string{"reason": "load"},
			nil); err != nil {
			return err
		}
	}
	for _, callers := range []int{1, 8} {
		if err := c.heartbeats(ctx, t, all, callers); err != nil {
			return err
		}
	}
	return nil
}

// await makes a node that waits for its ramdisk in cleaning.
func (c *caller) await(ctx context.Context, r *ramdisk) (err error) {
	r.node, err = c.create(ctx, map[string]any{
		"deploy_interface": "direct", "boot_interface": "fake",
		"driver_info": map[string]any{"deploy_kernel": "http://127.0.0.1:9/k", "deploy_ramdisk": "http://127.0.0.1:9/r"},
	})
	if err != nil {
		return err
	}
	if err := c.call(ctx, "POST", "/v1/ports", map[string]any{"node_uuid": r.node, "address": r.mac}, nil); err != nil {
		return err
	}
	if err := c.reach(ctx, r.node, "manage", "manageable"); err != nil {
		return err
	}
	return c.reach(ctx, r.node, "provide", "clean wait")
}

// reach asks a node for a verb and waits until it is where that leads.
func (c *caller) reach(ctx context.Context, id, target, goal string) error {
	err := c.call(ctx, "PUT", "/v1/nodes/"+id+"/states/provision", nodeapi.Provision{Target: target}, nil)
	for err == nil {
		var n nodeapi.Node
		err = c.call(ctx, "GET", "/v1/nodes/"+id+"/states", nil, &n)
		if err == nil && n.ProvisionState == goal {
			return nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return err
}

func (c *caller) lookup(ctx context.Context, r *ramdisk) error {
	var reply agentapi.LookupReply
	if err := c.call(ctx, "GET", agentapi.LookupPath+"?node_uuid="+r.node+"&addresses="+r.mac, nil, &reply); err != nil {
		return err
	}
	var err error
	r.heartbeat, err = json.Marshal(map[string]string{
		"callback_url": "https://127.0.0.1:9/", "agent_version": "9.4.0", "agent_token": reply.Config.AgentToken,
	})
	return err
}

// heartbeats measures those that are accepted, and says how many were not.
func (c *caller) heartbeats(ctx context.Context, t *table, all []*ramdisk, callers int) error {
	var refused atomic.Int64
	err := t.measure(fmt.Sprintf("heartbeat, %d callers", callers), func() (int, error) {
		n, err := during(callers, func(i int) error {
			r := all[i%len(all)]
			status, answer, err := c.once(ctx, "POST", agentapi.HeartbeatPath+r.node, r.heartbeat)
			switch {
			case err != nil:
				return err
			case status == http.StatusConflict || status == http.StatusServiceUnavailable:
				refused.Add(1)
			case status != http.StatusAccepted:
				return fmt.Errorf("heartbeat of %s: status %d: %.300s", r.node, status, answer)
			}
			return nil
		})
		return n - int(refused.Load()), err
	})
	if refused.Load() > 0 {
		fmt.Printf("bench: %s refused %d heartbeats of %d callers\n", c.base, refused.Load(), callers)
	}
	return err
}
