package redfish_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// board is a small BMC: as little as the driver needs, and a hook to go wrong.
type board struct {
	url string

	mu       sync.Mutex
	power    string
	boot     map[string]string
	etag     int
	password string
	sessions map[string]string // token by session id
	made     int               // sessions ever
	calls    []string
	inside   int
	many     int // most requests at once
	systems  int
	resets   []string                                                 // allowable
	sources  []string                                                 // allowable boot sources
	extra    map[string]any                                           // of the system, and by path of other resources
	hook     func(w http.ResponseWriter, r *http.Request, n int) bool // n counts from 1; true when it has answered
}

func newBoard(t *testing.T) *board {
	b := &board{power: "Off", password: "right", sessions: map[string]string{}, systems: 1, etag: 1,
		boot: map[string]string{"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "None",
			"BootSourceOverrideMode": "UEFI"},
		resets: []string{"On", "ForceOff", "ForceRestart", "GracefulRestart", "GracefulShutdown", "Nmi"}}
	s := httptest.NewServer(b)
	b.url = s.URL
	t.Cleanup(s.Close)
	return b
}

// node has the board's address and credentials, and pairs of further settings.
func (b *board) node(settings ...any) node.Node {
	n := node.Node{UUID: "n1", Driver: "redfish", DriverInfo: map[string]any{
		"redfish_address": b.url, "redfish_username": "admin", "redfish_password": "right",
	}}
	for i := 0; i+1 < len(settings); i += 2 {
		n.DriverInfo[settings[i].(string)] = settings[i+1]
	}
	return n
}

// count says how many calls began with prefix.
func (b *board) count(prefix string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, c := range b.calls {
		if strings.HasPrefix(c, prefix) {
			n++
		}
	}
	return n
}

func (b *board) set(edit func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	edit()
}

func (b *board) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	b.calls = append(b.calls, r.Method+" "+r.URL.Path)
	n, hook := len(b.calls), b.hook
	b.inside++
	b.many = max(b.many, b.inside)
	b.mu.Unlock()
	defer b.set(func() { b.inside-- })
	if hook != nil && hook(w, r, n) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer(w, r)
}

func (b *board) answer(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	switch call := r.Method + " " + path; {
	case call == "GET /redfish/v1" && b.extra[path] != nil:
		reply(w, 200, b.extra[path])
	case call == "GET /redfish/v1":
		reply(w, 200, map[string]any{"Id": "RootService", "Systems": link("/redfish/v1/Systems"),
			"Links": map[string]any{"Sessions": link("/redfish/v1/SessionService/Sessions")}})
	case call == "POST /redfish/v1/SessionService/Sessions":
		b.login(w, r)
	case !b.known(r):
		refuse(w, 401, "NoValidSession", "There is no valid session")
	case call == "GET /redfish/v1/Systems":
		var members []any
		for i := range b.systems {
			members = append(members, link(fmt.Sprint("/redfish/v1/Systems/", i+1)))
		}
		reply(w, 200, map[string]any{"Members": members})
	case r.Method == "DELETE" && strings.HasPrefix(path, "/redfish/v1/SessionService/"):
		delete(b.sessions, path)
		w.WriteHeader(204)
	case strings.HasPrefix(path, "/redfish/v1/Systems/9"):
		refuse(w, 404, "ResourceMissingAtURI", "There is nothing here")
	case b.extra[path] != nil:
		b.other(w, r, path)
	case r.Method == "GET":
		b.system(w, path)
	case strings.HasSuffix(path, "/Actions/ComputerSystem.Reset"):
		b.reset(w, r)
	case r.Method == "PATCH":
		b.patch(w, r)
	}
}

