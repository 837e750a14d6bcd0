package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// plainToTLS is the answer of Go's servers to plain HTTP on a port of HTTPS.
const plainToTLS = "Client sent an HTTP request to an HTTPS server"

// lineBegin is a further line of a text that is not indented.
var lineBegin = regexp.MustCompile(`\n(\S)`)

// fault is the server's error. It adds advice where the cause is the caller's login or the request's form.
func (c *client) fault(status int, reply []byte) *nodeapi.Fault {
	f := nodeapi.ParseFault(status, reply)
	if text, ok := statusText(reply); ok {
		f.Text = text
	}
	// further lines of it would look like errors of ours
	f.Text = lineBegin.ReplaceAllString(f.Text, "\n  $1")
	switch {
	case status == http.StatusUnauthorized:
		f.Text += "\n  log in: --user with FERRITE_PASSWORD or --user-password-file, or FERRITE_TOKEN"
	case strings.HasPrefix(f.Text, plainToTLS):
		f.Text += "\n  use https:// in --url or FERRITE_URL: " + strings.Replace(c.Base, "http://", "https://", 1)
	}
	return f
}

// unreachable explains why no answer came, with advice.
func (c *client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	var untrusted *tls.CertificateVerificationError
	var bad x509.CertificateInvalidError
	if errors.As(err, &untrusted) && errors.As(err, &bad) && bad.Reason == x509.Expired {
		return fmt.Errorf("the certificate of %s is not valid now: %w\n"+
			"  is the clock of this machine right? if it is, renew the conductor's --tls-cert; it needs no "+
			"restart", c.Base, err)
	}
	if errors.As(err, &untrusted) {
		return fmt.Errorf("the certificate of %s is not trusted: %w\n  name its authority with --ca-file or FERRITE_CACERT",
			c.Base, err)
	}
	if errors.Is(err, http.ErrSchemeMismatch) { // and will not be another server by waiting
		return exit.Is(exit.Unreachable, fmt.Errorf("the server at %s speaks plain HTTP: use %s in --url or FERRITE_URL",
			c.Base, "http://"+strings.TrimPrefix(c.Base, "https://")))
	}
	return &lostError{fmt.Errorf("cannot reach a conductor at %s: %w\n  is one running there? start one with: "+
		"ferrite serve\n"+
		"  is it at another address? set --url or FERRITE_URL", c.Base, err)}
}

// NotFound reports whether the server lacks the requested resource.
func NotFound(err error) bool {
	var f *nodeapi.Fault
	return errors.As(err, &f) && f.Status == http.StatusNotFound
}

// Forbidden reports whether the caller lacks the right to the requested resource.
func Forbidden(err error) bool {
	var f *nodeapi.Fault
	return errors.As(err, &f) && f.Status == http.StatusForbidden
}

// Unserved reports whether the server does not know the path. A Ferrite that lacks the node or the record answers 404
// with a text.
func Unserved(err error) bool {
	var f *nodeapi.Fault
	return errors.As(err, &f) && f.Status == http.StatusNotFound && f.Text == ""
}

// Older explains the error of a server that does not know a path: it lacks, say, "keeps no images". Other errors stay.
func (s *Session) Older(err error, lacks string) error {
	if Unserved(err) {
		return fmt.Errorf("the server at %s %s: it is no Ferrite, or an older one", s.Client.Base, lacks)
	}
	return err
}

// Failed is the error in a Status amid a watch.
func (c *client) Failed(status json.RawMessage) error {
	var st struct{ Code int }
	if err := json.Unmarshal(status, &st); err != nil || st.Code == 0 {
		st.Code = http.StatusInternalServerError
	}
	return c.fault(st.Code, status)
}

