package archtest

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// listens is how code would serve strangers without a bound of their connections.
var listens = regexp.MustCompile(`\bnet\.(Listen(TCP|Unix)?\(|ListenConfig\b)|\btls\.Listen\(|[^*\w]http\.Server\{|` +
	`\bhttp\.(ListenAnd)?Serve(TLS)?\(`)

// ownListeners may, each for its reason.
var ownListeners = map[string]string{
	"proto/connlimit":                 "is the one place that bounds the connections of all others",
	"pxe/socket":                      "binds to an interface; pxe/httpboot bounds its connections by connlimit",
	"agent/rescue":                    "serves SSH, and bounds its connections itself",
	"conductor/extras/operate/doctor": "looks whether a port is free, and accepts nothing",
}

// TestListeners: a server of strangers listens by connlimit.Listen and is made by connlimit.NewServer. Without a bound
// of its connections anybody takes all descriptors of the process.
func TestListeners(t *testing.T) {
	used := map[string]bool{}
	walk(t, production, func(dir string, f file) {
		if strings.HasPrefix(dir, "lab") || dir == "cmd/ferrite-lab" || isForTests(dir) { // never where strangers are
			return
		}
		text, err := os.ReadFile("../../" + f.path)
		if err != nil {
			t.Fatal(err)
		}
		found := listens.Find(text)
		if used[dir] = used[dir] || found != nil; found != nil && ownListeners[dir] == "" {
			t.Errorf("%s has %s: use connlimit.Listen and connlimit.NewServer", f.path, found)
		}
	})
	for dir := range ownListeners {
		if !used[dir] {
			t.Errorf("%s listens no longer: delete its row", dir)
		}
	}
}
