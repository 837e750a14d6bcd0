package ironic

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// saying is a transport that answers every question with the same page.
type saying struct {
	status int
	page   []byte
}

func (s saying) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: s.status, Header: http.Header{}, Request: r,
		Body: io.NopCloser(bytes.NewReader(s.page))}, nil
}

// FuzzList: for any answer of an Ironic to a list, the list ends, and each of its records has a UUID of its own.
func FuzzList(f *testing.F) {
	for _, seed := range []string{`{"nodes":[{"uuid":"a"},{"uuid":"b"}]}`, `{"nodes":[{"uuid":"a"}],"next":"http://x/"}`,
		`{"nodes":[{"uuid":"a"},{"uuid":"a"}]}`, `{"nodes":[{}]}`, `{"nodes":{}}`, `{"nodes":[],"next":7}`, `{"ports":[]}`,
		`{"error_message":"{\"faultstring\":\"no\"}"}`, "[", ""} {
		f.Add(http.StatusOK, []byte(seed))
		f.Add(http.StatusForbidden, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, page []byte) {
		if status < 200 || status > 599 || status == http.StatusServiceUnavailable || status/100 == 3 {
			return // not answers, or such that are waited for
		}
		c := &Client{base: "http://ironic", minor: Oldest, login: &Login{},
			http: &http.Client{Transport: saying{status, page}}}
		records, err := c.List(t.Context(), "nodes", "nodes", nil)
		if err != nil {
			return
		}
		seen := map[any]bool{}
		for _, r := range records {
			id, ok := r["uuid"].(string)
			if !ok || id == "" || seen[id] {
				t.Errorf("%s: the record %v has no UUID of its own", page, r)
			}
			seen[id] = true
		}
	})
}