// statusText is the message of a Status that came in place of a document. Each of its causes has a line of its own.
func statusText(reply []byte) (string, bool) {
	var st struct {
		Kind, Message string
		Details       struct {
			Causes []struct{ Message, Field string }
		}
	}
	if json.Unmarshal(reply, &st) != nil || st.Kind != "Status" {
		return "", false
	}
	var lines []string
	for _, c := range st.Details.Causes {
		lines = append(lines, c.Field+": "+c.Message)
	}
	if len(lines) > 1 {
		return strings.Join(append([]string{fmt.Sprintf("%d things are wrong:", len(lines))}, lines...), "\n  "), true
	}
	return cmp.Or(strings.Join(lines, ""), st.Message), true
}

// warningText is the text of a Warning header (RFC 7234, 5.5): 299 - "text".
func warningText(header string) string {
	_, text, found := strings.Cut(header, `"`)
	if end := strings.LastIndexByte(text, '"'); found && end >= 0 {
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text[:end])
	}
	return header
}

// missingNode is how Ironic words that there is no such node, by a name that is no host's.
var missingNode = regexp.MustCompile(`^Node ([\w.-]+) could not be found`)

// ofHost is a request about the node of a host in the namespace default: lists show such a node by the name of its
// host. ok is false if the answer is not that the request's node is missing.
func ofHost(r Request, f *nodeapi.Fault) (other Request, ok bool) {
	at, missing := nodeOfPath.FindStringSubmatchIndex(r.Path), missingNode.FindStringSubmatch(f.Text)
	if f.Status != http.StatusNotFound || at == nil || missing == nil || r.Path[at[2]:at[3]] != missing[1] {
		return r, false
	}
	r.Path = r.Path[:at[2]] + url.PathEscape(hostapi.NodeName(hostapi.DefaultNamespace, missing[1])) + r.Path[at[3]:]
	return r, true
}

var (
	// nodeOfPath is the node that a request is about, as the operator named it.
	nodeOfPath = regexp.MustCompile(`^(?:/ferrite)?/v1/nodes/([^/?]+)`)
	// nodeByUUID is a node in an error of Ironic, which always names it by its UUID.
	nodeByUUID = regexp.MustCompile(`([Nn]ode "?)([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})`)
)

// asNamed replaces the node's identifier in an error by the name that the request used. It leaves an error alone that
// names several nodes, or a node from the request's body.
func asNamed(r Request, f *nodeapi.Fault) {
	m := nodeOfPath.FindStringSubmatch(r.Path)
	if m == nil {
		return
	}
	name, err := url.PathUnescape(m[1])
	if err != nil {
		return
	}
	uuid := ""
	for _, found := range nodeByUUID.FindAllStringSubmatch(f.Text, -1) {
		if uuid != "" && uuid != found[2] || bytes.Contains(r.Body, []byte(found[2])) {
			return
		}
		uuid = found[2]
	}
	f.Text = nodeByUUID.ReplaceAllStringFunc(f.Text, func(found string) string {
		return nodeByUUID.FindStringSubmatch(found)[1] + name
	})
}

// lostError is a request without an answer: the port is closed, or the connection broke.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// ExitCode returns the exit status for a conductor that did not answer.
func (e *lostError) ExitCode() exit.Code { return exit.Unreachable }

// lockedText is how Ironic words it.
var lockedText = regexp.MustCompile(` is locked by `)

// passing are the statuses of a server that restarts or has no room.
var passing = map[int]bool{
	http.StatusTooManyRequests: true, http.StatusBadGateway: true, http.StatusServiceUnavailable: true,
	http.StatusGatewayTimeout: true,
}

// Passing reports an error that may be gone soon: the server restarts, has no room, or the connection was lost. A
// request without an answer may have been carried out.
func Passing(err error) bool {
	var f *nodeapi.Fault
	var lost *lostError
	return errors.As(err, &f) && passing[f.Status] || errors.As(err, &lost)
}

// Locked reports a refusal since the conductor is at work on the node.
func Locked(err error) bool {
	var f *nodeapi.Fault
	return errors.As(err, &f) && f.Status == http.StatusConflict && lockedText.MatchString(f.Text)
}
