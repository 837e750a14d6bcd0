// Package neutrontest has a Neutron in memory, for tests: its networks and ports, and the requests that it was sent.
package neutrontest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"
)

// Object is a JSON Object.
type Object = map[string]any

// Request is a request that the server got.
type Request struct {
	Method string
	Kind   string // such as ports
	ID     string // of the requested object; for a POST, of the new one
	Body   Object // the object within "port" and the like
}

// String is its method and kind.
func (r Request) String() string { return r.Method + " " + r.Kind }

// Server answers as Debian's neutron-server 21.0.0 does (make neutron-test has the same test pass with that one).
type Server struct {
	// Bound is the binding:vif_type of a port that is bound.
	Bound string
	// Refuse is the status of every answer; 0 for the right one.
	Refuse int
	// Heard is called after every request that changes an object; may be nil.
	Heard func(Request)

	mu       sync.Mutex
	networks map[string]Object
	ports    map[string]Object
	groups   map[string]Object
	requests []Request
}

// New makes a server that has nothing.
func New() *Server {
	return &Server{networks: map[string]Object{}, ports: map[string]Object{}, groups: map[string]Object{}, Bound: "other"}
}

// Requests are all that were sent.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Ports counts the ports.
func (s *Server) Ports() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ports)
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind, id, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2.0/"), "/")
	said := Request{Method: r.Method, Kind: kind, ID: id}
	plural := strings.ReplaceAll(kind, "-", "_")
	single := strings.TrimSuffix(plural, "s")
	if r.Method == http.MethodPost || r.Method == http.MethodPut {
		var body map[string]Object
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			answer(w, http.StatusBadRequest, nil)
			return
		}
		said.Body = body[single]
	}
	status, is := s.act(&said, r.URL.Query())
	switch is := is.(type) {
	case []Object:
		answer(w, status, Object{plural: is})
	case Object:
		if status < http.StatusBadRequest {
			is = Object{single: is}
		}
		answer(w, status, is)
	default:
		w.WriteHeader(status)
	}
	if s.Heard != nil && r.Method != http.MethodGet && status < http.StatusBadRequest {
		s.Heard(said)
	}
}

// act does a request, and answers with an object, a list, a refusal or nothing.
func (s *Server) act(r *Request, query map[string][]string) (status int, is any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.requests = append(s.requests, *r) }()
	all := map[string]map[string]Object{"networks": s.networks, "ports": s.ports, "security-groups": s.groups}[r.Kind]
	switch {
	case s.Refuse != 0:
		return s.Refuse, nil
	case all == nil || r.ID != "" && all[r.ID] == nil:
		return refusal(http.StatusNotFound, r.Kind+" "+r.ID+" could not be found.")
	}
	switch r.Method {
	case http.MethodDelete:
		delete(all, r.ID)
		return http.StatusNoContent, nil
	case http.MethodPost:
		return s.create(all, r)
	case http.MethodPut:
		if mac, changes := r.Body["mac_address"]; changes && all[r.ID]["binding:vif_type"] == "other" &&
			mac != all[r.ID]["mac_address"] {
			return refusal(http.StatusConflict, "Unable to complete operation on port, port is already bound")
		}
		s.change(all[r.ID], r.Body)
	}
	if r.ID == "" {
		return http.StatusOK, matching(all, query)
	}
	return http.StatusOK, maps.Clone(all[r.ID])
}

func (s *Server) create(all map[string]Object, r *Request) (status int, is any) {
	made := Object{"id": uuid.NewString()}
	s.change(made, r.Body)
	if r.Kind == "ports" && s.networks[fmt.Sprint(made["network_id"])] == nil {
		return refusal(http.StatusNotFound, "Network could not be found.")
	}
	r.ID, _ = made["id"].(string)
	all[r.ID] = made
	return http.StatusCreated, maps.Clone(made)
}

func refusal(status int, text string) (int, any) {
	return status, Object{"NeutronError": Object{"message": text}}
}

func (s *Server) change(is, to Object) {
	maps.Copy(is, to)
	if is["mac_address"] == nil {
		is["mac_address"] = "fa:16:3e:00:00:01"
	}
	if is["binding:profile"] == nil {
		is["binding:profile"] = Object{}
	}
	is["binding:vif_type"] = "unbound"
	if host, _ := is["binding:host_id"].(string); host != "" {
		is["binding:vif_type"] = s.Bound
	}
}

func matching(all map[string]Object, query map[string][]string) (found []Object) {
	for _, id := range slices.Sorted(maps.Keys(all)) {
		ok := true
		for key, values := range query {
			ok = ok && (key == "fields" || slices.Contains(values, fmt.Sprint(all[id][key])))
		}
		if ok {
			found = append(found, maps.Clone(all[id]))
		}
	}
	return append([]Object{}, found...)
}

func answer(w http.ResponseWriter, status int, body Object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}
