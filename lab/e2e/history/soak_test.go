//go:build cluster

package history

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/suitetest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

var soak = flag.Duration("soak", 0, "how long the soak lasts; at least 5m")

// The soak's pace.
const (
	livesEvery = 300 * time.Millisecond // 200 a minute
	byAgent    = 4                      // every fourth life has an agent
)

// soaking is a cluster with nodes that are enrolled, deployed, undeployed and deleted, while its conductors are killed.
// One conductor is never killed: it is measured while it leads.
type soaking struct {
	*world
	measured *member
	machines chan *soakMachine // those that are free
	image    image
	lives    atomic.Int64 // those that came to their end
	lost     atomic.Int64
	kills    int
	began    time.Time
}

// killEvery is the time between two kills: a minute, unless the soak is short.
func killEvery() time.Duration { return min(time.Minute, *soak/20) }

// sixth is a part of the soak. In its first half the measured conductor is drained, and whoever leads is killed. In the
// second half it leads, and followers are killed.
func sixth() time.Duration { return *soak / 6 }

// TestSoak: for an hour nodes live, 200 a minute, and a conductor is killed every minute. No life is lost, and at the
// end the conductor that was never killed needs no more than it did after ten minutes; nor does the database.
func TestSoak(t *testing.T) {
	if *soak == 0 {
		t.Skip("make soak")
	}
	suitetest.Need(t, "")
	s := &soaking{world: newWorld(t, "autovacuum=on"), image: serveImage(t), began: time.Now()}
	s.measured = s.members[0]
	s.machines = newSoakMachines(s.world, 32)
	s.busy.Go(s.beginLives)
	samples := s.measure()
	s.killUntilEnd()
	s.stop.Store(true)
	s.busy.Wait()
	grew := samples.compare(t, s.lives.Load())
	s.checkEmpty()
	for _, m := range s.members {
		m.Signal(syscall.SIGTERM)
		m.End()
	}
	t.Logf("log of %s:\n%s", s.measured.Name, s.measured.Tail())
	verdict := map[bool]string{true: "FAILED", false: "ok"}[t.Failed()]
	fmt.Printf("soak: %s %d lives, %d kills, %d lost, memory x %.2f\n", verdict, s.lives.Load(), s.kills, s.lost.Load(),
		grew)
}

// beginLives begins a life after the other, and waits for the end of all.
func (s *soaking) beginLives() {
	for nth := 0; !s.stop.Load(); nth++ {
		time.Sleep(time.Until(s.began.Add(time.Duration(nth) * livesEvery)))
		s.busy.Go(func() {
			if err := s.life(nth); err != nil {
				s.lost.Add(1)
				s.t.Errorf("life %d: %v", nth, err)
				return
			}
			s.lives.Add(1)
		})
	}
}

// life enrolls a node, takes it through its states, and deletes it.
func (s *soaking) life(nth int) error {
	id := fmt.Sprintf("50a4e000-0000-4000-8000-%012x", nth)
	body := map[string]any{"uuid": id, "driver": "fake-hardware", "instance_info": map[string]any{
		"image_source": "http://images/os.raw",
	}}
	if nth%byAgent == 0 {
		m := <-s.machines
		defer func() { s.machines <- m }()
		body = m.body(id, s.image)
		defer m.agent.Power(false)
		if err := s.create("/v1/nodes", body); err != nil {
			return err
		}
		if err := s.create("/v1/ports", map[string]any{"node_uuid": id, "address": m.mac}); err != nil {
			return err
		}
	} else if err := s.create("/v1/nodes", body); err != nil {
		return err
	}
	word := fmt.Sprint(nth)
	patch := []map[string]any{{"op": "add", "path": "/extra/life", "value": word}}
	if err := s.insist(http.MethodPatch, "/v1/nodes/"+id, patch, http.StatusOK); err != nil {
		return err
	}
	for _, stage := range soakStages {
		if err := s.live(id, stage.verb, stage.from, stage.to); err != nil {
			return err
		}
	}
	if err := s.until(id, "its own word", func(n shown) bool { return n.Extra["life"] == word }); err != nil {
		return err
	}
	return s.remove(id)
}

// soakStages is the life of a node between its enrollment and its end.
var soakStages = []struct{ from, verb, to string }{
	{"enroll", "manage", "manageable"}, {"manageable", "provide", "available"}, {"available", "active", "active"},
	{"active", "deleted", "available"},
}

// create makes a node or a port. When the answer was lost, the repeated request conflicts with the record that it made.
func (s *soaking) create(path string, body any) error {
	return s.insist(http.MethodPost, path, body, http.StatusCreated, http.StatusConflict)
}

// remove deletes a node, which is gone once that is acknowledged.
func (s *soaking) remove(id string) error {
	if err := s.insist(http.MethodDelete, "/v1/nodes/"+id, nil, http.StatusNoContent, http.StatusNotFound); err != nil {
		return err
	}
	return s.insist(http.MethodGet, "/v1/nodes/"+id, nil, http.StatusNotFound)
}

// insist asks until the answer is one of those that are wanted. The first one is wanted of an answer at once; the
// others after a try without an answer only.
func (s *soaking) insist(method, path string, body any, want ...int) error {
	var status int
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		unknown := err != nil
		status, err = s.ask("", method, path, body, nil)
		switch {
		case status == want[0]:
			return nil
		case len(want) > 1 && status == want[1] && unknown:
			return nil
		case status == http.StatusOK || len(want) > 1 && status == want[1]:
			return errors.Join(fmt.Errorf("%s %s: expected %d, found %d", method, path, want[0], status), err)
		}
	}
	return fmt.Errorf("%s %s: expected %d, found %d: %w", method, path, want[0], status, err)
}

// killUntilEnd kills a conductor every minute.
func (s *soaking) killUntilEnd() {
	for at := killEvery(); at < *soak; at += killEvery() {
		time.Sleep(time.Until(s.began.Add(at)))
		leads := at%sixth() >= sixth()/2
		s.give(leads)
		victim := s.leader()
		for victim == s.measured {
			victim = s.members[rand.IntN(len(s.members))]
		}
		victim.Signal(syscall.SIGKILL)
		time.Sleep(2 * time.Second)
		s.again(victim)
		s.kills++
		s.t.Logf("%s: %s was killed; %d lives, %d lost", time.Since(s.began).Round(time.Second), victim.Name, s.lives.Load(),
			s.lost.Load())
	}
	time.Sleep(time.Until(s.began.Add(*soak)))
}

// give has the measured conductor lead, or has it lead no longer. A conductor is not drained while no other is alive.
func (s *soaking) give(leads bool) {
	s.t.Helper()
	var err error
	for end := time.Now().Add(patience); (s.leader() == s.measured) != leads; time.Sleep(time.Second) {
		if time.Now().After(end) {
			s.t.Fatalf("%s leads: expected %v: %v", s.measured.Name, leads, err)
		}
		for _, m := range s.members {
			err = errors.Join(err, s.drain(m, (m == s.measured) != leads))
		}
	}
	for _, m := range s.members {
		if m == s.measured && !leads {
			continue
		}
		if err := s.drain(m, false); err != nil {
			s.t.Error(err)
		}
	}
}

func (s *soaking) drain(m *member, drained bool) error {
	return s.insist(http.MethodPut, nodeapi.ConductorsPath+"/"+m.Name+"/drained", map[string]any{"drained": drained},
		http.StatusNoContent)
}
