package agents

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/exchange"
)

// TestLargeAnswers: lists of commands and logs may be large, other answers not. The answers of all agents share one
// room, and each gives its part back.
func TestLargeAnswers(t *testing.T) {
	var size atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one := fmt.Sprintf(`{"command_name":%q}`, strings.Repeat("x", int(size.Load())))
		if r.Method == http.MethodGet {
			one = `{"commands":[` + one + `]}`
		}
		fmt.Fprint(w, one)
	}))
	defer srv.Close()
	c := NewClient(ClientOptions{PlainHTTP: true})
	defer c.Close()
	n := of(node.Agent{URL: srv.URL, Token: agentToken})
	list := func() error { _, err := c.Commands(t.Context(), n); return err }
	execute := func(name string) error { _, err := c.Execute(t.Context(), n, command(name), true); return err }
	size.Store(maxAnswer)
	for range 2 {
		if err := errors.Join(list(), execute("log.collect_system_logs")); err != nil {
			t.Errorf("a large list, or log: %v", err)
		}
	}
	if err := execute("clean.get_clean_steps"); err == nil || !strings.Contains(err.Error(), "more than 4 MiB") {
		t.Errorf("a large list of steps: %v", err)
	}
	size.Store(exchange.FreeAnswer)
	if err := execute("clean.get_clean_steps"); err != nil {
		t.Errorf("a long answer: %v", err)
	}
	all := io.LimitReader(zeros{}, largeRoom)
	if _, _, err := c.large.Read(t.Context(), all, largeRoom-1, nil); err != nil {
		t.Errorf("room is held by no answer: %v", err)
	}
	if _, _, err := c.room.Read(t.Context(), zeros{}, agentRoom+exchange.FreeAnswer-1, nil); err != nil {
		t.Errorf("room is held by no answer: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestManyValues: an answer of small values, which take hundreds of times their bytes once they are decoded, is refused
// before.
func TestManyValues(t *testing.T) {
	steps := `{"command_status":"SUCCEEDED","command_result":{"clean_steps":{"H":[{}` + strings.Repeat(",{}", 1<<20) + `]}}}`
	list := `{"commands":[{}` + strings.Repeat(",{}", 1<<20) + `]}`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, map[string]string{http.MethodGet: list, http.MethodPost: steps}[r.Method])
	}))
	defer srv.Close()
	c := NewClient(ClientOptions{PlainHTTP: true})
	defer c.Close()
	n := of(node.Agent{URL: srv.URL, Token: agentToken})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := c.Commands(t.Context(), n)
	_, stepsErr := c.Execute(t.Context(), n, command("clean.get_clean_steps"), true)
	runtime.ReadMemStats(&after)
	for _, err := range []error{err, stepsErr} {
		if err == nil || !strings.Contains(err.Error(), "more than 50000 values") {
			t.Error(err)
		}
	}
	if spent := (after.TotalAlloc - before.TotalAlloc) >> 20; spent > 100 {
		t.Errorf("%d MB were taken", spent)
	}
}
