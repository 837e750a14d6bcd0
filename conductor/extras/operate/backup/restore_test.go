package backup

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// TestFilledMeanwhile: if a conductor was started in a folder after the first check, the folder keeps all its files.
func TestFilledMeanwhile(t *testing.T) {
	to := Target{Dir: t.TempDir(), Now: time.Now}
	if err := to.RefuseUsed(); err != nil {
		t.Fatal(err)
	}
	in(t, to.Dir, func(context.Context, *store.Database) error { return nil })
	want := append(names(t, to.Dir), datafolder.LockFile)
	slices.Sort(want)
	if _, err := to.From(t.Context(), os.DevNull, phrase); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("restored into a folder in use: %v", err)
	}
	if left := names(t, to.Dir); !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v", left, want)
	}
}

// TestOthersFilesStay: a restore that fails does not remove files that others have put there meanwhile. Until it has
// ended, no other process uses the folder, which may be whole except for the hold.
func TestOthersFilesStay(t *testing.T) {
	pipe, to := filepath.Join(t.TempDir(), "pipe"), Target{Dir: t.TempDir(), Now: time.Now}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	restored := make(chan error, 1)
	go func() {
		_, err := to.From(t.Context(), pipe, phrase)
		restored <- err
	}()
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	begun := func() bool { return slices.Contains(names(t, to.Dir), datafolder.RestoringFile) }
	for deadline := time.Now().Add(10 * time.Second); !begun(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the restore does not begin")
		}
	}
	cut := t.TempDir() // the files that a kill leaves
	for _, name := range append(names(t, to.Dir), datafolder.DatabaseFile) {
		if err := os.WriteFile(filepath.Join(cut, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, lock := datafolder.Lock(cut)
	_, read := datafolder.LockToRead(cut)
	_, save := Source{Dir: cut, Now: time.Now}.To(t.Context(), filepath.Join(t.TempDir(), "b"), phrase)
	_, again := Target{Dir: cut, Now: time.Now}.From(t.Context(), os.DevNull, phrase)
	for who, err := range map[string]error{"serve": lock, "check": read, "backup": save, "restore": again} {
		if err == nil || !strings.Contains(err.Error(), "a restore was cut off") {
			t.Errorf("%s of a restore that was cut off: %v", who, err)
		}
	}
	if err := os.WriteFile(filepath.Join(to.Dir, "users"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-restored; err == nil {
		t.Error("an empty file is restored")
	}
	if left := names(t, to.Dir); !slices.Equal(left, []string{datafolder.LockFile, "users"}) {
		t.Errorf("left are %v", left)
	}
}
