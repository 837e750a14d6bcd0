package sharing

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// keyRows are the rows of shared keys in memory, one for each name.
type keyRows map[string]store.SharedKey

func (r keyRows) SharedKeys(context.Context) (all []store.SharedKey, err error) {
	for _, k := range r {
		all = append(all, k)
	}
	return all, nil
}

func (r keyRows) PutSharedKey(_ context.Context, k store.SharedKey) (bool, error) {
	if _, there := r[k.Name]; there {
		return false, nil
	}
	r[k.Name] = k
	return true, nil
}

// TestKeys: the keys of the first conductor's folder become the cluster's, and other conductors' own keys are ignored.
func TestKeys(t *testing.T) {
	key, err := cluster.NewKey([]byte(strings.Repeat("k1", 32)))
	if err != nil {
		t.Fatal(err)
	}
	rows := keyRows{}
	shared, err := cluster.NewShared(rows, key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKeys(t.Context(), shared); err == nil || !strings.Contains(err.Error(), "start the conductors") {
		t.Errorf("keys of a cluster that has none: %v", err)
	}
	first := KeySource{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
	own, err := datafolder.OpenKeys(first.Dir)
	if err != nil {
		t.Fatal(err)
	}
	another := KeySource{Dir: t.TempDir(), Log: first.Log}
	_, err = another.Keys(t.Context(), shared, []seal.ID{seal.IDOf(own.Secrets)})
	if err == nil || !strings.Contains(err.Error(), "Start first") || len(rows) > 0 {
		t.Errorf("a conductor without the key of the database has shared its own: %v", err)
	}
	for name, f := range map[string]KeySource{"the first": first, "another": another} {
		if name == "another" {
			if _, err := first.Keys(t.Context(), shared, nil); err != nil {
				t.Fatal(err)
			}
		}
		got, err := f.Keys(t.Context(), shared, []seal.ID{seal.IDOf(own.Secrets)})
		read, readErr := ReadKeys(t.Context(), shared)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(name, err)
		}
		for _, k := range []datafolder.Keys{got, read} {
			if !slices.Equal(k.Secrets, own.Secrets) || !k.Erase.Equal(own.Erase) {
				t.Errorf("%s has other keys", name)
			}
		}
	}
	for _, k := range rows {
		if bytes.Contains(k.Sealed, own.Secrets) || bytes.Contains(k.Sealed, own.Erase[:ed25519.SeedSize]) {
			t.Errorf("%s is in the database in clear", k.Name)
		}
	}
}
