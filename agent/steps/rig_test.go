package steps

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/agent/disk/erase/erasetest"
	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/images/configdrive"
	"github.com/ferrite-metal/ferrite/images/disk/disktest"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

const (
	mib      = 1 << 20
	diskSize = 128 * mib
)

// fileDisk is a regular file taken for a disk.
type fileDisk struct {
	*disktest.FileTarget
	erasetest.Plain
	reread int
}

func (d *fileDisk) RereadPartitions(context.Context) error { d.reread++; return nil }

// bench is a machine with files as disks.
type bench struct {
	*Machine
	size     int64             // of its disks
	trees    map[string]string // partition -> folder with its contents
	mounted  []string
	ran      []string                            // arrays that were run and stopped
	grub     func(argv []string) (string, error) // acts for the image's programs
	broken   error                               // error of running one
	stuck    string                              // the array that cannot be stopped
	files    map[string]string                   // device -> file
	progress []agentapi.Progress
	config   agentapi.LookupConfig
	vars     memVars
	uefi     bool
	loaded   []loadedKernel
}

func newBench(t *testing.T, names ...string) *bench {
	t.Helper()
	b := &bench{files: map[string]string{}, vars: memVars{}, trees: map[string]string{}, size: diskSize}
	for _, n := range names {
		b.files[n] = filepath.Join(t.TempDir(), "disk")
		if err := os.WriteFile(b.files[n], nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(b.files[n], diskSize); err != nil {
			t.Fatal(err)
		}
	}
	b.Machine = &Machine{
		Root: fstest.MapFS{}, Pstore: func() (string, error) { return "", nil },
		Disks: func() (list []agentapi.Disk, _ []agentapi.SkippedDisk) {
			for _, n := range slices.Sorted(maps.Keys(b.files)) {
				list = append(list, agentapi.Disk{Name: n, Size: b.size, Serial: "S-" + n})
			}
			return list, nil
		},
		Open: func(_ context.Context, path string) (Device, error) {
			f, err := disktest.CreateFileTarget(b.files[path], b.size)
			return &fileDisk{FileTarget: f}, err
		},
		EFIVars: func() disk.EFIVars {
			if !b.uefi {
				return nil
			}
			return b.vars
		},
		Kernel: b, LoadModule: func(string) {},
		Arch: "amd64", Client: http.DefaultClient, Download: Download{Retries: 1, RetryInterval: time.Millisecond},
		Config:   func() agentapi.LookupConfig { return b.config },
		Progress: func(p agentapi.Progress) { b.progress = append(b.progress, p) },
		Log:      slog.New(slog.DiscardHandler),
	}
	return b
}

// MountTree shows a folder in place of a file system.
func (b *bench) MountTree(device, fstype string, readOnly bool) (*sys.Tree, error) {
	b.mounted = append(b.mounted, fmt.Sprint(device, " ", fstype, " ", readOnly))
	folder, ok := b.trees[device]
	if !ok {
		return nil, fmt.Errorf("mount %s: bad superblock", device)
	}
	return sys.OpenTree(folder)
}

// InChroot records the programs instead of running them.
func (b *bench) InChroot(
	_ context.Context, c sys.Chroot, do func(run func(argv ...string) (string, error)) error,
) error {
	for _, m := range c.Mounts {
		b.ran = append(b.ran, fmt.Sprintf("mount %s %s %s as %s", m.Device, m.Kind, m.At, m.UUID))
	}
	return do(func(argv ...string) (string, error) {
		b.ran = append(b.ran, strings.Join(argv, " "))
		if b.grub != nil {
			return b.grub(argv)
		}
		return "", nil
	})
}

func (b *bench) RunArray(number int, members []string) error {
	b.ran = append(b.ran, fmt.Sprintf("md%d %s", number, strings.Join(members, " ")))
	return b.broken
}

func (b *bench) StopArray(path string) error {
	if path == b.stuck {
		return errors.New("STOP_ARRAY: device or resource busy")
	}
	b.ran = append(b.ran, "stop "+path)
	return nil
}

// MountUntouched shows a folder in place of a file system.
func (b *bench) MountUntouched(device, fstype string) (*sys.Tree, error) {
	return b.MountTree(device, fstype, true)
}

// LoadKernel records the kernel instead of loading it.
func (b *bench) LoadKernel(kernel, initrd *os.File, cmdline string) error {
	text, err := io.ReadAll(kernel)
	if err != nil {
		return err
	}
	var more []byte
	if initrd != nil {
		if more, err = io.ReadAll(initrd); err != nil {
			return err
		}
	}
	b.loaded = append(b.loaded, loadedKernel{text, more, cmdline})
	return b.broken
}

// loadedKernel is the input of kexec.
type loadedKernel struct {
	kernel, initrd []byte
	cmdline        string
}

// read returns part of a disk.
func (b *bench) read(t *testing.T, name string, off int64, n int) []byte {
	t.Helper()
	f, err := os.Open(b.files[name])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // only read from
	out := make([]byte, n)
	if _, err := f.ReadAt(out, off); err != nil {
		t.Fatal(err)
	}
	return out
}

// each calls f with the content of a disk, a piece at a time. With whole disks in memory the race detector would take
// minutes.
func (b *bench) each(t *testing.T, name string, f func(piece []byte)) {
	t.Helper()
	file, err := os.Open(b.files[name])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() // only read from
	piece := make([]byte, mib)
	for {
		n, err := io.ReadFull(file, piece)
		f(piece[:n])
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return
		case err != nil:
			t.Fatal(err)
		}
	}
}

