package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/host"
	"github.com/ferrite-metal/ferrite/conductor/host/reconciler"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

var quiet = slog.New(slog.DiscardHandler)

// filled sets every field of a value that can be.
func filled(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if at, ok := v.Addr().Interface().(*time.Time); ok {
			*at = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				filled(v.Field(i))
			}
		}
	case reflect.Pointer:
		if v.Type().Elem() == v.Type() {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.Set(reflect.ValueOf(json.RawMessage(`{"raw":1}`)))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		of := reflect.New(v.Type().Elem()).Elem()
		filled(of)
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), of)
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"text": "a", "list": []any{1.5, true, nil}}))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(7)
	case reflect.Uint64, reflect.Uint8, reflect.Uint32:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(1.5)
	default:
		panic("a field of kind " + v.Kind().String())
	}
}

// TestActions: every action reaches the other side as it was, with every field.
func TestActions(t *testing.T) {
	for name, of := range actions {
		sent := reflect.New(of)
		filled(sent.Elem())
		a, _ := sent.Elem().Interface().(host.Action)
		o, err := orderOf(node.Node{UUID: "n1", Revision: 7}, a)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		var read order
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		got, err := read.action()
		if diff := cmp.Diff(a, got); diff != "" || err != nil || read.Node != "n1" || read.Revision != 7 {
			t.Errorf("%s: %v (-sent +got):\n%s", name, err, diff)
		}
		_, err = reconciler.Act(t.Context(), &leader{}, "n1", got)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (&order{Action: "Explode"}).action(); err == nil || !strings.Contains(err.Error(), "upgrade") {
		t.Errorf("an unknown action: %v", err)
	}
}

// leader is a conductor that acts, or refuses to.
type leader struct {
	refuses error
	panics  bool
	at      []int64 // revisions that were expected
}

func (l *leader) act(ctx context.Context) error {
	var refused *node.Refusal
	for r := range int64(100) { // which revision ctx expects can only be found out
		if err := node.CheckRevision(ctx, &node.Node{Revision: r}); !errors.As(err, &refused) {
			l.at = append(l.at, r)
			break
		}
	}
	return l.refuses
}

func (l *leader) CreateNode(ctx context.Context, n node.Node) (node.Node, error) {
	n.UUID = "made"
	return n, l.act(ctx)
}
func (l *leader) UpdateNode(ctx context.Context, _ string, edit func(*node.Node) error) (n node.Node, err error) {
	n.Revision = 7
	return n, errors.Join(edit(&n), l.act(ctx))
}
func (l *leader) CreatePort(ctx context.Context, p node.Port) (node.Port, error) {
	return p, l.act(ctx)
}
func (l *leader) Provision(ctx context.Context, _ string, _ plan.Request) error { return l.act(ctx) }
func (l *leader) SetPower(ctx context.Context, _ string, _ node.PowerState, _ time.Duration) error {
	return l.act(ctx)
}
func (l *leader) TryPower(ctx context.Context, _ string, _ node.PowerState) error { return l.act(ctx) }
func (l *leader) SetMaintenance(ctx context.Context, _ string, _ bool, _ string) error {
	return l.act(ctx)
}
func (l *leader) SetTargetRAIDConfig(ctx context.Context, _ string, _ map[string]any) error {
	return l.act(ctx)
}
func (l *leader) MediaSlots(ctx context.Context, _ string) ([]node.MediaSlot, error) {
	return []node.MediaSlot{{Types: []string{"CD"}}}, l.act(ctx)
}
func (l *leader) AttachMedium(ctx context.Context, _ string, _ node.Medium) error { return l.act(ctx) }
func (l *leader) DetachMedia(ctx context.Context, _ string, _ []string) error     { return l.act(ctx) }
func (l *leader) DeleteNode(ctx context.Context, _ string) error {
	if l.panics {
		panic("a planted fault")
	}
	return l.act(ctx)
}

// room is a cluster with the groups of its map, some of which have a leader.
type room map[string]bool

func (r room) Groups() (all []string) {
	for g := range r {
		all = append(all, g)
	}
	return all
}
func (r room) Led(group string) bool   { return r[group] }
func (r room) Looked() <-chan struct{} { return nil }

// wired is a caller before a handler.
func wired(h http.Handler) *Caller {
	return NewCaller(Config{Log: quiet, Room: room{"rack-a": true}, Patience: node.DefaultPatience(),
		Count: func(_ context.Context, groups []string, _ map[node.State]bool) (int, error) { return len(groups), nil },
		Call: func(ctx context.Context, _, path string, body []byte) ([]byte, error) {
			q := httptest.NewRequestWithContext(ctx, http.MethodPost, "/cluster/"+path, strings.NewReader(string(body)))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, q)
			if w.Code != http.StatusOK {
				return nil, errors.New(w.Body.String())
			}
			return w.Body.Bytes(), nil
		}})
}

