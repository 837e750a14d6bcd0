package fat

import (
	"errors"
	"fmt"
	"path"
)

// Limits of Files: a damaged file system can have rings of directories.
const (
	maxDepth = 16
	maxFiles = 4096 // directories among them
)

// Files reads all files, at most so many bytes of content, by their paths.
func (f *Reader) Files(most int64) (map[string][]byte, error) {
	w := walk{f: f, files: map[string][]byte{}, left: most}
	return w.files, w.directory(rootEntry(), "", 0)
}

// walk is one reading of all files.
type walk struct {
	f     *Reader
	files map[string][]byte
	left  int64 // bytes
	seen  int   // entries
}

// directory reads a directory and all below it.
func (w *walk) directory(dir Entry, name string, depth int) error {
	if depth > maxDepth {
		return errors.New("its folders are a ring, or lie too deep in each other")
	}
	entries, err := w.f.list(dir)
	if err != nil {
		return err
	}
	if w.seen += len(entries); w.seen > maxFiles {
		return fmt.Errorf("it has more than %d files and folders", maxFiles)
	}
	for _, e := range entries {
		at := path.Join(name, e.Name)
		if e.IsDir {
			if err := w.directory(e, at, depth+1); err != nil {
				return err
			}
			continue
		}
		b, err := w.f.content(e, at, w.left)
		if err != nil {
			return err
		}
		w.left -= int64(len(b))
		w.files[at] = b
	}
	return nil
}
