package keystone_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/keystone"
)

// saying is a transport that answers a login with one body and every question with another.
type saying struct{ login, token []byte }

func (s saying) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r,
		Body: io.NopCloser(bytes.NewReader(s.token))}
	if r.Method == http.MethodPost {
		answer.StatusCode, answer.Body = http.StatusCreated, io.NopCloser(bytes.NewReader(s.login))
		answer.Header.Set("X-Subject-Token", "own")
	}
	return answer, nil
}

// FuzzAnswers: for any answer of Keystone, a token has a user and a time of expiry to come, or there is an error of one
// line; and a service is at a URL of HTTP.
func FuzzAnswers(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"token":{"catalog":[{"type":"image","endpoints":[{"interface":"public","url":"http://glance:9292"}]}]}}`,
			`{"token":{"user":{"id":"u","name":"n"},"expires_at":"2099-01-01T00:00:00.000000Z","roles":[{"name":"reader"}]}}`},
		{`{"token":{"catalog":[{"type":"image","endpoints":[{"interface":"internal","url":"file:///etc"}]}]}}`, `{"token":{}}`},
		{`{"token":{"catalog":{}}}`, `{"token":{"user":{"id":"u"},"expires_at":"2001-01-01T00:00:00Z"}}`},
		{`{}`, `{"token":{"user":"u","expires_at":7}}`}, {"[", "<html>\n"}, {"", ""},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, login, token []byte) {
		c, err := keystone.New(keystone.Options{URL: "http://keystone:5000", User: "u", Project: "p", Domain: "d",
			Password: func() (string, error) { return "secret", nil }, Lasts: time.Minute,
			Transport: saying{login, token}, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		who, err := c.Identify(t.Context(), "token", false)
		if err == nil && !who.Expires.After(now) {
			t.Errorf("%s is taken for a token of %+v", token, who)
		}
		if err != nil && !errors.Is(err, auth.ErrUnknownToken) && strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("an error with lines of the answer's own: %q", err)
		}
		if at, err := c.Service(t.Context(), "image"); err == nil {
			if u, err := url.Parse(at.Endpoint); err != nil || !strings.HasPrefix(u.Scheme, "http") || u.Host == "" {
				t.Errorf("%s has the service at %q", login, at.Endpoint)
			}
		}
	})
}
