//go:build cluster

package history

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// powered is a node with a BMC under power changes, one request after the other.
type powered struct {
	*client
	node    string
	machine *machine
	on      bool
	done    int // requests that came to their end
	doubled []string
}

// toggle asks for the other power state until the node shows it. The machine must have changed once, and not in
// between.
func (p *powered) toggle() error {
	before, _ := p.machine.changes()
	target, power := "power on", qemu.On
	if p.on {
		target, power = "power off", qemu.Off
	}
	var asked error
	err := p.until(p.node, target, func(n shown) bool {
		if n.Power == target && n.PowerTarget == "" && n.Reservation == "" {
			return true
		}
		if n.PowerTarget == "" && n.Reservation == "" { // it is not reserved
			_, asked = p.ask("", http.MethodPut, "/v1/nodes/"+p.node+"/states/power", map[string]any{"target": target}, nil)
		}
		return false
	})
	if err != nil {
		return errors.Join(err, asked)
	}
	p.on, p.done = !p.on, p.done+1
	if after, _ := p.machine.changes(); len(after) != len(before)+1 || after[len(after)-1].after != power {
		p.doubled = append(p.doubled,
			fmt.Sprintf("node %s: asked for %s after %v: %v", p.node, target, before, after[len(before):]))
	}
	return nil
}

// stages is the life of a node of fake hardware, again and again.
var stages = []struct{ from, verb, to string }{
	{"enroll", "manage", "manageable"}, {"manageable", "provide", "available"}, {"available", "active", "active"},
	{"active", "rebuild", "active"}, {"active", "deleted", "available"}, {"available", "manage", "manageable"},
	{"manageable", "inspect", "manageable"},
}

// live takes a node through one stage. It repeats a verb only when the node is in its old state, is not reserved, and
// no conductor has accepted the verb.
func (c *client) live(id, verb, from, to string) error {
	var wrong error
	begun, accepted, forgotten := false, false, 0
	return errors.Join(c.until(id, to+" by "+verb, func(n shown) bool {
		class := node.State(n.State).Class()
		switch {
		case class == node.Failed:
			wrong = fmt.Errorf("node %s failed on %s: %s", id, verb, n.LastError)
			return true
		case class != node.Stable || n.Reservation != "":
			begun = true
			return false
		case n.State == to && (begun || accepted || from != to):
			return true
		case accepted: // the first look may have been just before
			if forgotten++; forgotten > 1 {
				wrong = fmt.Errorf("node %s: %s was accepted, and is forgotten: %+v", id, verb, n)
			}
			return forgotten > 1
		}
		body := map[string]any{"target": verb}
		_, err := c.ask("", http.MethodPut, "/v1/nodes/"+id+"/states/provision", body, nil)
		accepted = err == nil
		return false
	}), wrong)
}

// await waits until a write through another conductor than the one of a name is acknowledged.
func (c *client) await(but, probe string, nth int) (time.Duration, error) {
	began := time.Now()
	patch := []map[string]any{{"op": "add", "path": "/extra/probe", "value": fmt.Sprint(nth)}}
	for {
		_, err := c.ask(but, http.MethodPatch, "/v1/nodes/"+probe, patch, nil)
		if err == nil {
			return time.Since(began), nil
		}
		if time.Since(began) > patience {
			return 0, fmt.Errorf("nobody took over: %w", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
