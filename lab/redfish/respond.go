package redfish

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
)

// maxBody bounds a request's body; real ones are a few hundred octets.
const maxBody = 64 << 10

// encode is v as the controller writes it.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// etagOf is a strong ETag (RFC 9110, 8.8.3): it changes with every octet.
func etagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

// write sends an answer. Answers to GET carry an ETag.
func (s *Server) write(w http.ResponseWriter, r *http.Request, answer reply) {
	header := w.Header()
	header.Set("OData-Version", "4.0")
	header.Set("Cache-Control", "no-cache")
	for name, values := range answer.header {
		header[name] = values
	}
	if answer.body == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	body, raw := answer.body.([]byte)
	if !raw {
		var err error
		if body, err = encode(answer.body); err != nil {
			s.writeError(w, r, err)
			return
		}
		header.Set("Content-Type", "application/json; charset=utf-8")
	}
	status := answer.status
	if status == 0 {
		status = http.StatusOK
		tag := etagOf(body)
		header.Set("ETag", s.personality.ShowTag(tag, s.personality.gzips(r)))
		if matches(r.Header.Get("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		if s.personality.gzips(r) {
			packed, err := compress(body)
			if err != nil {
				s.writeError(w, r, err)
				return
			}
			header.Set("Content-Encoding", "gzip")
			body = packed
		}
	}
	s.send(w, status, body)
}

// send writes a body; a client that went away is its own affair.
func (s *Server) send(w http.ResponseWriter, status int, body []byte) {
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		s.log.Debug("answer not taken", "err", err)
	}
}

// writeError sends an error with extended information.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	if asProblem(err).message().Status == http.StatusInternalServerError {
		s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "err", err)
	}
	writeProblem(w, err)
}

func writeProblem(w http.ResponseWriter, err error) {
	status, body := Problem(err)
	header := w.Header()
	header.Set("OData-Version", "4.0")
	header.Set("Content-Type", "application/json; charset=utf-8")
	if status == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", `Basic realm="BMC"`)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone needs no answer
}

// precondition honours If-Match on changes (DSP0266, 7.5): the ETag sent must
// be the one a GET would give now. Actions are not changes of a resource.
func (s *Server) precondition(methods resource, r *http.Request) error {
	want := r.Header.Get("If-Match")
	read, readable := methods[http.MethodGet]
	if want == "" || !readable || r.Method == http.MethodGet || r.Method == http.MethodHead ||
		r.Method == http.MethodPost {
		return nil
	}
	now, err := read.handle(r)
	if err != nil {
		return err
	}
	body, err := encode(now.body)
	if err != nil {
		return err
	}
	if !s.personality.matches(want, etagOf(body)) {
		return problem(preconditionFailed)
	}
	return nil
}

// matches reports whether a list of ETags from a request holds tag. Weak ones count: some proxies and controllers
// weaken a tag on its way.
func matches(list, tag string) bool {
	for candidate := range strings.SplitSeq(list, ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == "*" || candidate == tag {
			return true
		}
	}
	return false
}

// with reads the body of a request for the handler.
func with[T any](answer func(*http.Request, T) (reply, error)) handler {
	return func(r *http.Request) (reply, error) {
		var body T
		if err := decode(r, &body); err != nil {
			return reply{}, err
		}
		return answer(r, body)
	}
}

// change is with for a change that is answered 204.
func change[T any](do func(*http.Request, T) error) handler {
	return with(func(r *http.Request, body T) (reply, error) { return reply{}, do(r, body) })
}

// oneOf refuses a parameter of an action that is missing or not in the list.
func oneOf[T ~string](action, parameter string, value T, list ...T) error {
	switch {
	case value == "":
		return problem(parameterMissing, action, parameter).about("#/" + parameter)
	case !slices.Contains(list, value):
		return problem(parameterNotInList, string(value), parameter, action).about("#/" + parameter)
	}
	return nil
}

// decode reads a request's body into v. An empty body leaves v alone: some
// clients post actions without parameters that way.
func decode(r *http.Request, v any) error {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return problem(malformedJSON).because(err)
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err = d.Decode(v)
	if err == nil && d.More() {
		err = errors.New("more than one value")
	}
	switch {
	case err == nil:
		return nil
	case strings.HasPrefix(err.Error(), "json: unknown field "): // encoding/json has no type for it
		name := strings.Trim(strings.TrimPrefix(err.Error(), "json: unknown field "), `"`)
		return problem(propertyUnknown, name).about("#/" + name)
	default:
		return problem(malformedJSON).because(err)
	}
}
