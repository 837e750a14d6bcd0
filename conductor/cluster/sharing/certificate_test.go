package sharing

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/certificate/certtest"
	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// sharedRows are the keys of a cluster in memory.
type sharedRows struct{ all []store.SharedKey }

func (r *sharedRows) SharedKeys(context.Context) ([]store.SharedKey, error) { return r.all, nil }

func (r *sharedRows) PutSharedKey(_ context.Context, k store.SharedKey) (bool, error) {
	if int64(len(r.all)) != k.Number-1 {
		return false, nil
	}
	if k.Number > 1 {
		r.all = nil // one key is all that these tests have
	}
	r.all = append(r.all, k)
	return true, nil
}

// TestSharedCertificate: the newest certificate of any conductor is everybody's, sealed in the database.
func TestSharedCertificate(t *testing.T) {
	key, err := cluster.NewKey([]byte(strings.Repeat("k1", 32)))
	if err != nil {
		t.Fatal(err)
	}
	rows := &sharedRows{}
	shared, err := cluster.NewShared(rows, key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	chain, private := certtest.New(t).Server("127.0.0.1")
	cert, keyFile := certtest.Write(t, dir, chain, private)
	none := &Certificate{Dir: t.TempDir(), Shared: shared}
	if found, err := none.keep(t.Context()); found || err != nil {
		t.Errorf("before there is one: %t, %v", found, err)
	}
	owner := &Certificate{Dir: t.TempDir(), Cert: cert, Key: keyFile, Shared: shared}
	for name, s := range map[string]*Certificate{"the owner": owner, "another": none} {
		if name == "another" {
			if _, err := owner.keep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		found, err := s.keep(t.Context())
		if got, _ := os.ReadFile(filepath.Join(s.Dir, certificateFile)); !found || err != nil || !bytes.Equal(got, chain) {
			t.Errorf("%s: %t, %v, %q", name, found, err, got)
		}
	}
	if bytes.Contains(rows.all[0].Sealed, private) || bytes.Contains(rows.all[0].Sealed, []byte("PRIVATE KEY")) {
		t.Error("the private key is in the database in clear")
	}
	other, _ := certtest.New(t).Server("127.0.0.1") // with a key that is not its own
	wrong, _ := certtest.Write(t, t.TempDir(), other, private)
	if _, err := (&Certificate{Dir: dir, Cert: wrong, Key: keyFile, Shared: shared}).keep(t.Context()); err == nil {
		t.Error("a certificate with another key was shared")
	}
}
