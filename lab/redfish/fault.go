package redfish

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// FaultKind is a way controllers fail.
type FaultKind string

// The faults that hit requests.
const (
	Hang         FaultKind = "hang"          // take the request, never answer
	Drop         FaultKind = "drop"          // close the connection without a word
	Garbage      FaultKind = "garbage"       // 200, and JSON cut short
	Unauthorized FaultKind = "unauthorized"  // 401, also with the right credentials
	Busy         FaultKind = "busy"          // 503 with Retry-After, Delay in seconds
	Broken       FaultKind = "broken"        // 500
	Slow         FaultKind = "slow"          // answer as always, after Delay
	Truncated    FaultKind = "truncated"     // end the answer before its announced length
	Changed      FaultKind = "changed"       // 412 to every change, with any If-Match
	SessionsLost FaultKind = "sessions-lost" // forget all sessions, then answer as always
)

// The faults that affect the work started by requests.
const (
	SlowPower      FaultKind = "slow-power"      // answer a reset at once, act after Delay
	TaskException  FaultKind = "task-exception"  // the next task to end fails
	SettingsLost   FaultKind = "settings-lost"   // the next start forgets pending BIOS settings
	RestartIgnored FaultKind = "restart-ignored" // the controller takes its own reset and does nothing
	ClockKept      FaultKind = "clock-kept"      // the controller takes a time and keeps its own, as with NTP

	// The next update:
	UpdateStaysNew      FaultKind = "update-stays-new"      // its task stays New until the machine starts
	UpdateStaysStarting FaultKind = "update-stays-starting" // the same, and Starting
	UpdateForgotten     FaultKind = "update-forgotten"      // it is staged, and its task is gone
	UpdateLost          FaultKind = "update-lost"           // its task is gone, and nothing is staged
	UpdateInterrupted   FaultKind = "update-interrupted"    // the controller restarts, and update and task are gone
)

var (
	requestFaults = []FaultKind{Broken, Busy, Changed, Drop, Garbage, Hang, SessionsLost, Slow, Truncated, Unauthorized}

	workFaults = []FaultKind{SlowPower, TaskException, SettingsLost, RestartIgnored, ClockKept, UpdateStaysNew,
		UpdateStaysStarting, UpdateForgotten, UpdateLost, UpdateInterrupted}
	delayedFaults = []FaultKind{Busy, Slow, SlowPower}
)

// FaultNames lists the faults that hit requests, which any server can have: "broken, busy, ...".
func FaultNames() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(requestFaults), " ", ", "), "[]")
}

// Fault is one failure in force.
type Fault struct {
	Kind FaultKind
	// Delay is for Busy, Slow and SlowPower.
	Delay time.Duration
	// Times is how often it hits before it clears; 0 is always.
	Times int
	// Method and PathPrefix narrow it; empty is any.
	Method     string
	PathPrefix string
}

// validate reports a fault that would do nothing.
func (f Fault) validate() error {
	switch {
	case !slices.Contains(requestFaults, f.Kind) && !slices.Contains(workFaults, f.Kind):
		return fmt.Errorf("fault %q is not known", f.Kind)
	case slices.Contains(delayedFaults, f.Kind) && f.Delay <= 0:
		return fmt.Errorf("fault %s: expected a delay", f.Kind)
	}
	return nil
}

// hits reports whether the fault is for this request.
func (f Fault) hits(r *http.Request) bool {
	if f.Kind == Changed && !changes(r) {
		return false
	}
	return !slices.Contains(workFaults, f.Kind) && (f.Method == "" || f.Method == r.Method) &&
		strings.HasPrefix(r.URL.Path, f.PathPrefix)
}

// changes reports whether a request is to change something besides sessions.
func changes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && !strings.HasPrefix(r.URL.Path, servicePath)
}

// Faults holds the fault in force of one server, at most one. It is safe for concurrent use.
type Faults struct {
	forget  func()          // ends all sessions
	life    context.Context // lets hanging requests go with its end
	hanging func(by int)    // counts them

	mu      sync.Mutex
	current *Fault
	changed chan struct{} // closed and renewed with every change
}

// NewFaults makes the faults of a server that can forget its sessions.
func NewFaults(forget func()) *Faults {
	return &Faults{forget: forget, life: context.Background(), hanging: func(int) {}, changed: make(chan struct{})}
}

// Set puts a fault in force, in place of any other.
func (f *Faults) Set(fault Fault) error {
	if err := fault.validate(); err != nil {
		return err
	}
	f.replace(&fault)
	return nil
}

// Clear ends the fault in force; requests hanging under it are dropped.
func (f *Faults) Clear() { f.replace(nil) }

