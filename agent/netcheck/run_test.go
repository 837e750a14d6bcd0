package netcheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// segment answers ARP for its hosts, as a Wire.
type segment struct {
	mu    sync.Mutex
	hosts map[netip.Addr]bool
	heard *Heard
}

func (s *segment) Send(frame []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if target := netip.AddrFrom4([4]byte(frame[len(frame)-4:])); s.hosts[target] {
		reply, err := Request(other, 0, target, own.Addr())
		if err != nil {
			return err
		}
		s.heard.Add(reply, 0)
	}
	return nil
}

func (s *segment) Heard() *Heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard.Clone()
}

func (s *segment) Forget(tag int, a netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard.Forget(tag, a)
}

func (s *segment) Close() {}

func (s *segment) set(a netip.Addr, up bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts[a] = up
}

// TestTwoRouters: the routes of a router that dies are put behind, the other one is named,
// and the first is used again once it answers.
func TestTwoRouters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &segment{hosts: map[netip.Addr]bool{one: false, two: true}, heard: NewHeard()}
		var log bytes.Buffer
		var moves []string
		var shown []Finding
		l := tagged(0, one, two)
		c := Checker{Links: func() ([]Link, error) { return []Link{l}, nil },
			Open:      func(string) (Wire, error) { return s, nil },
			AskServer: func(context.Context, netip.Addr) error { return nil },
			Conductor: func(context.Context) []Answer { return []Answer{{Subject: "http://c", Stage: "HTTP"}} },
			Report:    func(failed []Finding) { shown = failed },
			Demote: func(link string, r netip.Addr, dead bool) error {
				moves = append(moves, fmt.Sprintf("%s %s %t", link, r, dead))
				return nil
			}, Log: slog.New(slog.NewTextHandler(&log, nil))}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { c.Run(ctx) })
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []string{"eth0.100 192.0.2.1 true"}; !slices.Equal(moves, want) {
			t.Errorf("moves %v, want %v", moves, want)
		}
		if len(shown) != 1 || shown[0].Subject != "router 192.0.2.1 on eth0.100" {
			t.Errorf("shown %v", shown)
		}
		for _, want := range []string{"router does not answer; another one is used", "instead=192.0.2.2",
			"network check fails"} {
			if n := strings.Count(log.String(), want); n != 1 {
				t.Errorf("%q is in the log %d times:\n%s", want, n, log.String())
			}
		}
		s.set(one, true)
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := "eth0.100 192.0.2.1 false"; moves[len(moves)-1] != want || len(moves) != 2 || len(shown) != 0 {
			t.Errorf("moves %v, shown %v", moves, shown)
		}
		if !strings.Contains(log.String(), "network checks passed") {
			t.Error(log.String())
		}
		s.set(one, false) // watched from now on, each minute
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if len(moves) != 3 {
			t.Errorf("moves %v after the router died again", moves)
		}
		cancel()
		wg.Wait()
	})
}

// TestFirstRouterDead: the other router is used before the conductor is asked for the first time, as soon
// as the addresses are set.
func TestFirstRouterDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &segment{hosts: map[netip.Addr]bool{two: true}, heard: NewHeard()}
		start, l := time.Now(), tagged(0, one, two)
		var moved, asked time.Duration
		c := Checker{Links: func() ([]Link, error) {
			if time.Since(start) < time.Second {
				return nil, nil // no address yet
			}
			return []Link{l}, nil
		},
			Open:      func(string) (Wire, error) { return s, nil },
			AskServer: func(context.Context, netip.Addr) error { return nil },
			Conductor: func(context.Context) []Answer {
				asked = time.Since(start)
				return []Answer{{Subject: "http://c", Stage: "HTTP"}}
			},
			Report: func([]Finding) {},
			Demote: func(_ string, r netip.Addr, dead bool) error {
				if r != one || !dead {
					t.Errorf("demoted %s %t", r, dead)
				}
				moved = time.Since(start)
				return nil
			}, Log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithTimeout(t.Context(), failing+time.Second)
		defer cancel()
		c.Run(ctx)
		if moved == 0 || moved > asked || moved > time.Second+asks*askWait+askWait {
			t.Errorf("the routes moved after %s, the conductor was asked after %s", moved, asked)
		}
	})
}

// TestNoLinkAtAll: a card that never gets its address keeps no check from being made.
func TestNoLinkAtAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown []Finding
		c := Checker{Links: func() ([]Link, error) { return nil, nil },
			AskServer: func(context.Context, netip.Addr) error { return nil },
			Conductor: func(context.Context) []Answer {
				return []Answer{{Subject: "http://c", Stage: "TCP", Err: errors.New("unreachable")}}
			},
			Report: func(failed []Finding) { shown = failed }, Log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c.Run(ctx)
		if len(shown) != 1 {
			t.Errorf("shown %v, want the conductor's check", shown)
		}
	})
}
