package objects_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// line is an event in a line.
func line(t *testing.T, e objects.Event) string {
	t.Helper()
	d, err := e.Document()
	check(t, err)
	if d.Meta().ResourceVersion != fmt.Sprint(e.Revision) {
		t.Errorf("event %d has a document of version %s", e.Revision, d.Meta().ResourceVersion)
	}
	return fmt.Sprintf("%d %s %s %v>%v", e.Revision, e.Type, e.Key, e.Before, e.After)
}

// TestWatch follows the changes of documents, in order and from any revision that is still kept.
func TestWatch(t *testing.T) {
	k := fresh(t)
	h := host("a")
	h.Labels = map[string]string{"rack": "1"}
	h = create(t, k, h)
	h.Labels["rack"] = "2"
	h, err := objects.Update(t.Context(), k, h)
	check(t, err)
	_, err = objects.Create(t.Context(), k, credentials())
	check(t, err)
	_, _, err = objects.Delete[hostapi.Host](t.Context(), k, "metal3", "a", objects.DeleteOptions{})
	check(t, err)

	all := []string{
		"1 ADDED Namespace default map[]>map[]",
		"2 ADDED Namespace metal3 map[]>map[]",
		"3 ADDED BareMetalHost metal3/a map[]>map[rack:1]",
		"4 MODIFIED BareMetalHost metal3/a map[rack:1]>map[rack:2]",
		"5 ADDED Secret metal3/bmc map[]>map[]",
		"6 DELETED BareMetalHost metal3/a map[rack:2]>map[rack:2]",
	}
	for name, c := range map[string]struct {
		f    objects.Filter
		from int64
		want []string
	}{
		"all":            {objects.Filter{}, 0, all},
		"from the third": {objects.Filter{}, 3, all[3:]},
		"hosts":          {objects.Filter{Kind: "BareMetalHost"}, 0, []string{all[2], all[3], all[5]}},
		"a namespace":    {objects.Filter{Namespace: "metal3"}, 3, all[3:]},
		"a name":         {objects.Filter{Name: "bmc"}, 0, all[4:5]},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := k.Watch(c.f, c.from)
			check(t, err)
			for _, want := range c.want {
				e, err := w.Next(t.Context())
				check(t, err)
				equal(t, want, line(t, e))
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if e, err := w.Next(ctx); !errors.Is(err, context.Canceled) || w.Seen() != 6 {
				t.Errorf("more: %+v, %v, seen %d", e, err, w.Seen())
			}
		})
	}
}

// TestExpired: a follower that falls out of the window, by count or by bytes, gets an error.
func TestExpired(t *testing.T) {
	for name, bound := range map[string]func(*objects.Config){
		"by count": func(c *objects.Config) { c.Events = 3 },
		"by bytes": func(c *objects.Config) { c.EventBytes = 900 },
	} {
		t.Run(name, func(t *testing.T) {
			k := keeper(t, mem.New(), bound)
			w, err := k.Watch(objects.Filter{}, 0)
			check(t, err)
			_, err = w.Next(t.Context())
			check(t, err)
			for i := range 5 {
				create(t, k, host(fmt.Sprint("n", i)))
			}
			if _, err := w.Next(t.Context()); !errors.Is(err, objects.ErrExpired) {
				t.Errorf("got %v", err)
			}
			if _, err := k.Watch(objects.Filter{}, 1); !errors.Is(err, objects.ErrExpired) {
				t.Errorf("got %v", err)
			}
			_, revision, err := objects.List[hostapi.Host](t.Context(), k, "")
			check(t, err)
			w, err = k.Watch(objects.Filter{}, revision-2)
			check(t, err)
			e, err := w.Next(t.Context())
			check(t, err)
			equal(t, "n3", e.Key.Name)
		})
	}
}

// TestListAndWatch: a client that lists and then follows from there misses nothing and sees nothing twice, during any
// writes.
func TestListAndWatch(t *testing.T) {
	const writers, each = 4, 20
	k := keeper(t, mem.New(), func(c *objects.Config) { c.NewUID = nil })
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				if _, err := objects.Create(t.Context(), k, host(fmt.Sprintf("n-%d-%d", w, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	listed, revision, err := objects.List[hostapi.Host](t.Context(), k, "metal3")
	check(t, err)
	seen := map[string]bool{}
	for _, h := range listed {
		seen[h.Name] = true
	}
	w, err := k.Watch(objects.Filter{Kind: hostapi.KindHost}, revision)
	check(t, err)
	for len(seen) < writers*each {
		e, err := w.Next(t.Context())
		check(t, err)
		if seen[e.Key.Name] || e.Type != objects.Added {
			t.Fatalf("%s is told of twice", e.Key)
		}
		seen[e.Key.Name] = true
	}
	all.Wait()
}
