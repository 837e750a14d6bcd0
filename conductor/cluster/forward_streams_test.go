package cluster

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// TestForwardedStreamsHavePlaces: an answer without an end that a member passes on takes one of its connections, and so
// one of its places. It is refused when there is none, and ends in order for another reader. A request that the leader
// refuses takes no place.
func TestForwardedStreamsHavePlaces(t *testing.T) {
	k := testKey(t, "k1")
	leader, inner := newMember(t, "leader", k)
	other, _ := newMember(t, "other", k)
	other.front.streams = connlimit.NewStreams(connlimit.StreamLimits{All: 1, Loopback: 2}, nil)
	if _, err := other.front.streams.Open(connlimit.Reader{User: "eve"}, nil); err != nil {
		t.Fatal(err)
	}
	leader.leads(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Auth-Token") != "" {
			if got := other.front.streams.Counts().Open["forwarded"]; got != 0 {
				t.Errorf("%d places are taken before anybody knows whose they are", got)
			}
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, "begun\n")
		_ = http.NewResponseController(w).Flush()
		if r.URL.RawQuery != "" {
			select {
			case <-r.Context().Done():
			case <-time.After(time.Minute):
				t.Error("the leader goes on")
			}
		}
	}))
	other.sees("leader", inner, 1)
	stranger := func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, other.outer.URL+"/apis/x?watch=true", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"X-Auth-Token": {"wrong"}}
		answer, err := http.DefaultClient.Do(r)
		if err != nil || answer.StatusCode != http.StatusUnauthorized {
			t.Fatalf("a stranger is answered %v, %v", answer, err)
		}
		answer.Body.Close()
	}
	stranger()
	begun, ended := make(chan string, 1), make(chan string, 1)
	go func() {
		answer, err := http.Get(other.outer.URL + "/ferrite/v1/events?follow=true")
		if err != nil {
			t.Error(err)
			return
		}
		defer answer.Body.Close()
		first := make([]byte, len("begun\n"))
		if _, err := io.ReadFull(answer.Body, first); err != nil {
			t.Error(err)
		}
		begun <- string(first)
		rest, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Error(err)
		}
		ended <- string(rest)
	}()
	if text := <-begun; text != "begun\n" || other.front.streams.Counts().Open["forwarded"] != 1 {
		t.Fatalf("a forwarded stream begins with %q and has %v", text, other.front.streams.Counts())
	}
	for _, user := range []string{"127.0.0.1", "bob"} {
		if _, err := other.front.streams.Open(connlimit.Reader{User: user, Local: true}, func(error) {}); err != nil {
			t.Fatal(err)
		}
	}
	if text := <-ended; text != "" {
		t.Errorf("it ends with %q", text)
	}
	answer, text, err := get(t, other.outer.URL+"/apis/x?watch=true")
	if err != nil || answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "the loopback: 2") {
		t.Errorf("one more: %s %s, %v", answer.Status, text, err)
	}
	if answer, text, err := get(t, other.outer.URL+"/v1/nodes"); err != nil || text != "begun\n" {
		t.Errorf("an answer with an end: %s %s, %v", answer.Status, text, err)
	}
	stranger()
}

// TestForwardedFailure: a request that the member ends itself, for any reason, is answered with an error. net/http
// would make an empty 200 of a handler's silence.
func TestForwardedFailure(t *testing.T) {
	m, _ := newMember(t, "member", testKey(t, "k1"))
	for _, why := range []error{&connlimit.GaveWayError{}, errLeaderChanged, io.ErrUnexpectedEOF} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		w := httptest.NewRecorder()
		m.front.failed(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/nodes", nil), ctx.Err())
		if w.Code != http.StatusServiceUnavailable || w.Body.Len() == 0 {
			t.Errorf("%v: %d %q", why, w.Code, w.Body)
		}
	}
}
