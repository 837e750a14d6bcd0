package serve

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// rotateIn runs `ferrite server secrets rotate`.
func rotateIn(t *testing.T, dir string) (out string, err error) {
	t.Helper()
	c := SecretsCommand()
	var text bytes.Buffer
	c.SetOut(&text)
	c.SetErr(&text)
	c.SilenceErrors = true
	c.SetArgs([]string{"rotate", "--data-dir", dir})
	err = c.ExecuteContext(t.Context())
	return text.String(), err
}

// secretsIn are the keys of a folder, and the values they open.
func secretsIn(t *testing.T, dir string) [][]byte {
	t.Helper()
	all, err := keys.Secrets(dir)
	if err != nil {
		t.Fatal(err)
	}
	inStore(t, dir, func(ctx context.Context, s *store.Database) {
		n, err := s.Node(ctx, "in-active")
		if err != nil || n.DriverInfo["redfish_password"] != recordedPassword {
			t.Errorf("driver_info is %v, %v", n.DriverInfo, err)
		}
		rows, _, err := s.Objects(ctx, objects.Query{Kind: hostapi.KindSecret})
		ring, ringErr := seal.NewRing(all...)
		if err := errors.Join(err, ringErr); err != nil || len(rows) != 2 {
			t.Fatal(len(rows), err)
		}
		for _, r := range rows {
			if err := objects.Check(r, ring); err != nil {
				t.Errorf("%s: %v", r.Key, err)
			}
		}
	})
	return all
}

// envelopesOf counts the envelopes of a key in a database file.
func envelopesOf(t *testing.T, dir string, key []byte) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, datafolder.DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	id := seal.IDOf(key)
	return bytes.Count(text, append([]byte("fsl\x01"), id[:]...))
}

// TestRotate: after it a new key opens everything, and the old one is gone from the
// folder, with all that it had sealed.
func TestRotate(t *testing.T) {
	dir := migrated(t)
	old := secretsIn(t, dir)
	if n := envelopesOf(t, dir, old[0]); n < 35 {
		t.Errorf("%d envelopes before", n)
	}
	out, err := rotateIn(t, dir)
	if err != nil ||
		!strings.Contains(out, "secrets: sealed with the new key "+seal.IDOf(secretsIn(t, dir)[0]).String()) ||
		strings.Contains(out, "finished") {
		t.Errorf("%v: %s", err, out)
	}
	now := secretsIn(t, dir)
	if len(now) != 1 || bytes.Equal(now[0], old[0]) {
		t.Errorf("%d keys, or the same", len(now))
	}
	if was, is := envelopesOf(t, dir, old[0]), envelopesOf(t, dir, now[0]); was != 0 || is < 35 {
		t.Errorf("%d envelopes of the old key, %d of the new one", was, is)
	}
	if out, err := storeCheckOf(t, dir); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	start(t, dir).End(t)
}

// TestRotateKilled: a rotation can be killed after each step. The conductor starts then
// and finishes it, and so does a second rotation.
func TestRotateKilled(t *testing.T) {
	t.Parallel()
	template := migrated(t)
	for n, more := 1, true; more; n++ {
		for _, finish := range []string{"start", "rotate"} {
			dir, steps := t.TempDir(), []string(nil)
			if err := os.CopyFS(dir, os.DirFS(template)); err != nil {
				t.Fatal(err)
			}
			private(t, dir)
			old := secretsIn(t, dir)[0]
			more = killedRotation(t, dir, n, &steps)
			if !more {
				break
			}
			if finish == "start" {
				start(t, dir).End(t)
			} else if out, err := rotateIn(t, dir); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			now := secretsIn(t, dir)
			if len(now) != 1 || n > 1 && bytes.Equal(now[0], old) {
				t.Errorf("%d keys, or the old one", len(now))
			}
			if was := envelopesOf(t, dir, old); n > 1 && was != 0 {
				t.Errorf("%d envelopes of the old key are left", was)
			}
			if t.Failed() {
				t.Fatalf("killed after %q, finished by %s", steps, finish)
			}
		}
		if !more && n < 10 {
			t.Errorf("a rotation has only %d steps", n)
		}
	}
}

// private takes the keys from everybody else: a copy has other modes.
func private(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{keys.SecretsFile, keys.EraseReportFile} {
		if err := os.Chmod(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// killedRotation rotates, and is killed after the n-th step; false if it has fewer.
func killedRotation(t *testing.T, dir string, n int, steps *[]string) bool {
	t.Helper()
	killed := errors.New("killed")
	r := datafolder.Rotation{Folder: datafolder.Folder{Dir: dir}, Log: slog.New(slog.DiscardHandler),
		Step: func(step string) error {
			if *steps = append(*steps, step); len(*steps) == n {
				return killed
			}
			return nil
		}}
	_, err := r.Run(t.Context())
	if err != nil && !errors.Is(err, killed) {
		t.Fatalf("after %q: %v", *steps, err)
	}
	return err != nil
}

// TestRotateRefused: anything but the folder of a conductor at rest is left as it is.
func TestRotateRefused(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(t *testing.T, dir string)
		want string
	}{
		"no folder of a conductor": {func(t *testing.T, dir string) {
			if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, "there is no database in it"},
		"no key": {func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, keys.SecretsFile)); err != nil {
				t.Fatal(err)
			}
		}, "secrets-key.pem: no such file"},
		"the key of another": {func(t *testing.T, dir string) {
			_, err := Keys(t.TempDir())
			if err = errors.Join(err, os.Remove(filepath.Join(dir, keys.SecretsFile))); err != nil {
				t.Fatal(err)
			}
			if _, err := Keys(dir); err != nil {
				t.Fatal(err)
			}
		}, "the key secrets-key.pem does not open the database"},
		"a running conductor": {func(t *testing.T, dir string) {
			unlock, err := datafolder.Lock(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = unlock() })
		}, "stop it first"},
		"a first start that was cut off": {func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, datafolder.NewFile), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "start the conductor once"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := migrated(t)
			c.harm(t, dir)
			before := contents(t, dir)
			if out, err := rotateIn(t, dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q: %s", err, c.want, out)
			}
			if after := contents(t, dir); len(after) != len(before) || after[keys.SecretsFile] != before[keys.SecretsFile] ||
				after[datafolder.DatabaseFile] != before[datafolder.DatabaseFile] {
				t.Error("the folder was changed")
			}
		})
	}
}

// TestRotateBusyFolder: the database of a killed conductor, with a WAL, is rotated too.
func TestRotateBusyFolder(t *testing.T) {
	dir := t.TempDir()
	c := start(t, dir)
	c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": "n1",
		"driver_info": map[string]any{"redfish_password": recordedPassword}}, 201)
	killed := t.TempDir()
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	private(t, killed)
	c.End(t)
	if out, err := rotateIn(t, killed); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	start(t, killed).End(t)
	inStore(t, killed, func(ctx context.Context, s *store.Database) {
		n, err := s.Node(ctx, "n1")
		if err != nil || n.DriverInfo["redfish_password"] != recordedPassword || n.ProvisionState != node.Enroll {
			t.Errorf("%v, %v", n.DriverInfo, err)
		}
	})
}