// sum is a hash of all of a disk.
func (b *bench) sum(t *testing.T, name string) string {
	t.Helper()
	h := sha256.New()
	b.each(t, name, func(piece []byte) { h.Write(piece) })
	return hex.EncodeToString(h.Sum(nil))
}

// filled reports whether the pattern of fill is anywhere on a disk. It begins at a multiple of its length.
func (b *bench) filled(t *testing.T, name string) (found bool) {
	t.Helper()
	b.each(t, name, func(piece []byte) { found = found || bytes.Contains(piece, []byte("OLD!")) })
	return found
}

// fill puts recognisable bytes all over a disk's ends.
func (b *bench) fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.OpenFile(b.files[name], os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	old := bytes.Repeat([]byte("OLD!"), mib/4)
	for _, off := range []int64{0, diskSize - mib} {
		if _, err := f.WriteAt(old, off); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// gptImage is a small raw image with one partition, as any tool would make it.
func gptImage(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image")
	const size = 8 * mib
	f, err := disktest.CreateFileTarget(path, size)
	if err != nil {
		t.Fatal(err)
	}
	random := bytes.NewReader(bytes.Repeat([]byte{1, 2, 3, 4}, 64))
	var id disk.GUID
	id[0] = 9
	g := disk.NewGPT(&fileDisk{FileTarget: f}, id)
	kind, err := disk.ParseGUID("0fc63daf-8483-4772-8e79-3d69d8477de4")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.AddLast(4*mib, kind, "root", random); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(g.Write(&fileDisk{FileTarget: f}), f.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// serve serves bytes and returns how to ask for them.
func serve(t *testing.T, content []byte) agentapi.ImageInfo {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "image", time.Unix(1, 0), bytes.NewReader(content))
	}))
	t.Cleanup(srv.Close)
	sum := sha256.Sum256(content)
	return agentapi.ImageInfo{ID: "tiny", URLs: []string{srv.URL + "/image"}, DiskFormat: "raw", OSHashAlgo: "sha256",
		OSHashValue: hex.EncodeToString(sum[:])}
}

func iso(t *testing.T) []byte {
	t.Helper()
	b, err := configdrive.Build(configdrive.Label, map[string][]byte{"openstack/latest/meta_data.json": []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// args are a step's args as JSON makes them.
func args(info agentapi.ImageInfo, drive string) map[string]any {
	return map[string]any{"image_info": info, "configdrive": drive}
}

// memVars is EFI variables in memory.
type memVars map[string][]byte

func (v memVars) Names() ([]string, error) { return slices.Sorted(maps.Keys(v)), nil }

func (v memVars) Get(name string) ([]byte, error) {
	b, ok := v[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return b, nil
}

func (v memVars) Set(name string, value []byte) error { v[name] = slices.Clone(value); return nil }
func (v memVars) Delete(name string) error            { delete(v, name); return nil }
