package bootlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// Storage keeps the texts of boots. Its callers write to a node from one goroutine at a time. They ensure that nodes
// are UUIDs, and that names of boots are 16 hexadecimal digits.
type Storage interface {
	Nodes() ([]string, error)
	Boots(node string) ([]Boot, error) // oldest first
	// Append adds to the text of a boot, of which there are b.Size bytes, whole or not at all.
	Append(node string, b Boot, text []byte) error
	// Read reads at most some bytes from a place on.
	Read(node string, b Boot, from, most int64) ([]byte, error)
	Replace(node string, b Boot, text []byte) error
	Remove(node string, b Boot) error
	RemoveAll(node string) error
}

// Boot is a text in a Storage. Number orders the boots of a node.
type Boot struct {
	Number int
	Name   string
	Size   int64 // bytes
}

// folder is a Storage of files: a folder a node, and a file a boot.
type folder string

// fileName is the number of the boot, which orders them, and its name.
var fileName = regexp.MustCompile(`^([0-9]{8})-([0-9a-f]{16})\.log$`)

func (d folder) file(node string, b Boot) string {
	return filepath.Join(string(d), node, fmt.Sprintf("%08d-%s.log", b.Number, b.Name))
}

func (d folder) Nodes() (nodes []string, err error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() && validNode(e.Name()) {
			nodes = append(nodes, e.Name())
		}
	}
	return nodes, nil
}

func (d folder) Boots(node string) (boots []Boot, err error) {
	entries, err := os.ReadDir(filepath.Join(string(d), node)) // sorted by name
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		parts := fileName.FindStringSubmatch(e.Name())
		if parts == nil {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		number, err := strconv.Atoi(parts[1])
		if err != nil {
			return nil, err
		}
		boots = append(boots, Boot{Number: number, Name: parts[2], Size: info.Size()})
	}
	return boots, nil
}

func (d folder) Append(node string, b Boot, text []byte) error {
	if err := os.MkdirAll(filepath.Join(string(d), node), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(d.file(node, b), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		return errors.Join(err, f.Truncate(b.Size), f.Close())
	}
	return f.Close()
}

func (d folder) Read(node string, b Boot, from, most int64) ([]byte, error) {
	f, err := os.Open(d.file(node, b))
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	piece := make([]byte, most)
	n, err := f.ReadAt(piece, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return piece[:n], nil
}

func (d folder) Replace(node string, b Boot, text []byte) error {
	path := d.file(node, b)
	temp := path[:len(path)-len(".log")] + ".new"
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return os.Rename(temp, path)
}

func (d folder) Remove(node string, b Boot) error {
	if err := os.Remove(d.file(node, b)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d folder) RemoveAll(node string) error { return os.RemoveAll(filepath.Join(string(d), node)) }