func plainly(_ http.ResponseWriter, r *http.Request, _ string) ([]byte, error) {
	return io.ReadAll(r.Body)
}

// TestAct: a leader acts at the revision that was decided on; its refusals arrive as they were, and its failures are
// those of a node alone. A call that is not read is called away.
func TestAct(t *testing.T) {
	l := &leader{}
	c := wired(Server("/cluster/", plainly, l))
	n := node.Node{UUID: "n1", Revision: 7}
	if uuid, err := c.Act(t.Context(), "rack-a", n, host.DeleteNode{}); err != nil || uuid != "n1" {
		t.Errorf("acted on %q, %v", uuid, err)
	}
	if uuid, err := c.Act(t.Context(), "rack-a", node.Node{}, host.CreateNode{}); err != nil || uuid != "made" {
		t.Errorf("made %q, %v", uuid, err)
	}
	if diff := cmp.Diff([]int64{7, 0}, l.at); diff != "" {
		t.Errorf("revisions (-want +got):\n%s", diff)
	}
	if slots, err := c.MediaSlots(t.Context(), "rack-a", n); err != nil || len(slots) != 1 {
		t.Errorf("slots %v, %v", slots, err)
	}
	for _, want := range []error{
		node.Refuse(node.NotFound, "Node n1 could not be found."), node.Refuse(node.Locked, "busy"),
		&node.MachineTakenError{Machine: node.Machine{Driver: "ipmi", Endpoint: "a:1"}, Other: "n2"},
		&node.OtherGroupError{Node: "n1", Group: "rack-b"},
	} {
		l.refuses = want
		_, err := c.Act(t.Context(), "rack-a", n, host.DeleteNode{})
		var is, refused *node.Refusal
		if !errors.As(err, &is) || !errors.As(want, &refused) || *is != *refused {
			t.Errorf("a refusal %v arrives as %v", want, err)
		}
		var taken *node.MachineTakenError
		if errors.As(want, &taken) && (!errors.As(err, &taken) || taken.Other != "n2") {
			t.Errorf("the other node is lost in %v", err)
		}
	}
	var away *reconciler.AwayError
	l.refuses = errors.New("the disk is full")
	for _, want := range []string{"the disk is full", "a planted fault"} {
		if _, err := c.Act(t.Context(), "rack-a", n, host.DeleteNode{}); err == nil || errors.As(err, &away) ||
			!strings.Contains(err.Error(), want) || len(c.reach.groups) > 0 {
			t.Errorf("a failure arrives as %v, expected %s", err, want)
		}
		l.panics = true
	}
	c = wired(Server("/cluster/", func(http.ResponseWriter, *http.Request, string) ([]byte, error) {
		return nil, errors.New("late")
	}, l))
	if _, err := c.Act(t.Context(), "rack-a", n, host.DeleteNode{}); !errors.As(err, &away) ||
		!strings.Contains(err.Error(), "late") {
		t.Errorf("a late call: %v", err)
	}
	c.Call = func(context.Context, string, string, []byte) ([]byte, error) {
		return nil, &http.MaxBytesError{Limit: 1}
	}
	if _, err := c.Act(t.Context(), "rack-a", n, host.DeleteNode{}); err == nil || errors.As(err, &away) {
		t.Errorf("an order that is too large: %v", err)
	}
}

// TestNoAnswer: a call to a leader that is frozen ends, however long a BMC may take.
func TestNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		frozen := func(ctx context.Context, _, _ string, _ []byte) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		c := NewCaller(Config{Log: quiet, Room: room{"rack-a": true}, Call: frozen, Patience: node.DefaultPatience()})
		n := node.Node{UUID: "n1", DriverInfo: map[string]any{"bmc_call_timeout": 200}}
		var away *reconciler.AwayError
		began := time.Now()
		if _, err := c.Act(t.Context(), "rack-a", n, host.DeleteNode{}); !errors.As(err, &away) ||
			time.Since(began) != actTime {
			t.Errorf("an act ended after %s with %v", time.Since(began), err)
		}
		if why := c.Away("rack-a"); !strings.Contains(why, "does not answer") {
			t.Errorf("away for %q", why)
		}
		began = time.Now()
		if _, err := c.MediaSlots(t.Context(), "rack-a", n); !errors.As(err, &away) ||
			time.Since(began) != 200*time.Second+actTime {
			t.Errorf("a question ended after %s with %v", time.Since(began), err)
		}
	})
}

