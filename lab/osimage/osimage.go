// Package osimage makes the operating systems a lab machine is deployed with: a tiny
// one that boots in seconds under UEFI and BIOS, and a real Debian with cloud-init.
// Each is built without loop devices from packages of Debian's archive, kept in the
// cache under a name derived from everything that went into it, and never seen
// half-made. It must not know of machines, networks or conductors: what an image does
// at its first boot it learns from its config drive.
package osimage

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

// Image is one operating system in the formats a lab deploys. A path is "" where an
// image does not come in that format.
type Image struct {
	ID              string            // what the running system calls itself
	Raw             string            // path, as all below
	Qcow2           string            // qcow2 version 3, clusters not compressed
	Qcow2Compressed string            // the same with zlib-compressed clusters
	RawGz, RawZst   string            // the raw image packed as a whole
	SHA256          map[string]string // sum in hex by path
	VirtualSize     int64             // bytes of the disk the image describes
	BIOS            bool              // boots under BIOS too; all boot under UEFI
}

// manifestName is the description kept beside the files, with names instead of paths:
// the cache folder may move.
const manifestName = "image.json"

// builder makes an image's files in dir and describes them.
type builder func(ctx context.Context, dir string) (Image, error)

// cached returns the image below cacheDir whose key is kind and the hash of recipe and
// inputs, building it first if needed. The recipe is the builder's own source code: a
// changed builder must not find what an older one left.
func cached(ctx context.Context, cacheDir, kind string, recipe embed.FS, inputs []string,
	build builder) (Image, error) {
	code, err := buildcache.HashSources(recipe)
	if err != nil {
		return Image{}, err
	}
	sum := sha256.Sum256([]byte(strings.Join(append(inputs, code), "\x00")))
	key := kind + "-" + hex.EncodeToString(sum[:12])
	dir, err := buildcache.Once(ctx, filepath.Join(cacheDir, "osimages"), key,
		func(ctx context.Context, dir string) error {
			img, err := build(ctx, dir)
			if err != nil {
				return err
			}
			text, err := json.MarshalIndent(img.rebase(filepath.Base), "", "  ")
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, manifestName), text, 0o644)
		})
	if err != nil {
		return Image{}, fmt.Errorf("build image %s: %w", kind, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return Image{}, fmt.Errorf("read image description: %w", err)
	}
	var img Image
	if err := json.Unmarshal(text, &img); err != nil {
		return Image{}, fmt.Errorf("read image description %s: %w", filepath.Join(dir, manifestName), err)
	}
	return img.rebase(func(name string) string { return filepath.Join(dir, name) }), nil
}

// rebase is the image with every path changed by to.
func (img Image) rebase(to func(string) string) Image {
	for _, path := range []*string{&img.Raw, &img.Qcow2, &img.Qcow2Compressed, &img.RawGz, &img.RawZst} {
		if *path != "" {
			*path = to(*path)
		}
	}
	sums := map[string]string{}
	for path, sum := range img.SHA256 {
		sums[to(path)] = sum
	}
	img.SHA256 = sums
	return img
}

// buildTemp calls build with a temporary folder of its own inside dir, removed
// afterwards. Temporary files stay on the file system of the cache: /tmp may be small
// or in memory.
func buildTemp(dir string, build func(tmp string) error) (err error) {
	tmp, err := os.MkdirTemp(dir, "tmp-")
	if err != nil {
		return fmt.Errorf("make temporary folder: %w", err)
	}
	defer func() {
		if removeErr := os.RemoveAll(tmp); err == nil {
			err = removeErr
		}
	}()
	return build(tmp)
}

func logDone(log *slog.Logger, img Image) {
	log.Info("image ready", "id", img.ID, "qcow2", img.Qcow2, "megabytes", img.VirtualSize/1_000_000)
}
