package reconciler_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// BenchmarkConverge is how long a site of 500 hosts on fake hardware takes from
// its documents to the last image, with SQLite on disk: registered, inspected,
// prepared, cleaned and provisioned, 20 at a time.
func BenchmarkConverge(b *testing.B) {
	const many = 500
	for b.Loop() {
		db, err := store.Open(context.Background(), filepath.Join(b.TempDir(), "ferrite.db"), store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		w := newWorld(b, db)
		w.start()
		w.secret("bmc", "right")
		for i := range many {
			w.apply(fmt.Sprintf("h%d", i), withImage("http://images/a"))
		}
		for i := range many {
			for w.host(fmt.Sprintf("h%d", i)).Status.Provisioning.State != hostapi.StateProvisioned {
				time.Sleep(10 * time.Millisecond)
			}
		}
		w.stop()
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/500-hosts")
}
