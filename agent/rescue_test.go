package agent

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/agent/logbook"
	"github.com/ferrite-metal/ferrite/agent/rescue"
	"github.com/ferrite-metal/ferrite/agent/steps"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// eventually waits for something that only takes time.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

// hashedPassword is "Hello world!" as Ironic sends a rescue password.
const hashedPassword = "$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"

// TestRescue: a password that cannot be used is refused and changes nothing;
// with a good one the answer still arrives, and then the agent is silent.
func TestRescue(t *testing.T) {
	for name, good := range map[string]map[string]any{
		"hashed": {"rescue_password": hashedPassword, "hashed": true},
		"plain":  {"rescue_password": "Hello world!"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConductor(t, true)
			m, _, stop := live(t, c, "")
			agent := c.commander(c.beat())
			for _, bad := range []map[string]any{{}, {"rescue_password": ""},
				{"rescue_password": "$1$old$hash", "hashed": true}, {"rescue_password": 5}} {
				r := agent.send("rescue.finalize_rescue", bad, false)
				if r.Status != agentapi.Failed || r.Error == nil || r.Error.Type != "InvalidCommandParamsError" {
					t.Errorf("%v: %+v", bad, r)
				}
			}
			r := agent.send("rescue.finalize_rescue", good, false)
			if r.Status != agentapi.Succeeded || string(r.Result) != "null" || m.rescued.Load() != 1 {
				t.Fatalf("rescue %+v", r)
			}
			eventually(t, "the command API is closed", func() bool {
				resp, err := agent.client.Get(agent.url + "/v1/status")
				if err == nil {
					resp.Body.Close()
				}
				return err != nil
			})
			eventually(t, "the end of the log is sent", func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return strings.Contains(strings.Join(c.logged, "\n"), "handed over")
			})
			if err := stop(); err == nil || m.down.Load() != 0 {
				t.Errorf("ended with %v; network down %d times", err, m.down.Load())
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if text := strings.Join(c.logged, "\n"); strings.Contains(text, "Hello") || strings.Contains(text, "saltstring") ||
				strings.Contains(text, "$1$old") {
				t.Errorf("a password is in the log:\n%s", text)
			}
		})
	}
}

// TestRescueElsewhere: an agent on another owner's system does not open it.
func TestRescueElsewhere(t *testing.T) {
	p, err := rescue.NewPassword(hashedPassword, true)
	if err != nil {
		t.Fatal(err)
	}
	a := &Agent{rescued: make(chan struct{})}
	if err := a.rescue(p); err == nil || !strings.Contains(err.Error(), "ramdisk") {
		t.Errorf("error %v", err)
	}
	a.Rescue = func(rescue.Password) error { return errors.New("no port") }
	if err := a.rescue(p); err == nil {
		t.Error("a failed rescue counts as done")
	}
	select {
	case <-a.rescued:
		t.Error("the agent ended its service without anybody being let in")
	default:
	}
}

