package events

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// logOf is a log of the events of an empty store, and of one node.
func logOf(t *testing.T) *Log {
	t.Helper()
	l, err := New(t.Context(), Config{Store: mem.New(), Log: slog.New(slog.DiscardHandler), Keep: 10, Age: time.Hour,
		Conductor: "c1", By: func(context.Context) (string, string) { return "alice", "blue" },
		Node: func(_ context.Context, ref string) (node.Node, error) {
			if ref != "n1" {
				return node.Node{}, node.ErrNotFound
			}
			return node.Node{UUID: ref, ProvisionState: node.Deploying}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestReport: a boot stage and progress reach the current followers. Reports of a deleted node, and reports without
// followers, are dropped.
func TestReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := logOf(t)
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan struct{})
		go func() {
			defer close(ran)
			l.Run(ctx)
		}()
		l.Report("n1", &core.BootStage{Name: "nobody follows"}, nil)
		var lines []string
		followed := make(chan error)
		go func() {
			followed <- l.Follow(ctx, Query{Wait: -1}, func(found []Event) error {
				for _, e := range found {
					lines = append(lines, fmt.Sprintf("%s %s %s", e.Type, e.Node, e.Line))
				}
				return nil
			})
		}()
		synctest.Wait()
		l.Report("gone", &core.BootStage{Name: "kernel"}, nil)
		l.Report("n1", &core.BootStage{Name: "kernel"}, nil)
		l.Report("n1", nil, &agentapi.Progress{Step: "write_image", Done: 3, Total: 9})
		synctest.Wait()
		stop()
		if err := <-followed; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		<-ran
		want := []string{`boot.stage n1 .*"kernel"`, `step.progress n1 .*"write_image"`}
		if len(lines) != len(want) {
			t.Fatalf("heard %q, want %q", lines, want)
		}
		for i, w := range want {
			head, tail, _ := strings.Cut(w, ".*")
			if !strings.HasPrefix(lines[i], head) || !strings.Contains(lines[i], tail) {
				t.Errorf("heard %q, want %q", lines[i], w)
			}
		}
	})
}

// TestWriting: the write of a document commits an event with the user and without any value.
func TestWriting(t *testing.T) {
	l := logOf(t)
	was := &hostapi.Secret{ObjectMeta: hostapi.ObjectMeta{Name: "bmc", Namespace: "default"},
		Data: map[string][]byte{"password": []byte("planted-word")}}
	is := *was
	is.Data = map[string][]byte{"password": []byte("planted-too")}
	ctx := l.Writing(t.Context(), []objects.Changed{{
		Key: objects.Key{Kind: hostapi.KindSecret, Namespace: "default", Name: "bmc"}, Old: was, New: &is,
	}})
	told := node.EventsOf(ctx)
	if len(told) != 1 {
		t.Fatalf("told %+v", told)
	}
	text := string(told[0].Doc)
	for _, want := range []string{"alice", "blue", "c1", "bmc"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if slices.ContainsFunc([]string{"planted", "cGxhbnRlZC"}, func(s string) bool { return strings.Contains(text, s) }) {
		t.Errorf("a value is told: %s", text)
	}
}
