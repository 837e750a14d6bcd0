package osimage

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

// convertQcow2 makes both kinds of qcow2 beside the raw image name.raw and records them.
func (img *Image) convertQcow2(ctx context.Context, raw string) error {
	base := strings.TrimSuffix(raw, ".raw")
	img.Qcow2, img.Qcow2Compressed = base+".qcow2", base+"-compressed.qcow2"
	for _, call := range [][]string{
		{"convert", "-f", "raw", "-O", "qcow2", raw, img.Qcow2},
		{"convert", "-f", "raw", "-O", "qcow2", "-c", raw, img.Qcow2Compressed},
	} {
		if _, err := (buildcache.Tool{Name: "qemu-img", Package: "qemu-utils", Args: call}).Run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// packRaw makes the raw image's packed forms beside it and records all three.
func (img *Image) packRaw(ctx context.Context, raw string) error {
	img.Raw, img.RawGz, img.RawZst = raw, raw+".gz", raw+".zst"
	packers := []struct {
		path string
		open func(io.Writer) (io.WriteCloser, error)
	}{
		{img.RawGz, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzip.BestSpeed) }},
		{img.RawZst, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) }},
	}
	for _, p := range packers {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, _, err := buildcache.WriteFile(p.path, func(w io.Writer) error {
			src, err := os.Open(raw)
			if err != nil {
				return err
			}
			defer src.Close()
			packer, err := p.open(w)
			if err != nil {
				return err
			}
			_, err = io.Copy(packer, src)
			return errors.Join(err, packer.Close())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// hash fills in the sums of all files the image has.
func (img *Image) hash() error {
	img.SHA256 = map[string]string{}
	for _, path := range []string{img.Raw, img.Qcow2, img.Qcow2Compressed, img.RawGz, img.RawZst} {
		if path == "" {
			continue
		}
		sum, err := buildcache.HashFile(path)
		if err != nil {
			return fmt.Errorf("image %s: %w", img.ID, err)
		}
		img.SHA256[path] = sum
	}
	return nil
}
