package recorded

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/lab/redfish"
)

// Fault is a failure of a recorded BMC, in the words of lab/redfish.
type Fault struct {
	Kind  redfish.FaultKind
	Delay time.Duration // of slow and busy
	Times int           // how often it hits; 0 is always
}

// faulty are the faults that a recording can have: each answers a request, by the server where it has to.
var faulty = map[redfish.FaultKind]func(f Fault, s *Server, w http.ResponseWriter, r *http.Request){
	redfish.Slow: func(f Fault, s *Server, w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(f.Delay):
			s.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	},
	redfish.Hang: func(_ Fault, _ *Server, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	redfish.Drop: func(Fault, *Server, http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler) // net/http's way to close without an answer
	},
	redfish.Garbage: func(_ Fault, _ *Server, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"PowerState": "O`))
	},
	redfish.Unauthorized: func(_ Fault, _ *Server, w http.ResponseWriter, _ *http.Request) {
		send(w, refused(http.StatusUnauthorized, "InsufficientPrivilege: the account is locked"))
	},
	redfish.Busy: func(f Fault, _ *Server, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", strconv.Itoa(int((f.Delay+time.Second-1)/time.Second)))
		send(w, refused(http.StatusServiceUnavailable, "ServiceTemporarilyUnavailable: try again"))
	},
	redfish.Broken: func(_ Fault, _ *Server, w http.ResponseWriter, _ *http.Request) {
		send(w, refused(http.StatusInternalServerError, "InternalError: the fault is in force"))
	},
	redfish.Truncated: func(_ Fault, s *Server, w http.ResponseWriter, r *http.Request) {
		whole := httptest.NewRecorder()
		s.ServeHTTP(whole, r)
		maps.Copy(w.Header(), whole.Header())
		w.WriteHeader(whole.Code)
		body := whole.Body.Bytes()
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	},
	redfish.Changed: func(_ Fault, s *Server, w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPatch {
			s.ServeHTTP(w, r)
			return
		}
		send(w, refused(http.StatusPreconditionFailed, "PreconditionFailed: it was changed"))
	},
	redfish.SessionsLost: func(_ Fault, s *Server, w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.resetManager("", nil)
		s.mu.Unlock()
		s.ServeHTTP(w, r)
	},
}

// FaultNames lists the faults that a recording can have.
func FaultNames() (names []string) {
	for kind := range faulty {
		names = append(names, string(kind))
	}
	slices.Sort(names)
	return names
}

// ParseFault reads KIND, KIND:DELAY, KIND*TIMES or KIND:DELAY*TIMES, as in slow:8s and busy:2s*3.
func ParseFault(text string) (f Fault, err error) {
	rest, times, counted := strings.Cut(text, "*")
	kind, delay, delayed := strings.Cut(rest, ":")
	f.Kind = redfish.FaultKind(kind)
	if faulty[f.Kind] == nil {
		return f, fmt.Errorf("fault %q is not known: choose from %s", kind, strings.Join(FaultNames(), ", "))
	}
	if f.Delay, err = time.ParseDuration(delay); delayed && (err != nil || f.Delay <= 0) {
		return f, fmt.Errorf("fault %q: expected a delay such as 8s after the colon", text)
	}
	if needs := f.Kind == redfish.Slow || f.Kind == redfish.Busy; needs != delayed {
		return f, fmt.Errorf("fault %q: %s and %s have a delay, as in slow:8s, and no other has", text, redfish.Slow,
			redfish.Busy)
	}
	if f.Times, err = strconv.Atoi(times); counted && (err != nil || f.Times < 1) {
		return f, fmt.Errorf("fault %q: expected how often it hits, 1 or more, after the star", text)
	}
	return f, nil
}

// WithFault is a server with a fault in force. It is safe for concurrent use.
func WithFault(s *Server, f Fault) http.Handler {
	var mu sync.Mutex
	left := f.Times
	hits := func() bool {
		mu.Lock()
		defer mu.Unlock()
		if f.Times == 0 {
			return true
		}
		left--
		return left >= 0
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hits() {
			s.ServeHTTP(w, r)
			return
		}
		faulty[f.Kind](f, s, w, r)
	})
}
