package redfish

import (
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
)

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
	switch f.Kind {
	case Hang, Drop, Garbage, Unauthorized, Broken, Truncated, Changed, SessionsLost, TaskException, SettingsLost,
		RestartIgnored:
		return nil
	case Busy, SlowPower, Slow:
		if f.Delay <= 0 {
			return fmt.Errorf("fault %s: expected a delay", f.Kind)
		}
		return nil
	default:
		return fmt.Errorf("fault %q is not known", f.Kind)
	}
}

// hits reports whether the fault is for this request.
func (f Fault) hits(r *http.Request) bool {
	later := []FaultKind{SlowPower, TaskException, SettingsLost, RestartIgnored}
	if f.Kind == Changed && !changes(r) {
		return false
	}
	return !slices.Contains(later, f.Kind) && (f.Method == "" || f.Method == r.Method) &&
		strings.HasPrefix(r.URL.Path, f.PathPrefix)
}

// changes reports whether a request is to change something besides sessions.
func changes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && !strings.HasPrefix(r.URL.Path, servicePath)
}

// faults holds the fault in force, at most one.
type faults struct {
	mu      sync.Mutex
	current *Fault
	changed chan struct{} // closed and renewed with every change
}

func newFaults() *faults { return &faults{changed: make(chan struct{})} }

func (f *faults) set(fault *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = fault
	close(f.changed)
	f.changed = make(chan struct{})
}

// take returns the fault that hits r, if any, and a channel that is closed when the fault changes.
func (f *faults) take(r *http.Request) (Fault, <-chan struct{}, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current == nil || !f.current.hits(r) {
		return Fault{}, nil, false
	}
	hit := *f.current
	f.spend()
	return hit, f.changed, true
}

// strikes says whether a fault of a kind that does not hit requests is in
// force, and uses it.
func (f *faults) strikes(kind FaultKind) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current == nil || f.current.Kind != kind {
		return Fault{}, false
	}
	hit := *f.current
	f.spend()
	return hit, true
}

// spend uses up one of the fault's times. The caller holds mu.
func (f *faults) spend() {
	if f.current.Times > 0 {
		if f.current.Times--; f.current.Times == 0 {
			f.current = nil
		}
	}
}

// SetFault puts a fault in force, in place of any other.
func (s *Server) SetFault(f Fault) error {
	if err := f.validate(); err != nil {
		return err
	}
	s.faults.set(&f)
	s.log.Info("fault set", "kind", f.Kind, "delay", f.Delay, "times", f.Times)
	return nil
}

// ClearFault ends the fault in force; requests hanging under it are dropped.
func (s *Server) ClearFault() { s.faults.set(nil) }

// misbehave applies the fault in force to a request. It returns the writer to answer with; answered means that the
// answer has been given.
func (s *Server) misbehave(w http.ResponseWriter, r *http.Request) (to http.ResponseWriter, answered bool) {
	f, changed, hit := s.faults.take(r)
	if !hit {
		return w, false
	}
	switch f.Kind {
	case Hang:
		s.hang(r, changed)
		panic(http.ErrAbortHandler)
	case Drop:
		panic(http.ErrAbortHandler) // net/http's way to close without an answer
	case Garbage:
		w.Header().Set("Content-Type", "application/json")
		s.send(w, http.StatusOK, []byte(`{"@odata.id": "/redfish/v1/Systems/1", "PowerState": "O`))
	case Unauthorized:
		s.writeError(w, r, problem(unauthorized, r.URL.Path, "account locked"))
	case Busy:
		seconds := strconv.Itoa(int((f.Delay + time.Second - 1) / time.Second))
		w.Header().Set("Retry-After", seconds)
		s.writeError(w, r, problem(temporarilyAway, seconds))
	case Broken:
		s.writeError(w, r, problem(internalError).because(fmt.Errorf("fault %s is in force", f.Kind)))
	case Slow:
		s.delay(r, f.Delay)
		return w, false
	case Truncated:
		return &cutting{ResponseWriter: w}, false
	case Changed:
		s.writeError(w, r, problem(preconditionFailed))
	case SessionsLost:
		s.sessions.clear()
		return w, false
	case SlowPower, TaskException, SettingsLost, RestartIgnored: // never hit a request
	}
	return w, true
}

// hang keeps a request until its client, the fault or the controller goes.
func (s *Server) hang(r *http.Request, changed <-chan struct{}) {
	// net/http notices that a client left only once its body is read.
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(nil, r.Body, maxBody)); err != nil {
		return
	}
	s.counters.hang(1)
	defer s.counters.hang(-1)
	select {
	case <-r.Context().Done():
	case <-s.life.Done():
	case <-changed:
	}
}
