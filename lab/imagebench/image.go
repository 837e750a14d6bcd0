package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
)

// image is one form of the mixed disk.
type image struct {
	format string
	path   string
	sum    string // sha256, hex
	unpack string // the usual command to unpack a compressed stream onto its standard output; empty: qemu-img converts it
	packed bool   // so that unpacking it is slower than any disk: its CPU time and memory matter
}

// forms is how the raw image (the argument) gets into each form, by the
// programs people do it with; the output is a file beside it.
func forms() []struct {
	image
	command string
} {
	return []struct {
		image
		command string
	}{
		{image{format: "raw"}, ""},
		{image{format: "qcow2"}, "qemu-img convert -f raw -O qcow2 disk.raw disk.qcow2"},
		{image{format: "qcow2.zlib"}, "qemu-img convert -c -m 8 -W -f raw -O qcow2 disk.raw disk.qcow2.zlib"},
		{image{format: "qcow2.zstd"},
			"qemu-img convert -c -m 8 -W -f raw -O qcow2 -o compression_type=zstd disk.raw disk.qcow2.zstd"},
		{image{format: "zst", unpack: "zstd -dc"}, "zstd -q -T0 -3 disk.raw -o disk.zst"},
		{image{format: "gz", unpack: "gzip -dc", packed: true}, "gzip -1 -c disk.raw > disk.gz"},
		{image{format: "xz", unpack: "xz -T0 -dc", packed: true}, "xz -0 -T0 -c disk.raw > disk.xz"},
	}
}

// makeImages makes the disk, in all its forms or in the one asked for.
func makeImages(ctx context.Context, o options) ([]image, error) {
	raw := filepath.Join(o.dir, "disk.raw")
	if err := makeDisk(raw, o.size); err != nil {
		return nil, err
	}
	var list []image
	for _, f := range forms() {
		if o.only != "" && o.only != f.format {
			continue
		}
		cmd := exec.CommandContext(ctx, "sh", "-c", f.command)
		cmd.Dir = o.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", f.command, err, out)
		}
		f.path = filepath.Join(o.dir, "disk."+f.format)
		var err error
		if f.sum, err = sumOf(f.path); err != nil {
			return nil, err
		}
		list = append(list, f.image)
	}
	return list, nil
}

// makeDisk makes a disk of which a quarter is noise, half is text and a quarter
// holes, in runs of 4 MiB by turns.
func makeDisk(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	const step = 4 << 20
	noise := rand.NewChaCha8([32]byte{1})
	words := bytes.Fields(
		[]byte("the disk of a machine holds its boot loader kernel libraries logs and letters some of them long"))
	buf := make([]byte, step)
	for off := int64(0); off < size; off += step {
		switch off / step % 4 {
		case 0:
			noise.Read(buf) //nolint:errcheck // it never fails
		case 1, 2:
			text := buf[:0]
			for len(text) < step-32 {
				text = append(append(text, words[noise.Uint64()%uint64(len(words))]...), ' ')
				text = fmt.Appendf(text, "%x ", noise.Uint64()%5000)
			}
			clear(buf[len(text):])
		case 3:
			continue
		}
		if _, err := f.WriteAt(buf, off); err != nil {
			return err
		}
	}
	return f.Truncate(size)
}

// sumOf also brings the file into the page cache, where the server finds it.
func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
