package serve

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestHostsBesideFrozenLeader: a frozen leader does not hold up the hosts of other groups, even when more hosts of its
// group wait than the reconciler has workers.
func TestHostsBesideFrozenLeader(t *testing.T) {
	t.Parallel()
	const hosts = 12
	database, key := postgrestest.URL(t), clusterKey(t, "0123456789")
	near := startMember(t, "near", database, key)
	ready(t, near)
	rack := servetest.StartProcess(t, filepath.Join(t.TempDir(), "rack"), "--database", database, "--cluster-key-file",
		key, "--host", "rack", "--group", "rack-a")
	ready(t, &rack.Conductor)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("near:\n%s\nrack:\n%s", near.Log, rack.Log)
		}
	})
	var names []string
	for i := range hosts {
		names = append(names, makeHost(t, near, i, "rack-a"))
	}
	for _, name := range names {
		hostBecomes(t, name, hostapi.StateAvailable, near)
	}
	rack.Freeze(t)
	frozen := time.Now()
	for _, name := range names {
		patchHost(t, name, hostImage("http://images/a"), near)
	}
	hostBecomes(t, makeHost(t, near, hosts, ""), hostapi.StateAvailable, near)
	t.Logf("a host of the default group is available after %s", time.Since(frozen))
	if took := time.Since(frozen); took > 25*time.Second {
		t.Errorf("a host of the default group waited for %s", took)
	}
	for _, name := range names {
		h := hostIs(t, name, "waiting", func(h hostapi.Host) bool { return h.Status.ErrorMessage != "" }, near)
		if st := h.Status; !strings.Contains(st.ErrorMessage, "rack-a") || st.ErrorType != "" || st.ErrorCount != 0 {
			t.Errorf("the status of a host that waits is %+v", st)
		}
	}
	rack.Thaw(t)
	for _, name := range names {
		hostBecomes(t, name, hostapi.StateProvisioned, near)
	}
	near.End(t)
}
