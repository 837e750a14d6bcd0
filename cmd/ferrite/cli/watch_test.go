package cli_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNodesWatched: node list --watch shows a node again when it changes, and a new node of an old name as new. It
// waits for a conductor that is away, and ends when it is interrupted.
func TestNodesWatched(t *testing.T) {
	t.Parallel()
	n := func(uuid, name, state string) string {
		return fmt.Sprintf(`{"uuid":%q,"name":%q,"provision_state":%q}`, uuid, name, state)
	}
	lists := []string{
		n("1", "a", "enroll") + "," + n("2", "b", "enroll"),
		n("1", "a", "enroll") + "," + n("2", "b", "manageable"),
		"", // away
		n("1", "a", "enroll"),
		n("1", "a", "enroll") + "," + n("3", "b", "enroll"),
	}
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/nodes" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		list := lists[min(int(asked.Add(1)), len(lists))-1]
		if list == "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, `{"nodes":[%s]}`, list)
	}))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	type end struct {
		stderr string
		code   int
	}
	ended := make(chan end)
	go func() {
		stderr, code := ferrite(ctx, srv.URL, w, "node", "list", "--watch", "--fields", "uuid,name,provision_state")
		w.Close()
		ended <- end{stderr, code}
	}()
	var got []string
	for lines := bufio.NewScanner(r); len(got) < 5 && lines.Scan(); {
		got = append(got, strings.Join(strings.Fields(lines.Text()), " "))
	}
	cancel()
	go func() { _, _ = io.Copy(io.Discard, r) }()
	want := []string{"UUID NAME PROVISION STATE", "1 a enroll", "2 b enroll", "2 b manageable", "3 b enroll"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	if e := <-ended; e.code != 0 || strings.Count(e.stderr, "waiting for it") != 1 {
		t.Errorf("exit %d:\n%s", e.code, e.stderr)
	}
}
