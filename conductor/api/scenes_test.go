package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// scene has the events around a recorded exchange that no request shows.
type scene struct {
	before func(t *testing.T, r *replay) // the request
	busy   bool                          // the node is still at work at the next one
}

// scenes is all of them, by exchange.
func scenes() map[string]scene {
	all := map[string]scene{
		// The BMCs of 13 are dead: it takes long to find out, and ends in an error.
		"13#1": {busy: true, before: func(_ *testing.T, r *replay) { r.free = r.BMC.Hold() }},
		"13#2": {busy: true},
		"13#3": {busy: true},
		"13#6": {busy: true},
		"13#7": {before: func(_ *testing.T, r *replay) {
			r.BMC.Break(node.Refuse(node.BMCFailed, "connection refused"))
			r.free()
			r.settle("ipmi1")
		}},
		// The heartbeat before it begins a cleaning that fails, and with that the token ends.
		"25#38": {before: func(t *testing.T, r *replay) {
			r.becomes(t, r.translate("11111111-0000-4000-8000-000000000040"), node.CleanFailed)
		}},
		"14#1": {before: func(_ *testing.T, r *replay) { r.BMC.Break(nil) }},
	}
	// The nodes of 91 were made before the recording.
	for id, uuid := range map[string]string{
		"91#1": "ee6cd5cd-5a09-4c6c-8797-d3a26cc4090d",
		"91#2": "441d3fcf-21c2-4171-9a9c-facf3b1ef996",
		"91#3": "81baba21-3044-4f5e-851b-7dd2c3ba9c2a",
		"91#4": "4579eee1-a6ef-44c6-a5fc-515384da29e8",
		"91#5": "25e3c613-ee81-4c4c-8613-0224e5cd1940",
		"91#6": "5717e116-1cd3-4629-87ee-5a6ca7ff8862",
	} {
		all[id] = scene{before: func(_ *testing.T, r *replay) {
			r.must(http.StatusCreated, 82, "POST", "/v1/nodes", `{"driver":"fake-hardware","uuid":"`+uuid+`"}`)
			r.provision(uuid, "manage")
		}}
	}
	return all
}

// becomes waits until a node has a state.
func (r *replay) becomes(t *testing.T, ref string, want node.State) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		switch n := r.settle(ref); {
		case n.ProvisionState == want:
			return
		case time.Now().After(end):
			t.Fatalf("node %s is %s, expected %s", ref, n.ProvisionState, want)
		}
	}
}
