package qemu

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fakeQEMU speaks the other end of QMP: it answers by command name.
func fakeQEMU(t *testing.T, greeting string, answers map[string]string) (*monitor, func() []string) {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	var mu sync.Mutex
	var events []string
	m := newMonitor(ours, func(e message) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e.Event+" "+string(e.Data))
	})
	go func() {
		defer theirs.Close()
		if _, err := fmt.Fprintln(theirs, greeting); err != nil {
			return
		}
		lines := bufio.NewScanner(theirs)
		for lines.Scan() {
			var request struct {
				Execute string `json:"execute"`
				ID      uint64 `json:"id"`
			}
			if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
				t.Errorf("request %q: %v", lines.Text(), err)
			}
			answer := answers[request.Execute]
			if answer == "hang up" {
				return
			}
			if _, err := fmt.Fprintln(theirs, strings.ReplaceAll(answer, "ID", fmt.Sprint(request.ID))); err != nil {
				return
			}
		}
	}()
	return m, func() []string { mu.Lock(); defer mu.Unlock(); return events }
}

const greeting = `{"QMP": {"version": {"qemu": {"micro": 22, "minor": 2, "major": 7}}, "capabilities": ["oob"]}}`

func TestMonitor(t *testing.T) {
	m, events := fakeQEMU(t, greeting, map[string]string{
		"qmp_capabilities": `{"return": {}, "id": ID}`,
		"system_powerdown": `{"timestamp": {"seconds": 1, "microseconds": 2}, "event": "POWERDOWN"}` + "\n" +
			`{"return": {}, "id": ID}`,
		"eject":   `{"id": ID, "error": {"class": "DeviceNotFound", "desc": "Device 'cd0' not found"}}`,
		"silence": `{"return": {}, "id": 4711}`,
		"quit": `{"return": {}, "id": ID}` + "\n" +
			`{"event": "SHUTDOWN", "data": {"guest": false, "reason": "host-qmp-quit"}}`,
		"cont": "hang up",
	})
	if err := m.handshake(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := m.execute(t.Context(), "system_powerdown", nil); err != nil {
		t.Error(err)
	}
	if err := m.execute(t.Context(), "eject", map[string]any{"id": "cd0"}); err == nil ||
		!strings.Contains(err.Error(), "'cd0' not found") {
		t.Errorf("eject: %v", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := m.execute(short, "silence", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no answer: %v", err)
	}
	if err := m.execute(t.Context(), "quit", nil); err != nil {
		t.Error(err)
	}
	if err := m.execute(t.Context(), "cont", nil); !errors.Is(err, errHungUp) {
		t.Errorf("hung up: %v", err)
	}
	want := []string{"POWERDOWN ", `SHUTDOWN {"guest": false, "reason": "host-qmp-quit"}`}
	if diff := cmp.Diff(want, events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestMonitorGarbage(t *testing.T) {
	m, _ := fakeQEMU(t, "qemu: no", nil)
	if err := m.handshake(t.Context()); err == nil || !strings.Contains(err.Error(), "qemu: no") {
		t.Errorf("handshake: %v", err)
	}
}

func TestMonitorNoGreeting(t *testing.T) {
	m, _ := fakeQEMU(t, `{"event": "RESUME"}`, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := m.handshake(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("handshake: %v", err)
	}
}

func FuzzMonitor(f *testing.F) {
	f.Add([]byte(greeting + "\n"))
	f.Add([]byte(`{"event": "SHUTDOWN", "data": {"guest": true, "reason": "guest-reset"}}` + "\n"))
	f.Add([]byte(`{"event": "SHUTDOWN", "data": []}` + "\n" + `{"id": 1, "error": {}}`))
	f.Add([]byte(`{"QMP": {}}` + "\n" + `{"QMP": {}}` + "\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		ours, theirs := net.Pipe()
		var p process
		m := newMonitor(ours, p.onEvent)
		go func() {
			theirs.Write(said) // the reader may give up before the end
			theirs.Close()
		}()
		<-m.done
		ours.Close()
		if m.err == nil {
			t.Error("ended without a reason")
		}
	})
}

func TestVerdict(t *testing.T) {
	tests := []struct {
		reason string
		asked  asked
		again  bool
		ok     bool
	}{
		{"guest-reset", askedNothing, true, true},
		{"guest-reset", askedOff, false, true},
		{"guest-shutdown", askedNothing, false, true},
		{"guest-shutdown", askedRestart, true, true},
		{"host-qmp-quit", askedOff, false, true},
		{"", askedOff, false, true},
		{"", askedNothing, false, false},
		{"", askedRestart, false, false},
		{"guest-panic", askedNothing, false, false},
		{"host-signal", askedNothing, false, false},
	}
	for _, tt := range tests {
		p := process{reason: tt.reason, asked: tt.asked}
		again, err := p.verdict()
		if again != tt.again || (err == nil) != tt.ok {
			t.Errorf("%q asked %d: again %v, %v", tt.reason, tt.asked, again, err)
		}
	}
}

func TestResetsWhileOff(t *testing.T) {
	want := map[ResetType]error{
		ResetForceOff: nil, ResetGracefulShutdown: nil,
		ResetGracefulRestart: ErrPoweredOff, ResetForceRestart: ErrPoweredOff, ResetPowerCycle: ErrPoweredOff,
		ResetNmi: ErrPoweredOff,
		ResetOn:  ErrClosed, ResetForceOn: ErrClosed, ResetPushPowerButton: ErrClosed,
	}
	m := quiet(t, Spec{Name: "m"})
	if err := m.Close(); err != nil { // so that nothing can start
		t.Fatal(err)
	}
	for _, kind := range ResetTypes() {
		expected, listed := want[kind]
		if err := m.Reset(t.Context(), kind); !listed || !errors.Is(err, expected) {
			t.Errorf("%s: %v, expected %v", kind, err, expected)
		}
	}
	if err := m.Reset(t.Context(), "Suspend"); err == nil {
		t.Error("Suspend: accepted")
	}
}
