package archtest

import (
	"os"
	"regexp"
	"testing"
)

// readsClient matches code that determines the client of a request or connection by itself.
var readsClient = regexp.MustCompile(`\.RemoteAddr\b|"(X-Forwarded-(For|Proto)|X-Real-Ip|X-Real-IP|Forwarded)"`)

// clientReaders may, each for its reason.
var clientReaders = map[string]string{
	"proto/clientaddr":  "is the one place that answers whose a request is",
	"proto/connlimit":   "counts connections before there is a request",
	"conductor/cluster": "hands the client of a request on to the leader",
	"agent/rescue":      "serves SSH, whose connections are no requests",
	"lab":               "notes the connections of machines in tests",
}

// TestClientOfRequest: all others ask clientaddr.Of, which knows of proxies. An address of a proxy in place of its
// client's would share limits, lockouts and leases among all clients.
func TestClientOfRequest(t *testing.T) {
	used := map[string]bool{}
	walk(t, production, func(dir string, f file) {
		text, err := os.ReadFile("../../" + f.path)
		if err != nil {
			t.Fatal(err)
		}
		found := readsClient.Find(text)
		if used[dir] = used[dir] || found != nil; found != nil && clientReaders[dir] == "" {
			t.Errorf("%s has %s: ask clientaddr.Of whose the request is", f.path, found)
		}
	})
	for dir := range clientReaders {
		if !used[dir] {
			t.Errorf("%s reads no client: delete its row", dir)
		}
	}
}
