//go:build cluster

package history

import (
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"time"
)

// route cuts the way of the other conductors to one: their packets get lost, without an answer.
func (w *world) route(how string, m *member) {
	w.t.Helper()
	args := []string{"route", how, "blackhole", m.reached + "/32", "table", "local"}
	if out, err := exec.CommandContext(w.t.Context(), "ip", args...).CombinedOutput(); err != nil {
		w.t.Fatalf("ip %v: %v: %s", args, err, out)
	}
}

// apart waits until a leader that the others do not reach has acknowledged a write of its own client. Each of the
// others must answer 503 meanwhile. apart returns the time until the last of them has. On an overloaded machine a
// leader may lose the group meanwhile; then the others reach its successor.
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