// TestCountNodes: nodes of groups that nobody leads are not at work, but for those whose leader has just ended.
func TestCountNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := wired(nil)
		c.Room = room{"rack-a": true, "rack-b": false}
		c.reach.room = c.Room
		for _, want := range []int{2, 1} {
			if count, err := c.CountNodes(t.Context(), nil); count != want || err != nil {
				t.Errorf("counted those of %d groups, %v, want %d", count, err, want)
			}
			time.Sleep(patience)
		}
	})
}

// TestReach: a group without a leader is away after a while, an unknown one too; a leader that does not answer is tried
// again all the same.
func TestReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := room{"led": true, "dead": false}
		r := newReach(of, quiet)
		if changed := r.changes(); len(changed) > 0 || r.away("dead") != "" || r.away("unknown") != "" {
			t.Errorf("away at once: %v", changed)
		}
		fail := func() { r.failed("led", time.Now(), errors.New("cut off")) }
		fail()
		time.Sleep(patience)
		if r.away("led") != "" {
			t.Error("a call that failed long ago is not tried again")
		}
		fail()
		for group, want := range map[string]string{"led": "does not answer", "dead": "start or undrain",
			"unknown": hostapi.AnnotationGroup} {
			if got := r.away(group); !strings.Contains(got, want) || !strings.Contains(got, group) {
				t.Errorf("%s is away for %q", group, got)
			}
		}
		if changed := r.changes(); len(changed) != 3 {
			t.Errorf("changed: %v", changed)
		}
		of["dead"] = true
		r.answered("led")
		if r.away("led") != "" || r.away("dead") != "" {
			t.Error("still away")
		}
		if changed := r.changes(); len(changed) != 2 {
			t.Errorf("changed: %v", changed)
		}
		of["dead"] = false
		if r.away("dead") != "" {
			t.Error("away at once again")
		}
	})
}

// TestForgottenTrouble: a call that failed long ago says nothing of the next one, and what nobody asks about is
// forgotten.
func TestForgottenTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReach(room{"led": true}, quiet)
		fail := func() { r.failed("led", time.Now(), errors.New("cut off")) }
		began := time.Now()
		time.Sleep(time.Minute)
		r.answered("led")
		if r.failed("led", began, errors.New("too late")); r.away("led") != "" {
			t.Error("away for a call that was slower than others")
		}
		time.Sleep(patience + time.Second)
		fail()
		if why := r.away("led"); why != "" {
			t.Errorf("away at once for %q", why)
		}
		time.Sleep(patience + time.Second)
		if r.changes(); len(r.groups) > 0 {
			t.Errorf("an old failure is kept: %v", r.groups)
		}
		for range 2 {
			fail()
			time.Sleep(patience)
		}
		fail()
		r.away("unknown")
		if changed := r.changes(); len(changed) != 1 {
			t.Errorf("changed: %v", changed)
		}
		time.Sleep(unasked + time.Second)
		if r.changes(); len(r.groups) > 0 {
			t.Errorf("trouble is kept that nobody asks about: %v", r.groups)
		}
	})
}

// hosts are who looks at hosts.
type hosts struct{ heard []string }

func (h *hosts) NodeChanged(n node.Node) {
	h.heard = append(h.heard, n.UUID+" "+string(n.ProvisionState))
}
func (h *hosts) GroupChanged(group string) { h.heard = append(h.heard, "all of "+group) }

// TestTeller: the leader of the default group is told of all that has changed, in the end.
func TestTeller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hosts{}
		listener := Listener("/cluster/", func(_ http.ResponseWriter, r *http.Request, group string) ([]byte, error) {
			if group != "rack-a" {
				return nil, errors.New("another group")
			}
			return io.ReadAll(r.Body)
		}, h)
		var cut atomic.Bool
		cut.Store(true)
		caller := wired(listener)
		teller := NewTeller("rack-a", func(ctx context.Context, group, path string, body []byte) ([]byte, error) {
			if cut.Load() || group != Default {
				return nil, errors.New("cut off")
			}
			return caller.Call(ctx, group, path, body)
		}, quiet)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			teller.Run(ctx)
		}()
		teller.NodeChanged(node.Node{UUID: "n1", ProvisionState: node.Deploying})
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(h.heard) > 0 {
			t.Errorf("heard %v while cut off", h.heard)
		}
		teller.NodeChanged(node.Node{UUID: "n1", ProvisionState: node.Active})
		cut.Store(false)
		time.Sleep(time.Second)
		synctest.Wait()
		teller.NodeChanged(node.Node{UUID: "n2"})
		time.Sleep(time.Second)
		stop()
		<-done
		if diff := cmp.Diff([]string{"all of rack-a", "n1 active", "n2 "}, h.heard); diff != "" {
			t.Errorf("heard (-want +got):\n%s", diff)
		}
	})
}
