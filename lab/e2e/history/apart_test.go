//go:build cluster

package history

import (
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"time"
)

// route cuts the way of the other conductors to one: what they send gets lost, without an answer.
func (w *world) route(how string, m *member) {
	w.t.Helper()
	args := []string{"route", how, "blackhole", m.reached + "/32", "table", "local"}
	if out, err := exec.CommandContext(w.t.Context(), "ip", args...).CombinedOutput(); err != nil {
		w.t.Fatalf("ip %v: %v: %s", args, err, out)
	}
}

// apart waits until a leader that the others do not reach has acknowledged a write of its own client, and until each of
// the others has said that it cannot help. It returns how long the last of them took. A leader that loses the group
// meanwhile, since the machine has too much else to do, has a successor whom the rest reaches.
func (w *world) apart(leader *member, probe string, nth int) (time.Duration, error) {
	began := time.Now()
	wrong := w.askApart(leader, probe, nth)
	if wrong == nil {
		return time.Since(began), nil
	}
	if now, err := w.leads(); err != nil || now == leader {
		return 0, errors.Join(wrong, err)
	}
	return w.await(leader.Name, probe, nth)
}

func (w *world) askApart(leader *member, probe string, nth int) error {
	patch := []map[string]any{{"op": "add", "path": "/extra/probe", "value": fmt.Sprint(nth)}}
	if _, err := w.askOne(leader, http.MethodPatch, "/v1/nodes/"+probe, patch, nil); err != nil {
		return fmt.Errorf("the leader serves its own clients no longer: %w", err)
	}
	for _, m := range w.members {
		if m == leader {
			continue
		}
		status, err := w.askOne(m, http.MethodGet, "/v1/nodes/"+probe, nil, nil)
		if status != http.StatusServiceUnavailable {
			return errors.Join(fmt.Errorf("%s, which does not reach the leader: expected 503, found %d", m.Name, status), err)
		}
	}
	return nil
}
