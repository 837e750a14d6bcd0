//go:build cluster

package history

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/ferrite-metal/ferrite/lab/agenttest"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

// cleaned is a node that is cleaned by the agent of its machine, again and again.
type cleaned struct {
	node  string
	agent *agenttest.Machine
}

// cleaning is its life.
var cleaning = []struct{ from, verb, to string }{
	{"enroll", "manage", "manageable"}, {"manageable", "provide", "available"}, {"available", "manage", "manageable"},
}

// clean makes the nth node that is cleaned, and takes it through its life.
func (w *world) clean(nth int) {
	w.t.Helper()
	mac := fmt.Sprintf("52:54:00:00:%02x:%02x", nth>>8, nth&255)
	c, operator, machine := &cleaned{}, w.another(), w.another()
	server := httptest.NewUnstartedServer(nil)
	c.agent = agenttest.New(agenttest.Config{MAC: mac, URL: "http://" + server.Listener.Addr().String(),
		Call: func(method, path string, body, answer any) (int, error) {
			return machine.ask("", method, path, body, answer)
		},
		Boot: 2 * time.Second, Step: time.Second, Beat: 20 * time.Second})
	server.Config.Handler = c.agent
	server.Start()
	w.t.Cleanup(func() {
		c.agent.Power(false)
		server.Close()
	})
	m := newMachine(w.t)
	m.pushed = c.agent.Power
	c.node = w.enroll(map[string]any{"driver": "redfish", "driver_info": map[string]any{
		"redfish_address": m.server.URL, "redfish_username": redfishtest.User, "redfish_password": redfishtest.Password,
		"deploy_kernel": "http://127.0.0.1/kernel", "deploy_ramdisk": "http://127.0.0.1/ramdisk",
	}})
	port := map[string]any{"node_uuid": c.node, "address": mac}
	if _, err := w.ask("", http.MethodPost, "/v1/ports", port, nil); err != nil {
		w.t.Fatal(err)
	}
	w.cleaned = append(w.cleaned, c)
	w.repeat(c.node, func(i int) error {
		if i > 0 {
			i = 1 + (i-1)%(len(cleaning)-1)
		}
		s := cleaning[i]
		return operator.live(c.node, s.verb, s.from, s.to)
	})
}

// ledger is how many commands the agent was given, how many steps it carried out again in one boot, and how many it
// refused since it was at one: the late repeats, which do nothing.
func (c *cleaned) ledger() (given, again, repeated int) {
	done := map[string]bool{}
	for _, one := range c.agent.Ledger() {
		given++
		step := fmt.Sprint(one.Boot, one.Name, one.Step)
		switch {
		case one.Refused:
			repeated++
		case one.Name == "clean.execute_clean_step" && done[step]:
			again++
		default:
			done[step] = true
		}
	}
	return given, again, repeated
}
