package serve

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/agents"
)

// shareMakers finds the code that makes shares of connections.
var shareMakers = regexp.MustCompile(`\b(connlimit\.(?:Limit|LimitAnd|Listen|NewShare|NewStreams)|auth\.NewStreams)\(([^\n]*)`)

// TestSharesFitTheConnections: all shares of the API's connections together leave room for requests without a share,
// and none takes all. A share that is made elsewhere has to be added here.
func TestSharesFitTheConnections(t *testing.T) {
	l := streamLimits()
	if l.All > maxConnections/2 || l.All+agents.MostRequests > maxConnections*7/8 {
		t.Errorf("%d streams and %d requests of agents: expected room for others among %d connections", l.All,
			agents.MostRequests, maxConnections)
	}
	if l.User < 1 || 2*l.User > l.Project || 4*l.Project > l.All || 2*l.Loopback > maxEach {
		t.Errorf("%+v: expected that two users fill no project, four projects not all, and the loopback's streams not its "+
			"connections, of which there are %d", l, maxEach)
	}
	for kind, most := range l.Kinds {
		if most < 1 || most > l.All {
			t.Errorf("%s: %d of %d", kind, most, l.All)
		}
	}
	root := filepath.Join("..", "..", "..")
	var found []string
	for _, top := range []string{"cmd", "conductor", "pxe", "agent", "proto"} {
		err := fs.WalkDir(os.DirFS(root), top, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(filepath.Join(root, path))
			for _, call := range shareMakers.FindAllStringSubmatch(string(text), -1) {
				if call[1] != "auth.NewStreams" {
					found = append(found, path+" "+call[1])
				} else if !strings.Contains(call[2], ", o.Streams)") {
					t.Errorf("%s: %s%s has no places of the pool of all", path, call[1], call[2])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(found)
	if want := []string{"agent/agent.go connlimit.Listen", // of the machine's own
		"cmd/ferrite/serve/agent_api.go connlimit.Listen",                                            // of its own port
		"cmd/ferrite/serve/api.go connlimit.Listen", "cmd/ferrite/serve/cluster.go connlimit.Listen", // of members alone
		"cmd/ferrite/serve/metrics.go connlimit.Listen", // of their own port
		"cmd/ferrite/serve/places.go connlimit.NewStreams",
		"conductor/agents/server.go connlimit.NewShare", "pxe/httpboot/serve.go connlimit.LimitAnd", // of its own port
	}; !slices.Equal(found, want) {
		t.Errorf("shares are made in %v, and added up here are those of %v", found, want)
	}
}
