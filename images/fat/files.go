package fat

import (
	"errors"
	"path"
)

// maxDepth limits directories within directories: a damaged file system can have
// a ring of them.
const maxDepth = 16

// Files reads all files, at most so many bytes of content, by their paths.
func (f *Reader) Files(most int64) (map[string][]byte, error) {
	w := walk{f: f, files: map[string][]byte{}, left: most}
	return w.files, w.directory("", 0)
}

// walk is one reading of all files.
type walk struct {
	f     *Reader
	files map[string][]byte
	left  int64 // bytes
}

// directory reads a directory and all below it.
func (w *walk) directory(name string, depth int) error {
	if depth > maxDepth {
		return errors.New("its folders are a ring, or lie too deep in each other")
	}
	entries, err := w.f.List(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path.Join(name, e.Name)
		if e.IsDir {
			if err := w.directory(at, depth+1); err != nil {
				return err
			}
			continue
		}
		b, err := w.f.ReadFile(at, w.left)
		if err != nil {
			return err
		}
		w.left -= int64(len(b))
		w.files[at] = b
	}
	return nil
}
