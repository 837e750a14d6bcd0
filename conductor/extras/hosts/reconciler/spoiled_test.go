package reconciler_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// spoiled is a database in which documents called "bad" cannot be decoded once it is
// so, and the one called "clash" is always another than was read.
type spoiled struct {
	database
	so            atomic.Bool
	reads, writes atomic.Int64
}

func (s *spoiled) Objects(ctx context.Context, q objects.Query) ([]objects.Row, int64, error) {
	rows, revision, err := s.database.Objects(ctx, q)
	if !s.so.Load() {
		return rows, revision, err
	}
	for i := range rows {
		if rows[i].Name == "bad" && rows[i].Kind != hostapi.KindSecret {
			rows[i].Doc = []byte("{")
			if q.Name != "" && q.Kind == hostapi.KindHost {
				s.reads.Add(1)
			}
		}
	}
	return rows, revision, err
}

func (s *spoiled) WriteObjects(ctx context.Context, writes []objects.Write, done func([]int64)) error {
	for _, w := range writes {
		if s.so.Load() && w.Name == "clash" && w.Kind == hostapi.KindHost && w.Expect != 0 {
			s.writes.Add(1)
			return objects.ErrStale
		}
	}
	return s.database.WriteObjects(ctx, writes, done)
}

// TestSpoiledDocuments: a host, a DataImage or a secret that cannot be decoded, and a
// host that can never be saved, hold up no other, and are not looked at in a loop.
func TestSpoiledDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &spoiled{database: mem.New()}
		w := newWorld(t, s)
		w.start()
		defer func() { w.stop() }()
		w.secret("bmc", "right")
		w.secret("bad", "right")
		w.apply("bad", nil)
		w.becomes("bad", hostapi.StateAvailable)
		if _, err := objects.Create(t.Context(), w.docs,
			hostapi.DataImage{ObjectMeta: hostapi.ObjectMeta{Name: "bad", Namespace: "default"},
				Spec: hostapi.DataImageSpec{URL: "http://h/a.iso"}}); err != nil {
			t.Fatal(err)
		}
		w.apply("clash", nil)
		n := w.becomes("bad", hostapi.StateAvailable).Status.Provisioning.ID
		s.so.Store(true)
		w.stop()
		w.start()
		w.apply("good", nil)
		w.becomes("good", hostapi.StateAvailable)
		time.Sleep(time.Hour)
		w.apply("later", nil)
		w.becomes("later", hostapi.StateAvailable)
		if reads := s.reads.Load(); reads > 40 {
			t.Errorf("the host that cannot be decoded was read %d times in an hour", reads)
		}
		if writes := s.writes.Load(); writes > 100 || writes == 0 {
			t.Errorf("%d writes were made to the host that can never be saved", writes)
		}
		if _, err := w.eng.Node(t.Context(), n); err != nil {
			t.Errorf("the node of the host that cannot be read: %v", err)
		}
	})
}
