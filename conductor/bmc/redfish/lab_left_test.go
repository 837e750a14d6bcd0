package redfish_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/outbound/dial"
	lab "github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

// remembered are the sessions of leaders, in memory. The present leader's sessions are not left ones.
type remembered struct {
	mu   sync.Mutex
	open map[redfish.Session]int // the leader that opened it
	now  int
	err  error
}

func (r *remembered) Left(context.Context, string, string) (left []redfish.Session, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s, by := range r.open {
		if by < r.now {
			left = append(left, s)
		}
	}
	return left, r.err
}

func (r *remembered) Opened(_ context.Context, address, user string, s redfish.Session) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if address == "" || user != redfishtest.User || s.Path == "" || s.Token == "" {
		return errors.New("a session lacks something")
	}
	r.open[s] = r.now
	return r.err
}

func (r *remembered) Closed(_ context.Context, _, _ string, s redfish.Session) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, s)
	return r.err
}

// TestSessionsOfTheLastLeader: each of three leaders that are killed one after the other leaves a session; the next
// one ends it before it logs in, at a BMC that has room for two. In order none is left.
func TestSessionsOfTheLastLeader(t *testing.T) {
	b := newBench(t)
	r := &remembered{open: map[redfish.Session]int{}}
	var leaders []*redfish.Driver
	for r.now = range 4 {
		leaders = append(leaders, newDriver(t, redfish.Options{Sessions: r}))
		for range 2 {
			if _, err := leaders[r.now].PowerState(t.Context(), b.node(redfishtest.Password)); err != nil {
				t.Fatal(err)
			}
		}
		if c := b.Counters(); c.Sessions != 1 || c.Logins != r.now+1 || len(r.open) != 1 {
			t.Errorf("leader %d: %+v, %d are remembered, want one of each", r.now, c, len(r.open))
		}
	}
	if err := leaders[3].Close(); err != nil || b.Counters().Sessions != 0 || len(r.open) != 0 {
		t.Errorf("after the end: %v, %+v, %d are remembered", err, b.Counters(), len(r.open))
	}
}

// TestSessionsThatCannotBeRemembered: a session that has ended already is forgotten, and a failing database does not
// prevent the login.
func TestSessionsThatCannotBeRemembered(t *testing.T) {
	b := newBench(t)
	gone := redfish.Session{Path: "/redfish/v1/SessionService/Sessions/99", Token: "gone"}
	r := &remembered{open: map[redfish.Session]int{gone: 0}, now: 1}
	_, err := newDriver(t, redfish.Options{Sessions: r}).PowerState(t.Context(), b.node(redfishtest.Password))
	if err != nil {
		t.Fatal(err)
	}
	if _, still := r.open[gone]; still || len(r.open) != 1 {
		t.Errorf("%v are remembered", r.open)
	}
	r.err = errors.New("no database")
	_, err = newDriver(t, redfish.Options{Sessions: r}).PowerState(t.Context(), b.node(redfishtest.Password))
	if err != nil {
		t.Error(err)
	}
}

// TestSessionMadeTooLate: a BMC that makes a session when its answer is not waited for any longer does not keep it.
func TestSessionMadeTooLate(t *testing.T) {
	b := newBench(t)
	err := b.SetFault(lab.Fault{Kind: lab.Slow, Delay: 400 * time.Millisecond, Times: 1, Method: http.MethodPost,
		PathPrefix: "/redfish/v1/SessionService/Sessions"})
	if err != nil {
		t.Fatal(err)
	}
	d := newDriver(t, redfish.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if p, err := d.PowerState(ctx, b.node(redfishtest.Password)); err == nil {
		t.Errorf("the machine is %s, expected no answer in time", p)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if c := b.Counters(); c.Logins != 1 || c.Sessions != 0 {
		t.Errorf("%+v, expected one login and no session", c)
	}
}

// TestSessionOfNoLeader: a session that could not be remembered, since its leader leads no more, is ended by that
// leader itself, which may send nothing else. A remembered session is left to the next leader.
func TestSessionOfNoLeader(t *testing.T) {
	superseded := errors.New("another leads")
	for name, tc := range map[string]struct {
		remember error
		left     int
	}{"remembered": {nil, 1}, "not remembered": {superseded, 0}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			var leads atomic.Bool
			leads.Store(true)
			check := func() error {
				if !leads.Load() {
					return superseded
				}
				return nil
			}
			r := &remembered{open: map[redfish.Session]int{}, err: tc.remember}
			d := newDriver(t, redfish.Options{Sessions: r, Dialer: dial.Checked(&net.Dialer{}, check)})
			if _, err := d.PowerState(t.Context(), b.node(redfishtest.Password)); err != nil {
				t.Fatal(err)
			}
			leads.Store(false)
			before := b.Counters().Requests
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			if c := b.Counters(); c.Sessions != tc.left || c.Requests-before != 1-tc.left {
				t.Errorf("%+v after %d requests, expected %d sessions", c, before, tc.left)
			}
		})
	}
}
