// Package bundle holds the agent and the console commands of a ramdisk inside the program ferrite, so that a server
// with nothing but that program can build ramdisks. `make release` puts them there; other builds have none.
package bundle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

// The names of the bundled programs. Package pack adds ".zst".
const (
	Agent    = "ferrite-agent"
	Commands = "ferrite-commands"
)

// Unpack returns the path of a bundled program below cacheDir, where it is unpacked first. A program that this build
// lacks is fs.ErrNotExist.
func Unpack(ctx context.Context, cacheDir, name string) (string, error) {
	return unpack(ctx, files, cacheDir, name)
}

func unpack(ctx context.Context, from fs.FS, cacheDir, name string) (string, error) {
	packed, err := fs.ReadFile(from, "files/"+name+".zst")
	if err != nil {
		return "", fmt.Errorf("this program has no %s with it: %w", name, err)
	}
	sum := sha256.Sum256(packed)
	dir, err := buildcache.Once(ctx, filepath.Join(cacheDir, "bundle"), name+"-"+hex.EncodeToString(sum[:8]),
		func(_ context.Context, dir string) error {
			plain, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1))
			if err != nil {
				return err
			}
			defer plain.Close()
			f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
			if err != nil {
				return err
			}
			_, err = io.Copy(f, plain)
			return errors.Join(err, f.Close())
		})
	if err != nil {
		return "", fmt.Errorf("unpack %s: %w", name, err)
	}
	return filepath.Join(dir, name), nil
}
