package recorded

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/lab/redfish"
)

// Config is how a recorded BMC is served.
type Config struct {
	Tree               *Tree
	Username, Password string        // of the only user; "" to accept every client
	PowerDelay         time.Duration // between a reset and the power that follows it
	Now                func() time.Time
	Deviations         []redfish.Deviation // of a vendor, beyond the recorded ones: see Deviations
}

// Server is a recorded BMC that can be used: an http.Handler, safe for concurrent use. Writes change its own copy.
type Server struct {
	c Config

	mu       sync.Mutex
	docs     map[string]map[string]any // changed documents are replaced, never written to
	pending  map[string]map[string]any // settings that come true at the next start, by the resource they are for
	sessions map[string]string         // path by token
	power    []change                  // power changes on their way
	tasks    int
	refusals []string // methods, paths and status codes of refused requests since the last call of Refusals
}

// change is a power state that a system comes to.
type change struct {
	system string
	at     time.Time
	power  string
}

// New makes the server of a tree.
func New(c Config) *Server {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Server{c: c, docs: maps.Clone(c.Tree.docs), pending: map[string]map[string]any{},
		sessions: map[string]string{}}
}

// answer is the answer to a request: a document or nothing, or the message of an error.
type answer struct {
	status  int
	body    map[string]any
	raw     []byte // instead of body
	header  http.Header
	message string
}

func refused(status int, format string, args ...any) answer {
	return answer{status: status, message: fmt.Sprintf(format, args...)}
}

// maxBody bounds a client's body.
const maxBody = 1 << 20

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	at := s.spelling(strings.TrimSuffix(r.URL.Path, "/"))
	if at == "" || at == "/redfish" {
		send(w, answer{status: http.StatusOK, body: map[string]any{"v1": Root + "/"}})
		return
	}
	if a, out := s.authenticate(r, at); out {
		send(w, a)
		return
	}
	var a answer
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		if no, out := s.refuses(r, at, nil); out {
			a = no
			break
		}
		if a = s.shown(at, s.get(at)); r.URL.Query().Has("$skip") && a.body != nil && a.status == http.StatusOK {
			a.body = merge(a.body, map[string]any{"Members": []any{}}) // later pages were not recorded
			delete(a.body, "Members@odata.nextLink")
		}
	case http.MethodPatch:
		a = s.withBody(r, at, func(body map[string]any) answer { return s.patch(at, r.Header.Get("If-Match"), body) })
	case http.MethodPost:
		a = s.withBody(r, at, func(body map[string]any) answer { return s.post(at, body) })
	case http.MethodDelete:
		a = s.drop(at)
	default:
		a = refused(http.StatusMethodNotAllowed, "%s is not allowed", r.Method)
	}
	if a.status >= http.StatusBadRequest && r.Method != http.MethodGet && len(s.refusals) < maxRefusals {
		s.refusals = append(s.refusals, fmt.Sprintf("%s %s: %d", r.Method, at, a.status))
	}
	send(w, a)
}

// WithFault is a server with a fault in force. It is safe for concurrent use.
func WithFault(s *Server, f redfish.Fault) (http.Handler, error) {
	faults := redfish.NewFaults(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.resetManager("", nil)
	})
	return faults.Before(s), faults.Set(f)
}

// maxRefusals bounds the refusals kept for Refusals.
const maxRefusals = 100

// Refusals are the writes that were refused since it was asked last, as "PATCH /redfish/v1/...: 412".
func (s *Server) Refusals() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.refusals
	s.refusals = nil
	return all
}

// spelling is a path as the tree has it: HPE's iLO links to its resources in small letters and does not mind.
func (s *Server) spelling(at string) string {
	if _, has := s.docs[at]; has {
		return at
	}
	if spelt, has := s.c.Tree.spelt[strings.ToLower(at)]; has {
		return spelt
	}
	return at
}

