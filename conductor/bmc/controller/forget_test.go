package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// slowLogin takes its time to log out, and notes when it is in use meanwhile.
type slowLogin struct {
	leaving *atomic.Bool
	takes   time.Duration
}

func (l slowLogin) Logout(context.Context) error {
	l.leaving.Store(true)
	time.Sleep(l.takes)
	l.leaving.Store(false)
	return nil
}

func newSlowPool(leaving *atomic.Bool, takes time.Duration) *Pool[string, slowLogin] {
	return New(Options{Driver: "fakebmc", Log: slog.New(slog.DiscardHandler), CallTimeout: time.Hour,
		Failure: func(error) bool { return true }},
		func(string, string) slowLogin { return slowLogin{leaving, takes} })
}

func (p *Pool[A, L]) known() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.controllers)
}

// TestForgotten: a BMC without further calls leaves nothing behind. A BMC in use, and a BMC in back-off after failures,
// is kept.
func TestForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSlowPool(new(atomic.Bool), 0)
		call := func(address string, takes time.Duration, err error) {
			got := p.Call(t.Context(), address, "u", "look", func(context.Context, slowLogin) error {
				time.Sleep(takes)
				return err
			})
			if !errors.Is(got, err) {
				t.Errorf("%s: %v", address, got)
			}
		}
		for i := range 1000 {
			call(fmt.Sprintf("10.0.%d.%d", i/250, i%250), 0, nil)
		}
		go call("10.9.9.9", 20*time.Minute, nil)
		synctest.Wait()
		if n := p.known(); n != 1001 {
			t.Errorf("%d BMCs are known, want 1001", n)
		}
		time.Sleep(6 * time.Minute)
		if n := p.known(); n != 1 {
			t.Errorf("%d BMCs are known, want the one in use", n)
		}
		time.Sleep(20 * time.Minute)
		if n := p.known(); n != 0 {
			t.Errorf("%d BMCs are known after the last call, want none", n)
		}

		sick := errors.New("sick")
		p.o.MaxBackOff, p.o.BackOff = 8*time.Minute, 8*time.Minute
		call("10.0.0.1", 0, sick)
		time.Sleep(6 * time.Minute)
		if n := p.known(); n != 1 {
			t.Error("a BMC that is let alone was forgotten, and would be asked too early")
		}
		time.Sleep(6 * time.Minute)
		if n := p.known(); n != 0 {
			t.Error("a BMC that was let alone is never forgotten")
		}
	})
}

// TestCalledWhileForgotten: a call that comes while logins are given back waits for
// that, as for any call before it.
func TestCalledWhileForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var leaving atomic.Bool
		p := newSlowPool(&leaving, 10*time.Second)
		look := func(context.Context, slowLogin) error {
			if leaving.Load() {
				t.Error("a login was used while it was given back")
			}
			return nil
		}
		for range 3 {
			if err := p.Call(t.Context(), "10.0.0.1", "u", "look", look); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5*time.Minute + 3*time.Second) // the logout has begun
		}
		if n := p.known(); n != 1 {
			t.Errorf("%d BMCs are known", n)
		}
		time.Sleep(10 * time.Minute)
		if n := p.known(); n != 0 {
			t.Errorf("%d BMCs are known, want none", n)
		}
	})
}
