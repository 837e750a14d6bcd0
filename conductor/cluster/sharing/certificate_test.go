package sharing

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// lasting is a certificate with its key that is valid from one day to another, as of now.
func lasting(t *testing.T, now time.Time, from, to int) pair {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.AddDate(0, 0, from), NotAfter: now.AddDate(0, 0, to)}
	der, err := x509.CreateCertificate(nil, c, c, public, private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pair{Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})}
}

// TestValidCertificateWins: one that is not valid now never takes the place of another, and gives way to any that is.
func TestValidCertificateWins(t *testing.T) {
	now := time.Now()
	for name, tc := range map[string]struct {
		own, stored [2]int // days from now
		want        bool
	}{
		"newer":                       {[2]int{-1, 9}, [2]int{-5, 9}, true},
		"older":                       {[2]int{-5, 9}, [2]int{-1, 9}, false},
		"of the future":               {[2]int{5, 9}, [2]int{-5, 9}, false},
		"newer, and over":             {[2]int{-3, -1}, [2]int{-5, 9}, false},
		"older than one of a future":  {[2]int{-5, 9}, [2]int{5, 99}, true},
		"older than one that is over": {[2]int{-5, 9}, [2]int{-3, -1}, true},
	} {
		own, stored := lasting(t, now, tc.own[0], tc.own[1]), lasting(t, now, tc.stored[0], tc.stored[1])
		if got, err := own.newerThan(stored, now); got != tc.want || err != nil {
			t.Errorf("%s: %t, %v, want %t", name, got, err, tc.want)
		}
	}
}
