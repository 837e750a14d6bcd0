// Package buildcache is the cache of the image builders: a folder of finished results, each made once, and a way to
// call the host's tools. It must not know the results: no kernel, ramdisk or disk layout belongs here.
package buildcache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockPoll is the pause between two attempts to take another builder's lock.
const lockPoll = 100 * time.Millisecond

// CacheDir is the folder for downloads and built images: $FERRITE_CACHE, or "ferrite"
// in the user's cache folder.
func CacheDir() (string, error) {
	if dir := os.Getenv("FERRITE_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w; set FERRITE_CACHE to a folder that may be written", err)
	}
	return filepath.Join(dir, "ferrite"), nil
}

// Once returns the folder root/key, first filling it by fill when it is not there. A
// folder of that name is always complete: fill works in root/key.partial, which is
// synced to disk and renamed only after fill returned nil. Of several processes asking
// for the same key one fills and the others wait. A key must name everything its
// content depends on.
func Once(ctx context.Context, root, key string, fill func(ctx context.Context, dir string) error) (string, error) {
	done := filepath.Join(root, key)
	if isDir(done) {
		return done, nil
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", fmt.Errorf("make cache folder: %w", err)
	}
	unlock, err := lock(ctx, done+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if isDir(done) {
		return done, nil
	}
	partial := done + ".partial"
	if err := fillPartial(ctx, partial, fill); err != nil {
		return "", errors.Join(err, os.RemoveAll(partial))
	}
	if err := os.Rename(partial, done); err != nil {
		return "", fmt.Errorf("finish cache entry: %w", err)
	}
	return done, nil
}

func fillPartial(ctx context.Context, partial string, fill func(context.Context, string) error) error {
	// The remains of a killed builder are in an unknown state.
	if err := os.RemoveAll(partial); err != nil {
		return fmt.Errorf("clear unfinished cache entry: %w", err)
	}
	if err := os.Mkdir(partial, 0o755); err != nil {
		return fmt.Errorf("make cache entry: %w", err)
	}
	if err := fill(ctx, partial); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return syncFS(partial)
}

// syncFS flushes the file system below dir: without it a power cut after the rename
// could leave complete names on empty files.
func syncFS(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync cache entry: %w", err)
	}
	defer f.Close()
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		return fmt.Errorf("sync cache entry %s: %w", dir, err)
	}
	return nil
}

// lock takes an exclusive flock on path. The kernel drops it when the process dies, so
// there are no stale locks; the file itself stays, because removing it would let two
// holders lock two different files of one name.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("wait for another builder that holds %s: %w", path, ctx.Err()), f.Close())
		case <-time.After(lockPoll):
		}
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
