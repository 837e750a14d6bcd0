package traces

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Target is where spans are sent: an OTLP receiver that takes protobuf by HTTP.
type Target struct {
	url     string
	headers http.Header
	client  *http.Client
}

// How a receiver is asked.
const (
	requestTime   = 10 * time.Second
	handshakeTime = 5 * time.Second
	idleTime      = 90 * time.Second
	maxHeaders    = 64 << 10 // of a file of headers
)

// defaultPath is where OTLP has its traces (OpenTelemetry Protocol 1.x, OTLP/HTTP).
const defaultPath = "/v1/traces"

// NewTarget reads how a receiver is reached: its http(s) URL, a file of headers as "Name: value" lines, and a PEM file
// of the authorities that its certificate is trusted by. The files may be "".
func NewTarget(endpoint, headersFile, caFile string) (*Target, error) {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("expected the http(s) URL of an OTLP receiver, such as http://127.0.0.1:4318")
	case u.User != nil:
		return nil, errors.New("the URL has credentials in it: put them into a file of headers")
	case u.Fragment != "" || u.RawQuery != "":
		return nil, errors.New("the URL has a query or a fragment, which no receiver reads: leave it out")
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = defaultPath
	}
	t := &Target{url: u.String()}
	if t.headers, err = readHeaders(headersFile); err != nil {
		return nil, err
	}
	secure, err := authorities(caFile)
	if err != nil {
		return nil, err
	}
	if caFile != "" && u.Scheme == "http" {
		return nil, errors.New("authorities are given for an http URL, which has no certificate: say https")
	}
	t.client = &http.Client{Timeout: requestTime, CheckRedirect: stay, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: secure, TLSHandshakeTimeout: handshakeTime,
		ForceAttemptHTTP2: true, IdleConnTimeout: idleTime, MaxConnsPerHost: 1, MaxResponseHeaderBytes: maxAnswer,
		ResponseHeaderTimeout: requestTime,
	}}
	return t, nil
}

// stay refuses to follow a redirect: spans and headers are for the receiver that was named.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// readHeaders reads a file of headers, without empty lines and lines that begin with #.
func readHeaders(path string) (http.Header, error) {
	headers := http.Header{}
	if path == "" {
		return headers, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxHeaders {
		return nil, fmt.Errorf("%s: %d bytes, of which there may be %d", path, len(raw), maxHeaders)
	}
	for number, line := range bytes.Split(raw, []byte("\n")) {
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, found := strings.Cut(text, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found || !isToken(name) || !isValue(value) {
			return nil, fmt.Errorf("%s: line %d: expected a header as Name: value", path, number+1)
		}
		switch http.CanonicalHeaderKey(name) {
		case "Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Host", "Connection":
			return nil, fmt.Errorf("%s: line %d: the header %s is the program's own: leave it out", path, number+1, name)
		}
		headers.Add(name, value)
	}
	return headers, nil
}

// isToken reports a name of a header (RFC 9110, 5.6.2).
func isToken(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		alphanumeric := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !alphanumeric && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	}) < 0
}

// isValue reports a value of a header (RFC 9110, 5.5).
func isValue(value string) bool {
	return value != "" && strings.IndexFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) < 0
}

// authorities reads a PEM file; "" takes the host's authorities.
func authorities(path string) (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if path == "" {
		return conf, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	conf.RootCAs = x509.NewCertPool()
	if !conf.RootCAs.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("%s: expected certificates as PEM, found none", path)
	}
	return conf, nil
}
