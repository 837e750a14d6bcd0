package sharing

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// sharedRows are the keys of a cluster in memory.
type sharedRows struct{ all []store.SharedKey }

func (r *sharedRows) SharedKeys(context.Context) ([]store.SharedKey, error) { return r.all, nil }

func (r *sharedRows) PutSharedKey(_ context.Context, k store.SharedKey) (bool, error) {
	if n := len(r.all); n == 0 && k.Number != 1 || n > 0 && r.all[n-1].Number != k.Number-1 {
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
	rows, log := &sharedRows{}, slog.New(slog.DiscardHandler)
	shared, err := cluster.NewShared(rows, key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	chain, private := certtest.New(t).Server("127.0.0.1")
	cert, keyFile := certtest.Write(t, dir, chain, private)
	none := &Certificate{Dir: t.TempDir(), Shared: shared, Log: log}
	if found, err := none.keep(t.Context()); found || err != nil {
		t.Errorf("before there is one: %t, %v", found, err)
	}
	owner := &Certificate{Dir: t.TempDir(), Cert: cert, Key: keyFile, Shared: shared, Log: log}
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
	c := &Certificate{Dir: dir, Cert: wrong, Key: keyFile, Shared: shared, Log: log}
	if _, err := c.keep(t.Context()); err == nil {
		t.Error("a certificate with another key was shared")
	}
}

// TestCertificateThatIsNotValid: a certificate of the future, or an expired one, is not taken, and gives way to any
// valid one. The later of two valid ones wins. Each change is logged, and each refusal once.
func TestCertificateThatIsNotValid(t *testing.T) {
	key, err := cluster.NewKey([]byte(strings.Repeat("k1", 32)))
	if err != nil {
		t.Fatal(err)
	}
	shared, err := cluster.NewShared(&sharedRows{}, key)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	dir, authority, now := t.TempDir(), certtest.New(t), time.Now()
	s := &Certificate{Host: "c2", Dir: t.TempDir(), Shared: shared, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	for _, c := range []struct {
		name         string
		begins, ends time.Duration // from now
		taken        bool
	}{
		{"the first, though it has expired", -3 * time.Hour, -2 * time.Hour, true},
		{"another that has expired", -2 * time.Hour, -time.Hour, false},
		{"a valid one that began before", -5 * time.Hour, time.Hour, true},
		{"one of the future", time.Hour, 2 * time.Hour, false},
		{"one that has expired", -2 * time.Hour, -time.Hour, false},
		{"an older one", -6 * time.Hour, time.Hour, false},
		{"a newer one", -time.Hour, time.Hour, true},
	} {
		chain, private, err := authority.IssueFor(now.Add(c.begins), now.Add(c.ends), "127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		certtest.Write(t, dir, chain, private)
		log.Reset()
		for range 3 {
			if found, err := s.keep(t.Context()); !found || err != nil {
				t.Fatalf("%s: %t, %v", c.name, found, err)
			}
		}
		want := "is not used"
		if c.taken {
			want = "host=c2"
		}
		got, _ := os.ReadFile(filepath.Join(s.Dir, certificateFile))
		if bytes.Equal(got, chain) != c.taken || strings.Count(log.String(), "\n") != 1 ||
			!strings.Contains(log.String(), want) {
			t.Errorf("%s: taken %t, want %t; log: %s", c.name, bytes.Equal(got, chain), c.taken, log.String())
		}
	}
}
