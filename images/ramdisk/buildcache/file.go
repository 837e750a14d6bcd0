package buildcache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// WriteFile writes path by write, completely or not at all: the bytes go to a temporary neighbour that is renamed when
// they are complete. It returns their SHA-256 in hex and their count.
func WriteFile(path string, write func(io.Writer) error) (sum string, size int64, err error) {
	partial := fmt.Sprintf("%s.partial.%d", path, os.Getpid())
	f, err := os.Create(partial)
	if err != nil {
		return "", 0, fmt.Errorf("write %s: %w", path, err)
	}
	hash := sha256.New()
	counter := &countWriter{}
	if err := errors.Join(write(io.MultiWriter(f, hash, counter)), f.Close()); err != nil {
		return "", 0, errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(partial))
	}
	if err := os.Rename(partial, path); err != nil {
		return "", 0, errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(partial))
	}
	return hex.EncodeToString(hash.Sum(nil)), counter.n, nil
}

// HashFile returns the SHA-256 of a file's content in hex.
func HashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("hash: %w", err)
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", fmt.Errorf("hash %s: %w", path, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

type countWriter struct{ n int64 }

func (c *countWriter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// HashSources returns the SHA-256 in hex of a package's embedded sources, tests apart. As part of a cache key it keeps
// a changed builder from finding the results of an older one.
func HashSources(sources fs.FS) (string, error) {
	hash := sha256.New()
	err := fs.WalkDir(sources, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(sources, path)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(hash, "%s %d\n%s", path, len(text), text)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("hash sources: %w", err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
