package serve

import (
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
)

// fetch gets a page, with its status.
func fetch(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// TestMetrics: a node is counted, at the API's address or at one of the metrics' own.
func TestMetrics(t *testing.T) {
	dir := t.TempDir()
	c := start(t, dir)
	n := c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "resource_class": "small"}, 201)
	id, _ := n["uuid"].(string)
	c.Call(t, "PUT", "/v1/nodes/"+id+"/states/provision", map[string]any{"target": "manage"}, 202)
	c.Until(t, id, "manageable")
	status, page := fetch(t, c.URL+"/metrics")
	for _, line := range []string{
		`ferrite_nodes{fault="false",maintenance="false",resource_class="small",state="manageable"} 1`,
		`ferrite_node_transitions_total{from="verifying",to="manageable"} 1`,
		`ferrite_api_requests_total{method="POST",route="/v1/nodes",status="201"} 1`,
		`ferrite_store_ready 1`,
	} {
		if status != 200 || !strings.Contains(page, line+"\n") {
			t.Errorf("status %d, no line %s in\n%s", status, line, page)
		}
	}
	c.End(t)
	c = start(t, dir, "--metrics-address", servetest.AnyPort)
	defer c.End(t)
	own := regexp.MustCompile(`url=(http://\S+/metrics)`).FindStringSubmatch(c.Log.String())
	if own == nil {
		t.Fatalf("the log does not say where the metrics are:\n%s", c.Log.String())
	}
	const counted = `ferrite_nodes{fault="false",maintenance="false",resource_class="small",state="manageable"} 1`
	for range 100 {
		if status, page = fetch(t, own[1]); strings.Contains(page, counted) {
			break
		}
	}
	if status != 200 || !strings.Contains(page, counted+"\n") {
		t.Errorf("after a restart, status %d:\n%s", status, page)
	}
	manyReaders(t, strings.TrimSuffix(strings.TrimPrefix(own[1], "http://"), "/metrics"))
	if status, page = fetch(t, c.URL+"/metrics"); status != 404 || !strings.Contains(page, "--metrics-address") {
		t.Errorf("metrics at the API's address beside their own: %d %s", status, page)
	}
}

// manyReaders: of many connections of one address, only a few stay open.
func manyReaders(t *testing.T, address string) {
	t.Helper()
	const many = 4 * maxScrapesEach
	closed := make(chan struct{}, many)
	for range many {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		go func() {
			if _, err := io.Copy(io.Discard, conn); err == nil {
				closed <- struct{}{}
			}
		}()
	}
	for n := range many - maxScrapesEach {
		select {
		case <-closed:
		case <-time.After(5 * time.Second): // net/http would close all of them later
			t.Fatalf("of %d connections that say nothing, %d were closed, expected %d", many, n, many-maxScrapesEach)
		}
	}
}
