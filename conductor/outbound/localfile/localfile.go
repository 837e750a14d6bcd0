// Package localfile decides which files of this host a node may name: ramdisks, and images of disks. These files are
// served to machines, so only folders that the operator has opened are allowed.
//
// It must not know the purpose of a file.
package localfile

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrNotOpen is about a file that is in none of the folders, there or not.
var ErrNotOpen = errors.New("it is in no folder that is open to nodes (--file-url-allowed-paths)")

// Folders are the folders that are open to nodes, with all below them. A missing folder has
// nothing below it.
type Folders []string

// Find is the file that is named by its absolute path or a file:// URL
// (RFC 8089), wherever links lead; those must lead into one of the folders, too.
func (f Folders) Find(named string) (string, error) {
	folder, inside, err := f.locate(named)
	return filepath.Join(folder, inside), err
}

// Open opens such a file. It refuses all but regular files: a pipe would wait for its writer, and a disk must not be
// read.
func (f Folders) Open(named string) (*os.File, fs.FileInfo, error) {
	folder, inside, err := f.locate(named)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(folder) // a link made since cannot lead out of it
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()                                                    //nolint:errcheck // what it opened stays open
	file, err := root.OpenFile(inside, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a pipe would wait
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", filepath.Join(folder, inside))
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// locate finds the folder a file is in, with all links resolved, and the path of the file from there. For a path
// outside, the error does not reveal whether it exists.
func (f Folders) locate(named string) (folder, inside string, err error) {
	path, err := pathOf(named)
	if err != nil {
		return "", "", err
	}
	real, err := filepath.EvalSymlinks(path)
	for _, open := range f {
		folder, gone := filepath.EvalSymlinks(open)
		if gone != nil {
			continue
		}
		if err != nil && (below(open, path) != "" || below(folder, path) != "") {
			return "", "", err
		}
		if inside := below(folder, real); err == nil && inside != "" {
			return folder, inside, nil
		}
	}
	return "", "", ErrNotOpen
}

// below is the relative path from a folder to a path inside it, "" for a path outside.
func below(folder, path string) string {
	inside, err := filepath.Rel(folder, path)
	if err != nil || inside == "." || !filepath.IsLocal(inside) {
		return ""
	}
	return inside
}

// pathOf takes a path or a URL of one.
func pathOf(named string) (string, error) {
	path := named
	if strings.HasPrefix(named, "file:") {
		u, err := url.Parse(named)
		if err != nil || u.Host != "" {
			return "", fmt.Errorf("%q is not the URL of a file here: expected file:///path", named)
		}
		path = u.Path
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%q is not an absolute path", named)
	}
	return filepath.Clean(path), nil
}
