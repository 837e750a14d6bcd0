package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrGone says that the database's files are no longer those that were opened.
var ErrGone = errors.New("the database was removed or replaced while it was open")

// present checks whether the open files are still those that the next start will find.
// The kernel keeps a removed file for as long as it is open: writes would succeed, and
// be lost in the end.
type present struct {
	files [2]string // the database and its WAL
	are   [2]os.FileInfo
}

func newPresent(path string) *present { return &present{files: [2]string{path, path + "-wal"}} }

// check returns ErrGone when a file is missing or is another file than at the first check. The WAL may come later.
func (p *present) check() error {
	for i, path := range p.files {
		now, err := os.Stat(path)
		switch {
		case p.are[i] == nil && err == nil:
			p.are[i] = now
		case p.are[i] == nil && i > 0 && errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("%w: expected %s where it was, found %w; nothing of this was written; "+
				"put the file back, or stop the conductor and restore its data folder", ErrGone, path, err)
		case !os.SameFile(p.are[i], now):
			return fmt.Errorf("%w: %s is another file now; nothing of this was written; "+
				"stop the conductor and restore its data folder", ErrGone, path)
		}
	}
	return nil
}