func (b *board) login(w http.ResponseWriter, r *http.Request) {
	var c struct{ UserName, Password string }
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil || c.UserName != "admin" || c.Password != b.password {
		refuse(w, 401, "ResourceAtUriUnauthorized", "Unauthorized")
		return
	}
	b.made++
	id := fmt.Sprint("/redfish/v1/SessionService/Sessions/", b.made)
	b.sessions[id] = fmt.Sprint("token-", b.made)
	w.Header().Set("X-Auth-Token", b.sessions[id])
	w.Header().Set("Location", id)
	reply(w, 201, map[string]any{"Id": fmt.Sprint(b.made)})
}

func (b *board) known(r *http.Request) bool {
	if user, password, ok := r.BasicAuth(); ok {
		return user == "admin" && password == b.password
	}
	for _, token := range b.sessions {
		if r.Header.Get("X-Auth-Token") == token {
			return true
		}
	}
	return false
}

func (b *board) system(w http.ResponseWriter, path string) {
	w.Header().Set("ETag", b.tag())
	boot := map[string]any{}
	for key, value := range b.boot {
		boot[key] = value
	}
	if len(b.sources) > 0 {
		boot["BootSourceOverrideTarget@Redfish.AllowableValues"] = b.sources
	}
	body := map[string]any{
		"SerialConsole": map[string]any{"SSH": map[string]any{"ServiceEnabled": true, "Port": 2200}},
		"@odata.id":     path, "Id": "1", "PowerState": b.power, "Boot": boot, "UUID": "6AAF4DF9-C601-5E47-A343-0856024BD9C3",
		"MemorySummary":    map[string]any{"TotalSystemMemoryGiB": 1.5},
		"ProcessorSummary": map[string]any{"Count": 1, "LogicalProcessorCount": 2},
		"Processors":       link(path + "/Absent"),
		"Actions": map[string]any{"#ComputerSystem.Reset": map[string]any{
			"target": path + "/Actions/ComputerSystem.Reset", "ResetType@Redfish.AllowableValues": b.resets,
		}},
	}
	for key, value := range b.extra {
		if !strings.HasPrefix(key, "/") {
			body[key] = value
		}
	}
	reply(w, 200, body)
}

// other reads and patches the resources that a test has put on the board.
func (b *board) other(w http.ResponseWriter, r *http.Request, path string) {
	resource, _ := b.extra[path].(map[string]any)
	if r.Method == "PATCH" {
		if err := json.NewDecoder(r.Body).Decode(&resource); err != nil {
			refuse(w, 400, "MalformedJSON", err.Error())
			return
		}
	}
	reply(w, 200, b.extra[path])
}

func (b *board) tag() string { return fmt.Sprintf("%q", fmt.Sprint(b.etag)) }

func (b *board) reset(w http.ResponseWriter, r *http.Request) {
	var q struct{ ResetType string }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		refuse(w, 400, "MalformedJSON", err.Error())
		return
	}
	b.calls = append(b.calls, "reset "+q.ResetType)
	b.power = "On"
	if q.ResetType == "ForceOff" || q.ResetType == "GracefulShutdown" {
		b.power = "Off"
	}
	w.WriteHeader(204)
}

func (b *board) patch(w http.ResponseWriter, r *http.Request) {
	var q struct{ Boot map[string]string }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		refuse(w, 400, "MalformedJSON", err.Error())
		return
	}
	if r.Header.Get("If-Match") != b.tag() {
		refuse(w, 412, "PreconditionFailed", "The ETag does not match")
		return
	}
	b.etag++
	for k, v := range q.Boot {
		b.boot[k] = v
	}
	w.WriteHeader(204)
}

func link(path string) map[string]string { return map[string]string{"@odata.id": path} }

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that has gone is some tests' point
}

func refuse(w http.ResponseWriter, status int, id, message string) {
	reply(w, status,
		map[string]any{"error": map[string]any{"code": "Base.1.18.GeneralError", "message": "see ExtendedInfo",
			"@Message.ExtendedInfo": []any{map[string]any{"MessageId": "Base.1.18." + id, "Message": message}}}})
}
