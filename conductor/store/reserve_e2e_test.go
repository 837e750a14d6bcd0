//go:build e2e

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// TestE2EReserve fills a file system. Only writes that make room are served from the reserve. Their deletions make room
// again without any help from outside, and so do deletions by other programs.
func TestE2EReserve(t *testing.T) {
	dir := small(t, "size=64m")
	told := make(chan error, 1000)
	s := open(t, dir, store.Options{Reserve: 16 << 20, Room: func(full error) { told <- full }})
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, make([]byte, 12<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	kept := fillUp(t, s, 0)
	ballast := filepath.Join(dir, "ballast") // takes the last bytes, too: others write to this disk as well
	if err := os.WriteFile(ballast, make([]byte, 64<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the ballast: %v", err)
	}
	if err := <-told; !errors.Is(err, store.ErrFull) || !errors.Is(s.Ready(), store.ErrFull) {
		t.Fatalf("told %v, ready: %v", err, s.Ready())
	}
	undeployed := big(kept-1, strings.Repeat("x", 500_000))
	undeployed.Revision, undeployed.ProvisionState = 1, node.Deleting
	if _, err := s.Commit(t.Context(), node.Change{Save: &undeployed}); err != nil {
		t.Errorf("undeploy on a full disk: %v", err)
	}
	fat := big(1000, strings.Repeat("x", 500_000))
	if _, err := s.Commit(t.Context(), node.Change{Insert: &fat}); !errors.Is(err, store.ErrFull) {
		t.Errorf("a new node takes the room of the reserve: %v", err)
	}
	for i := range kept / 2 {
		if _, err := s.Commit(t.Context(), node.Change{Delete: big(i, "").UUID}); err != nil {
			t.Fatalf("delete node %d of %d on a full disk: %v", i, kept, err)
		}
		if err := s.AppendAudit(t.Context(), []node.AuditEntry{{Chain: "c", Number: int64(i + 1), Doc: []byte("{}"),
			Done: true}}); err != nil {
			t.Fatalf("audit: %v", err)
		}
	}
	ready(t, s)
	if more := fillUp(t, s, 2000); more < kept/4 {
		t.Errorf("after %d of %d nodes were deleted there is room for %d", kept/2, kept, more)
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	ready(t, s)
	info, err := os.Stat(filepath.Join(dir, "ferrite.db-reserve"))
	if err != nil || info.Size() != 16<<20 || info.Sys().(*syscall.Stat_t).Blocks*512 < info.Size() {
		t.Errorf("the reserve has %+v (%v)", info, err)
	}
	if err := s.Close(); err != nil { // before the unmount
		t.Fatal(err)
	}
	if err := os.WriteFile(ballast, make([]byte, 64<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the ballast: %v", err)
	}
	s = open(t, dir, store.Options{Reserve: 16 << 20})
	if _, err := s.Commit(t.Context(), node.Change{Delete: undeployed.UUID}); err != nil {
		t.Errorf("delete after a start on a full disk: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestE2EFullIsNotDamaged: a database on a disk that is full before its conductor starts is not called damaged: a
// backup in its place would lose the newest writes.
func TestE2EFullIsNotDamaged(t *testing.T) {
	db, wal := killed(t)
	dir := small(t, "size=4m")
	path := filepath.Join(dir, "ferrite.db")
	if err := errors.Join(os.WriteFile(path, db, 0o600), os.WriteFile(path+"-wal", wal, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 4<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the ballast: %v", err)
	}
	s, err := store.Open(t.Context(), path, store.Options{NoSync: true, Keys: ringOf(t, 1)})
	if err == nil {
		err = errors.Join(errors.New("it was opened"), s.Close())
	}
	if errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "room on the disk") {
		t.Error(err)
	}
}

// small is a small tmpfs.
func small(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Fatalf("mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillUp inserts nodes from a number on until there is no room, and answers how many.
func fillUp(t *testing.T, s *store.Database, from int) int {
	t.Helper()
	for kept := range 900 {
		n := big(from+kept, strings.Repeat("x", 500_000))
		if _, err := s.Commit(t.Context(), node.Change{Insert: &n}); errors.Is(err, store.ErrFull) {
			return kept
		} else if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("it does not fill up")
	return 0
}

// ready waits until there is room.
func ready(t *testing.T, s *store.Database) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); s.Ready() != nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the room is not taken back")
		}
	}
}
