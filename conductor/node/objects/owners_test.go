package objects_test

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// owned is a host that belongs to others, and may keep them waiting.
func owned(name string, finalizers []string, owners ...hostapi.Host) hostapi.Host {
	h := host(name)
	h.Finalizers = finalizers
	yes := true
	for _, o := range owners {
		h.OwnerReferences = append(h.OwnerReferences, hostapi.OwnerReference{
			APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: o.UID, BlockOwnerDeletion: &yes,
		})
	}
	return h
}

// state lists the hosts: "a*" is being deleted, "b<a" is owned by a.
func state(t *testing.T, k *objects.Keeper) string {
	t.Helper()
	all, _, err := objects.List[hostapi.Host](t.Context(), k, "")
	check(t, err)
	var words []string
	for _, h := range all {
		word := h.Name
		if h.DeletionTimestamp != nil {
			word += "*"
		}
		for _, o := range h.OwnerReferences {
			word += "<" + o.Name
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// TestPropagation: the documents that a deleted document owns go after it, before it, or not at all, as requested.
func TestPropagation(t *testing.T) {
	held := []string{"held"}
	for name, c := range map[string]struct {
		policy       objects.Propagation
		finalizers   []string // of the owner
		child        []string // of the documents it owns
		marked, gone string   // after the deletion; after all finalizers are taken away
	}{
		"background":                 {objects.Background, nil, nil, "x<o", "x<o"},
		"nothing said":               {"", nil, nil, "x<o", "x<o"},
		"background, owner held":     {objects.Background, held, nil, "a* b<a c<b x<a<o", "x<o"},
		"background, child held":     {objects.Background, nil, held, "b*<a c<b x<o", "x<o"},
		"orphan":                     {objects.Orphan, nil, nil, "b c<b x<o", "b c<b x<o"},
		"orphan, owner held":         {objects.Orphan, held, nil, "a* b c<b x<o", "b c<b x<o"},
		"foreground":                 {objects.Foreground, nil, nil, "x<o", "x<o"},
		"foreground, owner held":     {objects.Foreground, held, nil, "a* x<o", "x<o"},
		"foreground, child held":     {objects.Foreground, nil, held, "a* b*<a x<o", "x<o"},
		"foreground, both are held":  {objects.Foreground, held, held, "a* b*<a x<o", "x<o"},
		"an owner of another's only": {objects.Orphan, nil, held, "b c<b x<o", "b c<b x<o"},
	} {
		t.Run(name, func(t *testing.T) {
			k := fresh(t)
			other := host("o")
			other.Namespace = "elsewhere"
			other = create(t, k, other)
			a := create(t, k, owned("a", c.finalizers))
			b := create(t, k, owned("b", c.child, a))
			create(t, k, owned("c", nil, b))
			create(t, k, owned("x", nil, a, other))
			_, _, err := objects.Delete[hostapi.Host](t.Context(), k, "metal3", "a",
				objects.DeleteOptions{Propagation: c.policy})
			check(t, err)
			equal(t, "o "+c.marked, state(t, k))
			for _, name := range []string{"a", "b", "a"} {
				h, err := objects.Get[hostapi.Host](t.Context(), k, "metal3", name)
				if err != nil || h.DeletionTimestamp == nil {
					continue
				}
				kept := h.Finalizers[:0]
				for _, f := range h.Finalizers {
					if f != "held" {
						kept = append(kept, f)
					}
				}
				h.Finalizers = kept
				_, err = objects.Update(t.Context(), k, h)
				check(t, err)
			}
			equal(t, "o "+c.gone, state(t, k))
		})
	}
}

// TestCircle: two that own each other go together.
func TestCircle(t *testing.T) {
	k := fresh(t)
	a := create(t, k, host("a"))
	b := create(t, k, owned("b", nil, a))
	a.OwnerReferences = owned("a", nil, b).OwnerReferences
	_, err := objects.Update(t.Context(), k, a)
	check(t, err)
	w, err := k.Watch(objects.Filter{}, 5)
	check(t, err)
	_, gone, err := objects.Delete[hostapi.Host](t.Context(), k, "metal3", "a",
		objects.DeleteOptions{Propagation: objects.Foreground})
	check(t, err)
	if !gone || state(t, k) != "" {
		t.Errorf("left: %s", state(t, k))
	}
	for range 2 {
		if e, err := w.Next(t.Context()); err != nil || e.Type != objects.Deleted {
			t.Errorf("%+v, %v", e, err)
		}
	}
}
