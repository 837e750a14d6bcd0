package redfish

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// controlFault is a Fault as the lab's control endpoint takes it.
type controlFault struct {
	Kind         FaultKind `json:"kind"`
	DelaySeconds float64   `json:"delay_seconds,omitempty"`
	Times        int       `json:"times,omitempty"`
	Method       string    `json:"method,omitempty"`
	PathPrefix   string    `json:"path_prefix,omitempty"`
}

// Control is the lab's side door, for a listener no client of the controller
// can reach: GET /counters, PUT /fault with a JSON fault, DELETE /fault,
// PUT /health with a JSON health.
func (s *Server) Control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /counters", func(w http.ResponseWriter, r *http.Request) {
		body, err := encode(s.Counters())
		if err != nil {
			s.writeError(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		s.send(w, http.StatusOK, body)
	})
	mux.HandleFunc("PUT /fault", put(func(c controlFault) error {
		delay := time.Duration(c.DelaySeconds * float64(time.Second))
		return s.SetFault(Fault{Kind: c.Kind, Delay: delay, Times: c.Times, Method: c.Method, PathPrefix: c.PathPrefix})
	}))
	mux.HandleFunc("DELETE /fault", func(w http.ResponseWriter, _ *http.Request) {
		s.ClearFault()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("PUT /health", put(func(c struct {
		Health string `json:"health"`
	}) error {
		return s.SetHealth(c.Health)
	}))
	return mux
}

// put answers a PUT with 204, or with 400 and the reason.
func put[T any](take func(T) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body T
		d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
		d.DisallowUnknownFields()
		err := d.Decode(&body)
		if err == nil {
			err = take(body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// SetHealth makes the machine as well or ill as a real one can be: OK, Warning
// or Critical (Resource, Health).
func (s *Server) SetHealth(health string) error {
	if !slices.Contains([]string{"OK", "Warning", "Critical"}, health) {
		return fmt.Errorf("health %q: expected OK, Warning or Critical", health)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.health = health
	return nil
}
