package redfishtest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// The account of a controller under test.
const (
	User     = "admin"
	Password = "pass word"
)

// Client sends plain requests to a controller.
type Client struct {
	URL string
}

// Call sends one request with basic authentication, and with header pairs that replace or, with an empty value, remove
// others. It returns the answer and its body.
func (c *Client) Call(t *testing.T, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, c.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(User, Password)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Del(header[i])
		if header[i+1] != "" {
			r.Header.Set(header[i], header[i+1])
		}
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

// Read gets a resource into a map.
func (c *Client) Read(t *testing.T, path string) map[string]any {
	t.Helper()
	response, body := c.Call(t, http.MethodGet, path, "")
	defer response.Body.Close()
	var doc map[string]any
	if err := json.Unmarshal([]byte(body), &doc); err != nil || response.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s: %s %v", path, response.Status, err)
	}
	return doc
}

// Send makes a request, and fails the test on any other status.
func (c *Client) Send(t *testing.T, method, path, body string, status int) *http.Response {
	t.Helper()
	response, text := c.Call(t, method, path, body)
	if response.StatusCode != status {
		t.Fatalf("%s %s %s: %s %s, expected %d", method, path, body, response.Status, text, status)
	}
	return response
}
