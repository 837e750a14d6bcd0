package objects_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// keeper makes a keeper with counted UIDs, over a store that can be broken.
func keeper(t *testing.T, s objects.Store, change func(*objects.Config)) *objects.Keeper {
	t.Helper()
	n := 0
	c := objects.Config{
		Store: s, Key: make([]byte, 32), Now: func() time.Time { return noon },
		NewUID: func() string { n++; return fmt.Sprintf("uid-%d", n) },
	}
	if change != nil {
		change(&c)
	}
	k, err := objects.New(t.Context(), c)
	check(t, err)
	return k
}

func fresh(t *testing.T) *objects.Keeper { return keeper(t, mem.New(), nil) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused checks that a request was not done, for a reason and in words.
func refused(t *testing.T, err, cause error, words string) {
	t.Helper()
	var r *objects.Refusal
	if !errors.As(err, &r) || !errors.Is(err, cause) || !strings.Contains(err.Error(), words) {
		t.Errorf("got the error %v, want %v: %q", err, cause, words)
	}
}

func equal(t *testing.T, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func host(name string) hostapi.Host {
	return hostapi.Host{ObjectMeta: hostapi.ObjectMeta{Name: name, Namespace: "metal3"},
		Spec: hostapi.HostSpec{Online: true}}
}

func create(t *testing.T, k *objects.Keeper, h hostapi.Host) hostapi.Host {
	t.Helper()
	made, err := objects.Create(t.Context(), k, h)
	check(t, err)
	return made
}

// TestLife follows a host from its creation to its end: the fields that only the server sets, the generation, and the
// wait for its finalizers.
func TestLife(t *testing.T) {
	k := fresh(t)
	h := host("node-0")
	h.UID, h.Generation, h.ResourceVersion = "mine", 7, "3"
	h.Status.PoweredOn = true
	h = create(t, k, h)
	want := host("node-0")
	want.TypeMeta = hostapi.TypeMeta{Kind: "BareMetalHost", APIVersion: "metal3.io/v1alpha1"}
	want.UID, want.Generation, want.CreationTimestamp = "uid-2", 1, hostapi.At(noon)
	want.ResourceVersion = "3" // after the revisions of the two namespaces
	want.UID = h.UID
	equal(t, want, h)
	_, err := objects.Create(t.Context(), k, host("node-0"))
	refused(t, err, objects.ErrExists, "BareMetalHost metal3/node-0 exists already")

	h.Status.PoweredOn, h.Spec.Online = true, false
	saved, err := objects.UpdateStatus(t.Context(), k, h)
	check(t, err)
	if !saved.Status.PoweredOn || !saved.Spec.Online || saved.Generation != 1 || saved.ResourceVersion != "4" {
		t.Errorf("after the status: %+v", saved)
	}
	_, err = objects.UpdateStatus(t.Context(), k, h)
	refused(t, err, objects.ErrConflict,
		"has been modified; please apply your changes to the latest version and try again")

	saved.Spec.Online, saved.Status.PoweredOn, saved.Finalizers = false, false, []string{hostapi.Finalizer}
	h, err = objects.Update(t.Context(), k, saved)
	check(t, err)
	if !h.Status.PoweredOn || h.Spec.Online || h.Generation != 2 {
		t.Errorf("after the spec: %+v", h)
	}
	again, err := objects.Update(t.Context(), k, h)
	check(t, err)
	equal(t, h, again) // nothing changed, nothing written

	has, err := k.Has(t.Context(), objects.Key{Kind: hostapi.KindHost, Namespace: "metal3", Name: "node-0"})
	if none, _ := k.Has(t.Context(),
		objects.Key{Kind: hostapi.KindHost, Namespace: "metal3", Name: "node-1"}); err != nil || !has || none {
		t.Errorf("has one: %v (%v), has another: %v", has, err, none)
	}
	d, gone, err := objects.Delete[hostapi.Host](t.Context(), k, "metal3", "node-0", objects.DeleteOptions{})
	check(t, err)
	if gone || d.DeletionTimestamp == nil || d.Generation != 3 || *d.DeletionGrace != 0 {
		t.Errorf("gone %v: %+v", gone, d)
	}
	late := d
	late.Finalizers = append(late.Finalizers, "another")
	_, err = objects.Update(t.Context(), k, late)
	refused(t, err, objects.ErrInvalid, "metadata.finalizers[1]: no new finalizers")
	d.Finalizers, d.Status.ErrorMessage = nil, "the last word"
	_, err = objects.Save(t.Context(), k, d)
	check(t, err)
	_, err = objects.Get[hostapi.Host](t.Context(), k, "metal3", "node-0")
	refused(t, err, objects.ErrNotFound, "BareMetalHost metal3/node-0 not found")
}

// TestPreconditions: a request for another UID or version of a document changes nothing.
func TestPreconditions(t *testing.T) {
	k := fresh(t)
	h := create(t, k, host("a"))
	for _, o := range []objects.DeleteOptions{{UID: "other"}, {ResourceVersion: "1"}} {
		_, _, err := objects.Delete[hostapi.Host](t.Context(), k, "metal3", "a", o)
		refused(t, err, objects.ErrConflict, "metal3/a")
	}
	other := h
	other.UID, other.ResourceVersion = "other", ""
	_, err := objects.Update(t.Context(), k, other)
	refused(t, err, objects.ErrConflict, "made anew")
	other.UID = ""
	other.Labels = map[string]string{"a": "b"}
	_, err = objects.Update(t.Context(), k, other) // in no version: whichever there is
	check(t, err)
	_, gone, err := objects.Delete[hostapi.Host](t.Context(), k, "metal3", "a", objects.DeleteOptions{UID: h.UID})
	if err != nil || !gone {
		t.Error(gone, err)
	}
	_, _, err = objects.Delete[hostapi.Host](t.Context(), k, "metal3", "a", objects.DeleteOptions{})
	refused(t, err, objects.ErrNotFound, "not found")
}

// TestDry: a dry run changes nothing, and returns the result it would have.
func TestDry(t *testing.T) {
	k := fresh(t)
	h := host("a")
	h.Kind = hostapi.KindHost
	d, err := k.Create(t.Context(), &h, true)
	if err != nil || d.Meta().UID == "" {
		t.Fatal(d, err)
	}
	_, err = objects.Get[hostapi.Host](t.Context(), k, "metal3", "a")
	refused(t, err, objects.ErrNotFound, "not found")
	made := create(t, k, h)
	made.Spec.Online = false
	if d, err = k.Update(t.Context(), &made, objects.Main, true); err != nil || d.Meta().Generation != 2 {
		t.Error(d, err)
	}
	if _, gone, err := k.Delete(t.Context(), objects.Key{Kind: "BareMetalHost", Namespace: "metal3", Name: "a"},
		objects.DeleteOptions{Dry: true}); err != nil || !gone {
		t.Error(gone, err)
	}
	kept, err := objects.Get[hostapi.Host](t.Context(), k, "metal3", "a")
	check(t, err)
	if !kept.Spec.Online {
		t.Error("it was changed")
	}
}

// TestNamespaces: a namespace is created with its first document, and can be deleted when it is empty.
func TestNamespaces(t *testing.T) {
	k := fresh(t)
	create(t, k, host("a"))
	create(t, k, host("b"))
	all, _, err := objects.List[hostapi.Namespace](t.Context(), k, "")
	check(t, err)
	if len(all) != 2 || all[0].Name != "default" || all[1].Name != "metal3" || all[1].Status.Phase != "Active" ||
		all[1].Generation != 0 {
		t.Errorf("%+v", all)
	}
	_, _, err = objects.Delete[hostapi.Namespace](t.Context(), k, "", "metal3", objects.DeleteOptions{})
	refused(t, err, objects.ErrConflict, "is not empty, there is BareMetalHost metal3/a in it")
	_, _, err = objects.Delete[hostapi.Namespace](t.Context(), k, "", "default", objects.DeleteOptions{})
	refused(t, err, objects.ErrForbidden, "cannot be deleted")
	for _, name := range []string{"a", "b"} {
		_, _, err = objects.Delete[hostapi.Host](t.Context(), k, "metal3", name, objects.DeleteOptions{})
		check(t, err)
	}
	_, gone, err := objects.Delete[hostapi.Namespace](t.Context(), k, "", "metal3", objects.DeleteOptions{})
	if err != nil || !gone {
		t.Error(gone, err)
	}
}

// TestBroken: a failed write reaches no follower, and a write that races with another is tried again if it names no
// version.
func TestBroken(t *testing.T) {
	s := mem.New()
	k := keeper(t, s, nil)
	h := create(t, k, host("a"))
	w, err := k.Watch(objects.Filter{}, 3)
	check(t, err)
	boom := errors.New("boom")
	s.Fail(mem.Fault{Method: "WriteObjects", Nth: 1, Err: boom})
	h.Spec.Online, h.ResourceVersion = false, ""
	if _, err := objects.Update(t.Context(), k, h); !errors.Is(err, boom) {
		t.Error(err)
	}
	s.Fail(mem.Fault{Method: "WriteObjects", Nth: 1, Err: fmt.Errorf("met another: %w", objects.ErrStale)})
	saved, err := objects.Update(t.Context(), k, h)
	check(t, err)
	e, err := w.Next(t.Context())
	if err != nil || e.Type != objects.Modified || fmt.Sprint(e.Revision) != saved.ResourceVersion || e.Revision != 4 {
		t.Errorf("%+v, %v", e, err)
	}
	s.Fail(mem.Fault{Method: "WriteObjects", Nth: 1, Err: fmt.Errorf("met another: %w", objects.ErrStale)})
	saved.Spec.Online = true
	_, err = objects.Update(t.Context(), k, saved)
	refused(t, err, objects.ErrConflict, "has been modified")
	s.Fail(mem.Fault{Method: "Objects", Err: boom})
	if _, err := objects.Get[hostapi.Host](t.Context(), k, "metal3", "a"); !errors.Is(err, boom) {
		t.Error(err)
	}
}

// TestRestart: a keeper over a store that has documents carries on, but does not know the earlier writes.
func TestRestart(t *testing.T) {
	s := mem.New()
	create(t, keeper(t, s, nil), host("a"))
	k := keeper(t, s, nil)
	if _, err := k.Watch(objects.Filter{}, 2); !errors.Is(err, objects.ErrExpired) {
		t.Error(err)
	}
	_, revision, err := objects.List[hostapi.Host](t.Context(), k, "")
	check(t, err)
	w, err := k.Watch(objects.Filter{Kind: hostapi.KindHost}, revision)
	check(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
