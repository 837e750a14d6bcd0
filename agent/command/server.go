package command

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// maxBody bounds a command. The largest carry a config drive twice; more than
// this, with its copies on the way through, would not fit into the memory of
// a small machine. Larger drives are given as a URL.
const maxBody = 32 << 20

// Server answers on the agent's port.
type Server struct {
	run  *runner
	opts Options
}

// New makes a server. Its async commands run until ctx ends.
func New(ctx context.Context, o Options) *Server {
	return &Server{run: &runner{ctx: ctx, opts: o}, opts: o}
}

// ServeHTTP routes by hand: ironic-python-agent serves everything with and
// without /v1, redirects where the last slash is missing, and answers even
// unknown paths and methods with a fault in JSON.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close") // only callers with the token keep idle connections, see authorize
	path := r.URL.Path
	versioned := path == "/v1" || strings.HasPrefix(path, "/v1/")
	if versioned {
		path = strings.TrimPrefix(path, "/v1")
	}
	switch {
	case path == "" || path == "/commands":
		redirect(w, r)
	case path == "/" && versioned:
		s.only(w, r, s.v1, http.MethodGet)
	case path == "/":
		s.only(w, r, s.root, http.MethodGet)
	case path == "/status":
		s.only(w, r, s.status, http.MethodGet)
	case path == "/commands/":
		s.only(w, r, s.commands, http.MethodPost, http.MethodGet)
	case strings.HasPrefix(path, "/commands/"):
		s.only(w, r, s.command, http.MethodGet)
	default:
		refuse(w, &HTTPError{http.StatusNotFound, "404 Not Found: The requested URL was not found on the server."})
	}
}

// only lets the methods through that a path has; HEAD goes with GET.
func (s *Server) only(w http.ResponseWriter, r *http.Request, next http.HandlerFunc, methods ...string) {
	for _, m := range methods {
		if r.Method == m || m == http.MethodGet && r.Method == http.MethodHead {
			next(w, r)
			return
		}
	}
	w.Header().Set("Allow", strings.Join(append(methods, http.MethodHead), ", "))
	refuse(w, &HTTPError{http.StatusMethodNotAllowed,
		"405 Method Not Allowed: The method is not allowed for the requested URL."})
}

func (s *Server) status(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, struct {
		StartedAt float64 `json:"started_at"` // seconds since 1970
		Version   string  `json:"version"`
	}{float64(s.opts.Started.UnixMicro()) / 1e6, s.opts.Version})
}

// commands lists the results, or starts a command.
func (s *Server) commands(w http.ResponseWriter, r *http.Request) {
	if err := s.authorize(w, r); err != nil {
		refuse(w, err)
		return
	}
	if r.Method != http.MethodPost {
		answer(w, http.StatusOK, agentapi.Results{Commands: s.run.results()})
		return
	}
	c, err := readCommand(w, r)
	if err != nil {
		refuse(w, err)
		return
	}
	e, err := s.run.start(c)
	if err != nil {
		refuse(w, err)
		return
	}
	s.reply(w, r, e)
	go s.run.follow(e) // the answer is sent when this handler returns
}

// command answers GET for one result.
func (s *Server) command(w http.ResponseWriter, r *http.Request) {
	if err := s.authorize(w, r); err != nil {
		refuse(w, err)
		return
	}
	id := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	e := s.run.find(id)
	if e == nil {
		refuse(w, &HTTPError{http.StatusNotFound, fmt.Sprintf("Not found: Command Result with id %s not found.", id)})
		return
	}
	s.reply(w, r, e)
}

// reply sends a result, after the command's end when that was asked for.
func (s *Server) reply(w http.ResponseWriter, r *http.Request, e *entry) {
	if strings.EqualFold(r.URL.Query().Get("wait"), "true") {
		select {
		case <-e.done:
		case <-r.Context().Done():
			return // the client is gone
		}
	}
	answer(w, http.StatusOK, s.run.result(e))
}

// authorize checks the token, and lets the connection stay open. Ironic before 1.83
// lists results without a token. A token that is sent must be the right one even so.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) error {
	given, want := r.URL.Query().Get("agent_token"), s.opts.Token()
	if want != "" && subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1 {
		w.Header().Del("Connection")
		connlimit.Known(r)
		return nil
	}
	if given == "" && want != "" && r.Method != http.MethodPost && s.opts.OpenList() {
		return nil
	}
	return &HTTPError{http.StatusUnauthorized, "401 Unauthorized: Token invalid."}
}

// readCommand reads the body of a POST.
func readCommand(w http.ResponseWriter, r *http.Request) (agentapi.Command, error) {
	var c agentapi.Command
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return c, &HTTPError{http.StatusRequestEntityTooLarge,
			fmt.Sprintf("413 Request Entity Too Large: a command has at most %d bytes.", maxBody)}
	}
	if err != nil {
		return c, &HTTPError{http.StatusBadRequest, "400 Bad Request: " + err.Error()}
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, &HTTPError{http.StatusBadRequest, "400 Bad Request: Failed to decode JSON object: " + err.Error()}
	}
	if c.Name == "" || len(c.Params) == 0 || c.Params[0] != '{' {
		return c, &HTTPError{http.StatusBadRequest, "400 Bad Request: Missing or invalid name or params"}
	}
	return c, nil
}

// refuse sends a fault.
func refuse(w http.ResponseWriter, err error) {
	var e *HTTPError
	if !errors.As(err, &e) {
		e = &HTTPError{http.StatusInternalServerError, err.Error()}
	}
	answer(w, e.Status, e.fault())
}

func answer(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(
			`{"faultcode": "Server", "faultstring": "the answer cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client may be gone
}

// redirect adds the last slash, keeping method and body (308).
func redirect(w http.ResponseWriter, r *http.Request) {
	u := *r.URL
	u.Path += "/"
	w.Header().Set("Location", base(r)+u.RequestURI())
	w.WriteHeader(http.StatusPermanentRedirect)
}

// base is the URL the caller reached us by, without path.
func base(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}
