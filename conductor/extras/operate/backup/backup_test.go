package backup

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

const phrase = "correct horse battery"

// in opens the database of a folder for a moment.
func in(t *testing.T, dir string, do func(ctx context.Context, db *store.Database) error) {
	t.Helper()
	d := datafolder.Folder{Dir: dir}
	db, err := d.Open(t.Context(), slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(do(t.Context(), db), d.Closing(), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestRoundTrip: a backup of a folder, restored into another one, has its nodes, secrets and logs, and is held. A wrong
// passphrase, and a file that was changed, leave the folder empty.
func TestRoundTrip(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := func() time.Time { return now }
	s := Source{Dir: t.TempDir(), Logs: true, Release: "v1", Now: clock}
	in(t, s.Dir, func(ctx context.Context, db *store.Database) error {
		_, err := db.Commit(ctx, node.Change{Insert: &node.Node{UUID: "11111111-2222-4333-8444-555555555555", Name: "n1",
			ProvisionState: node.Enroll, DriverInfo: map[string]any{"redfish_password": "planted-word"}}})
		return err
	})
	log := filepath.Join("logs", "n1", "boot.log")
	if err := errors.Join(os.MkdirAll(filepath.Join(s.Dir, "logs", "n1"), 0o700),
		os.WriteFile(filepath.Join(s.Dir, log), []byte("hello\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	file := filepath.Join(out, "a.backup")
	made, err := s.To(t.Context(), file, phrase)
	if info, statErr := os.Stat(file); err != nil || statErr != nil || info.Size() != made.Size || !made.Taken.Equal(now) {
		t.Fatal(made, err, statErr)
	}
	if _, err := s.To(t.Context(), file, phrase); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("written over a backup: %v", err)
	}
	if _, err := s.To(t.Context(), file+"2", "short"); err == nil || !strings.Contains(err.Error(), "expected 12") {
		t.Errorf("a short passphrase: %v", err)
	}
	if left, err := os.ReadDir(out); err != nil || len(left) != 1 {
		t.Errorf("left beside the backup: %v, %v", left, err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(out, "cut.backup")
	if err := os.WriteFile(cut, whole[:len(whole)-100], 0o600); err != nil {
		t.Fatal(err)
	}
	to := Target{Dir: filepath.Join(t.TempDir(), "data"), Now: clock}
	for _, bad := range []struct{ file, phrase string }{{file, "another passphrase"}, {cut, phrase}} {
		if _, err := to.From(t.Context(), bad.file, bad.phrase); err == nil {
			t.Errorf("%s is restored with %q", bad.file, bad.phrase)
		}
		if err := to.RefuseUsed(); err != nil {
			t.Errorf("after a restore that failed: %v", err)
		}
	}
	done, err := to.From(t.Context(), file, phrase)
	if want := (Restored{Taken: now, Nodes: 1}); err != nil || done != want {
		t.Fatalf("%+v, %v, want %+v", done, err, want)
	}
	if err := to.RefuseUsed(); err == nil || to.folder().RefuseRestoring() != nil {
		t.Error("a folder that is in use is to be filled, or may not be used")
	}
	if text, err := os.ReadFile(filepath.Join(to.Dir, log)); err != nil || string(text) != "hello\n" {
		t.Errorf("the log is %q, %v", text, err)
	}
	in(t, to.Dir, func(ctx context.Context, db *store.Database) error {
		n, err := db.Node(ctx, "n1")
		if n.DriverInfo["redfish_password"] != "planted-word" {
			t.Errorf("the secret is %v", n.DriverInfo)
		}
		hold, holdErr := db.Hold(ctx)
		if !hold.Backup.Equal(now) {
			t.Errorf("it is held by %+v", hold)
		}
		return errors.Join(err, holdErr)
	})
}

// TestSaveErrors: an error names the file that could not be read or written, and nothing is left.
func TestSaveErrors(t *testing.T) {
	s := Source{Dir: t.TempDir(), Logs: true, Now: time.Now}
	in(t, s.Dir, func(context.Context, *store.Database) error { return nil })
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.backup")
	database := filepath.Join(s.Dir, datafolder.DatabaseFile)
	_, err = s.pack(t.Context(), output{full, file}, database, time.Now(), phrase, nil)
	if want := "write " + file + ": no space left on device"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("on a full disk: %v, want %s", err, want)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(s.Dir, "logs"), 0o700),
		os.WriteFile(filepath.Join(s.Dir, "logs", `a\b`), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err = s.To(t.Context(), file, phrase)
	if err == nil || !strings.HasPrefix(err.Error(), `"logs/a\\b" is not the path`) || strings.Contains(err.Error(), file) {
		t.Errorf("with a log that cannot be saved: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
