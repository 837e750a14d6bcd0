package cacert

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Folder is the folder of files that nodes may name, "" for none.
type Folder string

// Pool reads the certificates that a setting names. Links inside the folder are
// followed, those that lead out of it are not.
func (f Folder) Pool(setting string) (*x509.CertPool, error) {
	if err := Check(setting); err != nil {
		return nil, err
	}
	if Inline(setting) {
		return pool([][]byte{[]byte(setting)})
	}
	inside, ok := f.inside(setting)
	if !ok {
		return nil, ErrNotOpen
	}
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, ErrNotOpen
	}
	defer root.Close() //nolint:errcheck // only read
	texts, err := readEntry(root, inside)
	if err != nil {
		return nil, err
	}
	return pool(texts)
}

// inside is a path as seen from the folder. A relative path begins there.
func (f Folder) inside(path string) (string, bool) {
	if f == "" {
		return "", false
	}
	if filepath.IsAbs(path) {
		from, err := filepath.Rel(string(f), path)
		if err != nil {
			return "", false
		}
		path = from
	}
	return path, filepath.IsLocal(path)
}

// readEntry reads a file, or all files of a folder. A folder in that is refused
// rather than left out.
func readEntry(root *os.Root, name string) ([][]byte, error) {
	file, info, err := open(root, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if !info.IsDir() {
		text, err := readFile(file, info)
		return [][]byte{text}, err
	}
	names, err := file.Readdirnames(maxFiles + 1)
	if err != nil && !errors.Is(err, io.EOF) { // EOF: the folder is empty
		return nil, ErrNotOpen
	}
	if len(names) > maxFiles {
		return nil, fmt.Errorf("is a folder of more than %d files: put the certificates into one file", maxFiles)
	}
	var texts [][]byte
	for _, member := range names {
		text, err := readMember(root, filepath.Join(name, member))
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

func readMember(root *os.Root, name string) ([]byte, error) {
	file, info, err := open(root, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readFile(file, info)
}

// open opens a file or folder without waiting. A pipe would wait for its writer, and a terminal could become the
// conductor's own.
func open(root *os.Root, name string) (*os.File, os.FileInfo, error) {
	// Opening a device may do something to it, so it is looked at before.
	if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return nil, nil, ErrNotOpen
	}
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, ErrNotOpen
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, nil, ErrNotOpen
	}
	return file, info, nil
}

// readFile reads a regular file that is not too large.
func readFile(file *os.File, info os.FileInfo) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, ErrNotOpen
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, ErrNotOpen
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("names a file of more than %d bytes: leave only the authorities' certificates in it", maxFile)
	}
	return text, nil
}
