package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	sqlite3 "modernc.org/sqlite/lib"
)

// reserve keeps room on the disk for writes that make room, because a full disk refuses a DELETE, too. The first such
// write that finds no room gets some of the file's. From then on writes that make no room are refused, until the file
// has its room back.
type reserve struct {
	*sqliteWriter
	path     string
	size     int64 // 0: none is kept
	maxPages int
	report   func(full error)
	isFull   atomic.Bool

	mu    sync.Mutex
	given bool
	stop  context.CancelFunc
}

// reserveSuffix is appended to the name of the database file.
const reserveSuffix = "-reserve"

// refillEvery is how often a full disk is looked at, at first.
const refillEvery = time.Second

type freeingKey struct{}

// freeing marks a write that makes room, or that such a write cannot be without.
func freeing(ctx context.Context) context.Context { return context.WithValue(ctx, freeingKey{}, true) }

func frees(ctx context.Context) bool { return ctx.Value(freeingKey{}) != nil }

// newReserve takes the room of a reserve, at most a quarter of the file system.
func newReserve(w *sqliteWriter, path string, o Options) (*reserve, error) {
	r := &reserve{sqliteWriter: w, path: path, size: o.Reserve, maxPages: o.MaxPages, report: o.Room}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	if r.report == nil {
		r.report = func(error) {}
	}
	if r.size == 0 {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return r, err
		}
		return r, nil
	}
	var s unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &s); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Dir(path), err)
	}
	r.size = min(r.size, int64(s.Blocks)*s.Bsize/4) //nolint:gosec // no disk has 8 EB
	held, err := r.hold(r.size)
	if err != nil {
		return nil, err
	}
	if held < r.size {
		r.given = true
		r.filled(ErrFull)
	}
	go r.watch(ctx)
	return r, nil
}

// watch looks for room while there is none: every second at first, later less often.
func (r *reserve) watch(ctx context.Context) {
	for wait := refillEvery; pause(ctx, wait) == nil; wait = min(2*wait, 16*refillEvery) {
		if !r.isFull.Load() || r.refill(ctx) {
			wait = refillEvery / 2
		}
	}
}

// close leaves the room to the file, for the next start.
func (r *reserve) close() error {
	r.stop()
	r.mu.Lock() // a refill ends first
	defer r.mu.Unlock()
	return r.tx.close()
}

// ready is ErrFull from the first write without room until there is room again.
func (r *reserve) ready() error {
	if r.isFull.Load() {
		return ErrFull
	}
	return nil
}

func (r *reserve) filled(err error) {
	if !r.isFull.Swap(true) {
		r.report(err)
	}
}

// transact runs sqliteWriter.transact. On a full disk it spends the reserve.
func (r *reserve) transact(jobs []*writeRequest) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.given {
		kept := jobs[:0:0]
		for _, j := range jobs {
			if j.err = ErrFull; frees(j.ctx) {
				kept = append(kept, j)
			}
		}
		jobs = kept
	}
	if len(jobs) == 0 {
		return nil
	}
	err := r.write(jobs)
	if r.size == 0 || !errors.Is(err, ErrFull) {
		return err
	}
	if !r.isFull.Load() && r.checkpoint(context.Background()) == nil { // it may be the WAL that has no room
		if err = r.write(jobs); !errors.Is(err, ErrFull) {
			return err
		}
	}
	r.filled(err)
	if len(jobs) > 1 || !frees(jobs[0].ctx) {
		return err
	}
	held, failed := r.hold(-1)
	for failed == nil && errors.Is(err, ErrFull) && held > 0 { // a part at a time: others write to the disk, too
		r.given = true
		if held, failed = r.hold(max(0, held-r.size/4)); failed == nil {
			err = r.checkpoint(context.Background())
		}
		if failed == nil && err == nil {
			err = r.write(jobs)
		}
	}
	return errors.Join(err, failed)
}

// write writes jobs. SQLite has a code for a full disk, but none for a quota that is used up.
func (r *reserve) write(jobs []*writeRequest) error {
	err := r.sqliteWriter.transact(jobs)
	if code(err)&0xff == sqlite3.SQLITE_IOERR && r.size > 0 {
		held, failed := r.hold(-1)
		if failed != nil {
			return errors.Join(err, failed)
		}
		more, failed := r.hold(held + 64<<10)
		if failed == nil && more == held {
			return fmt.Errorf("%w: %w", ErrFull, err)
		}
		_, back := r.hold(held)
		return errors.Join(err, failed, back)
	}
	return err
}

// checkpoint empties the WAL, which needs room in the database before it gives back its own. With readers that are
// slow it is emptied later.
func (r *reserve) checkpoint(ctx context.Context) error {
	_, err := r.tx.conn.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return full(err)
}

// refill takes the room back. More than the reserve must be free, or the next write would be without room. Deleted
// records leave free pages in the database, and no room on the disk: then the database may not grow, and a smaller
// reserve does.
func (r *reserve) refill(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	var pages, s = int64(0), unix.Statfs_t{}
	held, err := r.hold(-1)
	err = errors.Join(err, r.checkpoint(ctx), r.tx.conn.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&pages),
		unix.Statfs(filepath.Dir(r.path), &s))
	margin := r.size / 4
	room, want, reusable := held+int64(s.Bavail)*s.Bsize, r.size+margin, pages*4096 >= margin //nolint:gosec // see above
	if err != nil || room < want && (!reusable || room < 2*margin) {
		return false
	}
	got, err := r.hold(want) // a quota shows only now
	most := r.maxPages
	switch {
	case err == nil && got == want:
		if most == 0 {
			most = 1<<32 - 2 // SQLite's own limit
		}
	case err == nil && reusable && got >= 2*margin:
		want, most = got, 1 // which means: no more than there are
	default:
		_, _ = r.hold(held) // it was that large before
		return false
	}
	if _, err = r.hold(want - margin); err == nil {
		_, err = r.tx.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", most))
	}
	if err != nil {
		return false
	}
	r.given = false
	r.isFull.Store(false)
	r.report(nil)
	return true
}

// hold makes the file size bytes large, or as large as there is room for, and returns its size; -1 leaves it as it is.
// Its bytes are random: a file system may set aside no room for holes, or for data that it compresses or deduplicates.
func (r *reserve) hold(size int64) (held int64, err error) {
	f, err := os.OpenFile(r.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return 0, fmt.Errorf("reserve: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("reserve: %w", err)
	}
	if held = info.Size(); size < 0 || size == held {
		return held, nil
	}
	more := size - held
	if size < held {
		more, err = 0, f.Truncate(size)
	} else if _, err = f.Seek(held, io.SeekStart); err == nil {
		more, err = io.CopyN(f, rand.Reader, more)
	}
	switch synced := f.Sync(); { // a journal gives room back only then
	case noRoom(synced): // some file systems look for room only now
		more, err = 0, f.Truncate(held)
	case noRoom(err):
		err = nil
	default:
		err = errors.Join(err, synced)
	}
	if err != nil {
		return held, fmt.Errorf("reserve: %w", err)
	}
	return min(held, size) + more, nil
}

func noRoom(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }
