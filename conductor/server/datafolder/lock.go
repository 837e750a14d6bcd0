package datafolder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Lock makes the data folder and keeps a second conductor out of it.
func Lock(dir string) (unlock func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("--data-dir: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, fmt.Errorf("--data-dir: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, LockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--data-dir: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("--data-dir %s is in use by another conductor: %w", dir, err), f.Close())
	}
	if err := (Folder{Dir: dir}).RefuseRestoring(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

// RefuseRestoring refuses a folder that a restore was filling when it was killed. It may be whole but for the hold.
func (d Folder) RefuseRestoring() error {
	if _, err := os.Lstat(d.Path(RestoringFile)); !errors.Is(err, os.ErrNotExist) {
		return errors.Join(fmt.Errorf("--data-dir %s: a restore was cut off in it: remove the folder's content, and "+
			"restore the backup again", d.Dir), err)
	}
	return nil
}

// LockToRead keeps a conductor from starting while its folder is read. It makes no
// lock where there is none.
func LockToRead(dir string) (unlock func() error, err error) {
	f, err := os.Open(filepath.Join(filepath.Clean(dir), LockFile))
	if errors.Is(err, os.ErrNotExist) {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, fmt.Errorf("--data-dir: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("--data-dir %s: a conductor is running in it: stop it first, or check a copy of the folder", dir)
	}
	if err == nil {
		err = Folder{Dir: dir}.RefuseRestoring()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}