// TestServiceSteps: those there are run by name only, and results have the
// service's own keys.
func TestServiceSteps(t *testing.T) {
	c := newConductor(t, true)
	_, _, _ = live(t, c, "")
	agent := c.commander(c.beat())
	r := agent.send("service.get_service_steps", map[string]any{"node": map[string]any{"uuid": nodeUUID},
		"ports": []any{}}, true)
	var listed agentapi.Steps
	if err := json.Unmarshal(r.Result, &listed); err != nil {
		t.Fatalf("%s: %v", r.Result, err)
	}
	want, err := (&steps.Machine{Root: fstest.MapFS{}}).List(t.Context(), steps.Service, agentapi.CommandNode{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, listed.Service); diff != "" || listed.Clean != nil || listed.Deploy != nil ||
		len(listed.Versions) != 1 {
		t.Errorf("%s\n%s", r.Result, diff)
	}
	step := map[string]any{"interface": "deploy", "step": "erase_devices_metadata", "priority": 0.0, "abortable": false}
	r = agent.send("service.execute_service_step", map[string]any{"step": step, "node": map[string]any{},
		"ports": []any{}, "service_version": nil}, true)
	if r.Status != agentapi.Succeeded {
		t.Fatalf("service step %+v", r.Error)
	}
	equalJSON(t, "service result", r.Result, map[string]any{"service_result": nil, "service_step": step})
	r = agent.send("service.execute_service_step", map[string]any{"step": map[string]any{"step": "burnin_cpu"}}, true)
	if r.Status != agentapi.Failed || r.Error.Type != "HardwareManagerMethodNotFound" {
		t.Errorf("unknown step %+v", r)
	}
}

// TestLogArrives: from the first line on, in order, also after batches that
// the conductor did not take.
func TestLogArrives(t *testing.T) {
	c := newConductor(t, true)
	c.refuseLogs = 1
	_, _, _ = live(t, c, "")
	c.beat()
	eventually(t, "the log arrives", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return strings.Contains(strings.Join(c.logged, "\n"), "command API is open")
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if !strings.Contains(c.logged[0], "node found") {
		t.Errorf("the first line is %q", c.logged[0])
	}
}

// refuser takes no log.
type refuser struct{ t *testing.T }

func (r refuser) Log(context.Context, string, agentapi.LogLines) error {
	r.t.Error("log lines were sent to a conductor that did not ask for them")
	return nil
}

// TestLogStaysHome: for a conductor that did not ask for the log nothing is
// sent or kept.
func TestLogStaysHome(t *testing.T) {
	s := &logbook.Stream{}
	s.Add("line")
	c := newLogShipper(refuser{t}, &state{}, s, slog.New(slog.DiscardHandler))
	c.run(t.Context())
	s.Add("another")
	c.finish(t.Context())
	if _, lines := s.Next(1<<20, 10); lines != nil {
		t.Errorf("kept %q", lines)
	}
}

// taker notes when log lines came.
type taker struct{ at []time.Time }

func (k *taker) Log(context.Context, string, agentapi.LogLines) error {
	k.at = append(k.at, time.Now())
	return nil
}

// TestLogLeavesAtOnce: a machine may be restarted as soon as its agent has called, so its log until then must be on
// its way.
func TestLogLeavesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &logbook.Stream{}
		s.Add("line")
		st := &state{}
		if err := st.adopt(agentapi.LookupReply{Config: agentapi.LookupConfig{FerriteLog: true}}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		start, k := time.Now(), &taker{}
		c := newLogShipper(k, st, s, slog.New(slog.DiscardHandler))
		go c.run(ctx)
		synctest.Wait()
		s.Add("another")
		time.Sleep(shipEvery)
		synctest.Wait()
		if diff := cmp.Diff([]time.Time{start, start.Add(shipEvery)}, k.at); diff != "" {
			t.Errorf("log lines left at (-want +got):\n%s", diff)
		}
	})
}

// stuck never takes a line, and says when it was asked to.
type stuck struct{ asked chan struct{} }

func (s stuck) Log(ctx context.Context, _ string, _ agentapi.LogLines) error {
	s.asked <- struct{}{}
	<-ctx.Done()
	return ctx.Err()
}

// TestLogIsSentBeforeTheEnd: the log of a command is sent when flush returns, without
// waiting for the log shipper's next second. A conductor that accepts nothing delays
// that for a limited time.
func TestLogIsSentBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, st, start := &logbook.Stream{}, &state{}, time.Now()
		if err := st.adopt(agentapi.LookupReply{Config: agentapi.LookupConfig{FerriteLog: true}}); err != nil {
			t.Fatal(err)
		}
		s.Add("command ended")
		k := &taker{}
		newLogShipper(k, st, s, slog.New(slog.DiscardHandler)).flush(t.Context())
		if diff := cmp.Diff([]time.Time{start}, k.at); diff != "" {
			t.Errorf("log lines left at (-want +got):\n%s", diff)
		}
		if _, lines := s.Next(1<<20, 10); lines != nil {
			t.Errorf("still to be sent: %q", lines)
		}
		s.Add("another")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		deaf := stuck{make(chan struct{}, 2)}
		c := newLogShipper(deaf, st, s, slog.New(slog.DiscardHandler))
		go c.run(ctx)
		<-deaf.asked // the log shipper itself is sending, for as long as the conductor likes
		c.flush(t.Context())
		if waited := time.Since(start); waited != shipFlush {
			t.Errorf("held up for %s, want %s", waited, shipFlush)
		}
	})
}
