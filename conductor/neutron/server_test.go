package neutron_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

type object = map[string]any

// server is a Neutron in memory, as Debian's 21.0.0 answers (TestDebian has the same test pass with that one).
type server struct {
	*httptest.Server
	mu       sync.Mutex
	networks map[string]object
	ports    map[string]object
	requests []string // "METHOD what"
	bound    string   // the binding:vif_type of a port that is bound
	refuse   int      // the status of every answer; 0 for what is right
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{networks: map[string]object{}, ports: map[string]object{}, bound: "other"}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind, id, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2.0/"), "/")
	s.requests = append(s.requests, r.Method+" "+kind)
	if s.refuse != 0 {
		w.WriteHeader(s.refuse)
		return
	}
	all := map[string]map[string]object{"networks": s.networks, "ports": s.ports}[kind]
	if all == nil || id != "" && all[id] == nil {
		answer(w, http.StatusNotFound, object{"NeutronError": object{"message": kind + " " + id + " could not be found."}})
		return
	}
	single := strings.TrimSuffix(kind, "s")
	var body map[string]object
	if r.Method == http.MethodPost || r.Method == http.MethodPut {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			answer(w, http.StatusBadRequest, nil)
			return
		}
	}
	switch r.Method {
	case http.MethodDelete:
		delete(all, id)
		w.WriteHeader(http.StatusNoContent)
	case http.MethodGet:
		if id != "" {
			answer(w, http.StatusOK, object{single: all[id]})
			return
		}
		answer(w, http.StatusOK, object{kind: matching(all, r.URL.Query())})
	case http.MethodPost:
		is := object{"id": uuid.NewString()}
		s.change(is, body[single])
		if kind == "ports" && s.networks[fmt.Sprint(is["network_id"])] == nil {
			answer(w, http.StatusNotFound, object{"NeutronError": object{"message": "Network could not be found."}})
			return
		}
		all[is["id"].(string)] = is
		answer(w, http.StatusCreated, object{single: is})
	case http.MethodPut:
		if _, changes := body[single]["mac_address"]; changes && all[id]["binding:vif_type"] == "other" &&
			body[single]["mac_address"] != all[id]["mac_address"] {
			answer(w, http.StatusConflict, object{"NeutronError": object{"message": "Unable to complete operation on port, " +
				"port is already bound"}})
			return
		}
		s.change(all[id], body[single])
		answer(w, http.StatusOK, object{single: all[id]})
	}
}

func (s *server) change(is, to object) {
	maps.Copy(is, to)
	if is["mac_address"] == nil {
		is["mac_address"] = "fa:16:3e:00:00:01"
	}
	is["binding:vif_type"] = "unbound"
	if host, _ := is["binding:host_id"].(string); host != "" {
		is["binding:vif_type"] = s.bound
	}
}

func matching(all map[string]object, query map[string][]string) (found []object) {
	for _, id := range slices.Sorted(maps.Keys(all)) {
		ok := true
		for key, values := range query {
			ok = ok && (key == "fields" || slices.Contains(values, fmt.Sprint(all[id][key])))
		}
		if ok {
			found = append(found, all[id])
		}
	}
	return append([]object{}, found...)
}

func answer(w http.ResponseWriter, status int, body object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}
