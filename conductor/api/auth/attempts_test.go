package auth

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestGuessing: an address with many wrong passwords is refused. Other addresses are not, and neither is a user at that
// address with a remembered password or a token.
func TestGuessing(t *testing.T) {
	h, token := newHouse(t)
	alice, guess := basic("alice", "wonder"), basic("alice", "guess")
	h.ask("10.0.0.1", "Authorization", alice)
	got := map[string]int{}
	for range 30 {
		status, _, _ := strings.Cut(h.ask("10.0.0.1", "Authorization", guess), " ")
		got[status]++
	}
	if diff := cmp.Diff(map[string]int{"401": 20, "429": 10}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	for name, s := range map[string][3]string{
		"another address":       {"10.0.0.2", guess, wanted},
		"remembered":            {"10.0.0.1", alice, "alice admin "},
		"a token":               {"10.0.0.1", "Bearer " + token, "bob reader blue"},
		"a token that is wrong": {"10.0.0.1", "Bearer x", "429 "},
	} {
		if got := h.ask(s[0], "Authorization", s[1]); got != s[2] {
			t.Errorf("%s: %q, want %q", name, got, s[2])
		}
	}
	h.now = h.now.Add(2 * time.Second)
	if got := h.ask("10.0.0.1", "Authorization", guess); got != wanted {
		t.Errorf("later: %q", got)
	}
}

// TestGuessingAtOnce: no more guesses are checked in parallel than in sequence, and a right password leaves no trace in
// the count.
func TestGuessingAtOnce(t *testing.T) {
	h, _ := newHouse(t)
	for i := range 30 { // each forgotten, so that it is looked at
		h.now = h.now.Add(knownFor)
		if got := h.ask("10.0.0.1", "Authorization", basic("alice", "wonder")); got != "alice admin " {
			t.Fatalf("login %d: %q", i, got)
		}
	}
	var all sync.WaitGroup
	var looked, turnedAway atomic.Int32
	for i := range 60 {
		all.Go(func() {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/nodes", nil)
			r.RemoteAddr = "10.0.0.1:1000"
			r.SetBasicAuth("alice", fmt.Sprint("guess ", i))
			_, err := h.Authenticate(httptest.NewRecorder(), r)
			var fault *nodeapi.Fault
			if errors.As(err, &fault) && fault.Status == http.StatusUnauthorized {
				looked.Add(1)
			} else if fault != nil && fault.Status == http.StatusTooManyRequests {
				turnedAway.Add(1)
			}
		})
	}
	all.Wait()
	if looked.Load() != 20 || turnedAway.Load() != 40 {
		t.Errorf("%d of 60 guesses were looked at and %d turned away, want 20 and 40", looked.Load(), turnedAway.Load())
	}
	if !strings.Contains(h.log.String(), "user=alice from=10.0.0.1") {
		t.Errorf("the log does not name the account:\n%s", &h.log)
	}
}

// TestGuessingOneAccount: guesses at an account from many addresses are limited, and lock
// out neither their user at an address of an earlier login, nor other users.
func TestGuessingOneAccount(t *testing.T) {
	h, _ := newHouse(t)
	alice := basic("alice", "wonder")
	h.ask("10.9.9.9", "Authorization", alice)
	got := map[string]int{}
	for i := range 120 {
		status, _, _ := strings.Cut(h.ask(fmt.Sprintf("10.0.1.%d", i), "Authorization", basic("alice", "guess")), " ")
		got[status]++
	}
	if diff := cmp.Diff(map[string]int{"401": 100, "429": 20}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	h.passwords.Get().known = newMemory(knownFor) // forgotten
	for name, s := range map[string][3]string{
		"a new address of hers": {"10.9.9.8", basic("alice", "guess"), "429 "},
		"her own address":       {"10.9.9.9", alice, "alice admin "},
		"another user":          {"10.0.1.1", basic("bob", "build:er"), "bob reader blue"},
		"nobody":                {"10.0.1.2", basic("mallory", "x"), wanted},
	} {
		if got := h.ask(s[0], "Authorization", s[1]); got != s[2] {
			t.Errorf("%s: %q, want %q", name, got, s[2])
		}
	}
}

// TestGuessingFromOneNetwork: addresses of one IPv6 /64 share a limit.
func TestGuessingFromOneNetwork(t *testing.T) {
	h, _ := newHouse(t)
	got := map[string]int{}
	for i := range 30 {
		status, _, _ := strings.Cut(h.ask(fmt.Sprintf("2001:db8::%d", i), "Authorization", basic("alice", "guess")), " ")
		got[status]++
	}
	if diff := cmp.Diff(map[string]int{"401": 20, "429": 10}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if got := h.ask("2001:db8:0:1::1", "Authorization", basic("alice", "guess")); got != wanted {
		t.Errorf("another network: %q, want %q", got, wanted)
	}
}