func (f *Faults) replace(fault *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = fault
	close(f.changed)
	f.changed = make(chan struct{})
}

// take uses up one of the times of the fault in force, if that fits. The channel is closed when the fault changes.
func (f *Faults) take(fits func(Fault) bool) (hit Fault, changed <-chan struct{}, is bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current == nil || !fits(*f.current) {
		return Fault{}, nil, false
	}
	hit, changed = *f.current, f.changed
	if f.current.Times > 0 {
		if f.current.Times--; f.current.Times == 0 {
			f.current = nil
		}
	}
	return hit, changed, true
}

// strikes reports whether a fault that affects work is in force, and uses it.
func (f *Faults) strikes(kind FaultKind) (Fault, bool) {
	hit, _, is := f.take(func(now Fault) bool { return now.Kind == kind })
	return hit, is
}

// Before applies the fault in force to the requests of a server.
func (f *Faults) Before(server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if w, answered := f.meet(w, r); !answered {
			server.ServeHTTP(w, r)
		}
	})
}

// meet returns the writer to answer with; answered means that the answer has been given.
func (f *Faults) meet(w http.ResponseWriter, r *http.Request) (to http.ResponseWriter, answered bool) {
	hit, changed, is := f.take(func(now Fault) bool { return now.hits(r) })
	if !is {
		return w, false
	}
	switch hit.Kind {
	case Hang:
		f.hang(r, changed)
		panic(http.ErrAbortHandler)
	case Drop:
		panic(http.ErrAbortHandler) // net/http's way to close without an answer
	case Garbage:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"@odata.id": "/redfish/v1/Systems/1", "PowerState": "O`)
	case Unauthorized:
		writeProblem(w, problem(unauthorized, r.URL.Path, "account locked"))
	case Busy:
		seconds := strconv.Itoa(int((hit.Delay + time.Second - 1) / time.Second))
		w.Header().Set("Retry-After", seconds)
		writeProblem(w, problem(temporarilyAway, seconds))
	case Broken:
		writeProblem(w, problem(internalError).because(fmt.Errorf("fault %s is in force", hit.Kind)))
	case Slow:
		delay(f.life, r, hit.Delay)
		return w, false
	case Truncated:
		return &cutting{ResponseWriter: w}, false
	case Changed:
		writeProblem(w, problem(preconditionFailed))
	case SessionsLost:
		f.forget()
		return w, false
	case SlowPower, TaskException, SettingsLost, RestartIgnored, ClockKept, UpdateStaysNew, UpdateStaysStarting,
		UpdateForgotten, UpdateLost, UpdateInterrupted: // never hit a request
	}
	return w, true
}

// hang keeps a request until its client, the fault or the server goes.
func (f *Faults) hang(r *http.Request, changed <-chan struct{}) {
	// net/http notices that a client left only once its body is read.
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(nil, r.Body, maxBody)); err != nil {
		return
	}
	f.hanging(1)
	defer f.hanging(-1)
	select {
	case <-r.Context().Done():
	case <-f.life.Done():
	case <-changed:
	}
}

// SetFault puts a fault in force, in place of any other.
func (s *Server) SetFault(f Fault) error {
	if err := s.faults.Set(f); err != nil {
		return err
	}
	s.log.Info("fault set", "kind", f.Kind, "delay", f.Delay, "times", f.Times)
	return nil
}

// ClearFault ends the fault in force; requests hanging under it are dropped.
func (s *Server) ClearFault() { s.faults.Clear() }

// ParseFault reads a fault that hits requests as KIND, KIND:DELAY, KIND*TIMES or KIND:DELAY*TIMES, as in slow:8s and
// busy:2s*3.
func ParseFault(text string) (f Fault, err error) {
	rest, times, counted := strings.Cut(text, "*")
	kind, delay, delayed := strings.Cut(rest, ":")
	f.Kind = FaultKind(kind)
	if !slices.Contains(requestFaults, f.Kind) {
		return f, fmt.Errorf("fault %q is not known: choose from %s", kind, FaultNames())
	}
	if f.Delay, err = time.ParseDuration(delay); delayed && (err != nil || f.Delay <= 0) {
		return f, fmt.Errorf("fault %q: expected a delay such as 8s after the colon", text)
	}
	if slices.Contains(delayedFaults, f.Kind) != delayed {
		return f, fmt.Errorf("fault %q: %s and %s have a delay, as in slow:8s, and no other has", text, Slow, Busy)
	}
	if f.Times, err = strconv.Atoi(times); counted && (err != nil || f.Times < 1) {
		return f, fmt.Errorf("fault %q: expected how often it hits, 1 or more, after the star", text)
	}
	return f, nil
}