func (s *Server) withBody(r *http.Request, at string, do func(body map[string]any) answer) answer {
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxBody))
	d.UseNumber()
	body := map[string]any{}
	if err := d.Decode(&body); err != nil && r.ContentLength != 0 {
		return refused(http.StatusBadRequest, "MalformedJSON: %v", err)
	}
	if a, out := s.refuses(r, at, body); out {
		return a
	}
	return do(body)
}

// authenticate lets in a session, or Basic credentials; out is true where the request ends with a.
func (s *Server) authenticate(r *http.Request, at string) (a answer, out bool) {
	if s.c.Username == "" || at == Root || r.Method == http.MethodPost && at == s.sessionsPath() {
		return a, false
	}
	if _, in := s.sessions[r.Header.Get("X-Auth-Token")]; in {
		return a, false
	}
	if user, password, has := r.BasicAuth(); has && user == s.c.Username && password == s.c.Password {
		return a, false
	}
	return answer{status: http.StatusUnauthorized, message: "NoValidSession",
		header: http.Header{"Www-Authenticate": {`Basic realm="recorded"`}}}, true
}

func (s *Server) sessionsPath() string {
	links, _ := s.docs[Root]["Links"].(map[string]any)
	if at := linkOf(links, "Sessions"); at != "" {
		return at
	}
	return Root + "/SessionService/Sessions"
}

func (s *Server) get(at string) answer {
	if text, is := s.c.Tree.raw[at]; is {
		return answer{status: http.StatusOK, raw: text}
	}
	doc, has := s.docs[at]
	if !has {
		return refused(http.StatusNotFound, "ResourceMissingAtURI: %s", at)
	}
	return answer{status: http.StatusOK, body: doc, header: http.Header{"Etag": {etag(doc)}}}
}

// etag is the recorded ETag while nothing has changed, else a hash of the content.
func etag(doc map[string]any) string {
	if tag, is := doc["@odata.etag"].(string); is && tag != "" {
		return tag
	}
	text, err := json.Marshal(doc)
	if err != nil { // of a document that was decoded: cannot be
		return `"0"`
	}
	return fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(text))[:16])
}

// login makes a session.
func (s *Server) login(at string, body map[string]any) answer {
	if body["UserName"] != s.c.Username || body["Password"] != s.c.Password {
		return refused(http.StatusUnauthorized, "the user name or password is wrong")
	}
	token := rand.Text()
	path := at + "/" + strconv.Itoa(len(s.sessions)+1) + token[:4]
	s.sessions[token] = path
	doc := map[string]any{"@odata.id": path, "@odata.type": "#Session.v1_3_0.Session",
		"Id":   path[strings.LastIndex(path, "/")+1:],
		"Name": "Session", "UserName": s.c.Username}
	s.docs[path] = doc
	return answer{status: http.StatusCreated, body: doc, header: http.Header{"X-Auth-Token": {token}, "Location": {path}}}
}

// drop ends a session; nothing else can be deleted.
func (s *Server) drop(at string) answer {
	for token, path := range s.sessions {
		if path == at {
			delete(s.sessions, token)
			delete(s.docs, at)
			return answer{status: http.StatusNoContent}
		}
	}
	return refused(http.StatusMethodNotAllowed, "a recorded %s cannot be deleted", at)
}

func send(w http.ResponseWriter, a answer) {
	maps.Copy(w.Header(), a.header)
	w.Header().Set("OData-Version", "4.0")
	if a.message != "" {
		id := "Base.1.0.GeneralError"
		if name, _, is := strings.Cut(a.message, ":"); is && !strings.Contains(name, " ") {
			id = "Base.1.0." + name
		}
		a.body = map[string]any{"error": map[string]any{"code": id, "message": a.message,
			"@Message.ExtendedInfo": []any{map[string]any{"MessageId": id, "Message": a.message}}}}
	}
	if a.body == nil && a.raw == nil {
		w.WriteHeader(a.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	text := a.raw
	if a.body != nil {
		var err error
		if text, err = json.Marshal(a.body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(a.status)
	_, _ = w.Write(text) // a client that is gone needs no answer
}
