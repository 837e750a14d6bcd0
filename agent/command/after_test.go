package command

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// TestAfter has something follow the answer, and fail.
func TestAfter(t *testing.T) {
	release := make(chan error)
	b := &bench{}
	held := token
	b.issued.Store(&held)
	s := New(t.Context(), Options{
		Extensions: map[string]Extension{"test": {"leave": {
			Run:   func(context.Context, json.RawMessage) (any, error) { return map[string]int{"n": 1}, nil },
			After: func() error { return <-release },
		}}},
		Token: func() string { return token }, Log: slog.New(slog.DiscardHandler),
	})
	b.Server = httptest.NewServer(s)
	t.Cleanup(b.Close)
	if _, r, text := b.post(t, "&wait=true", "test.leave"); r.Status != agentapi.Succeeded ||
		string(r.Result) != `{"n":1}` {
		t.Fatal(text) // answered before the rest is done
	}
	if status, _, text := b.ask(t, http.MethodPost, "/v1/commands/?agent_token="+token,
		`{"name":"test.leave","params":{}}`); status != http.StatusConflict {
		t.Errorf("another command: %d %s, want it to be refused", status, text)
	}
	release <- errors.New("it did not start")
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		_, _, text := b.ask(t, http.MethodGet, "/v1/commands/?agent_token="+token, "")
		var all agentapi.Results
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatal(err)
		}
		if r := all.Commands[0]; r.Status == agentapi.Failed && r.Error.Details == "it did not start" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%s, want the command to have failed", text)
		}
	}
	if _, r, text := b.post(t, "&wait=true", "test.leave"); r.Status != agentapi.Succeeded {
		t.Error(text)
	}
	release <- nil
}
