package steps

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/images/configdrive"
	"github.com/ferrite-metal/ferrite/images/disk/disktest"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// mbrImage is a raw image with an MBR: boot code, a signature, one active partition.
func mbrImage() []byte {
	b := make([]byte, 16*mib)
	copy(b, "BOOTCODE OF THE IMAGE")
	binary.LittleEndian.PutUint32(b[440:], 0xdeadbeef)
	e := b[446:]
	e[0], e[4] = 0x80, 0x83
	binary.LittleEndian.PutUint32(e[8:], mib/512)
	binary.LittleEndian.PutUint32(e[12:], 8*mib/512)
	b[510], b[511] = 0x55, 0xaa
	for i := mib; i < 9*mib; i += 512 {
		copy(b[i:], "root file system")
	}
	return b
}

// isoImage is an image that firmware boots from a disk as well as from a DVD, made by xorriso as Debian makes its own:
// its MBR has an entry of type 0 over all of it.
func isoImage(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	boot := filepath.Join(dir, "isohdpfx.bin")
	code := make([]byte, 432)
	copy(code, "BOOTCODE OF THE IMAGE")
	if err := os.WriteFile(boot, code, 0o600); err != nil {
		t.Fatal(err)
	}
	tree := filepath.Join(dir, "tree")
	if err := errors.Join(os.MkdirAll(tree, 0o700),
		os.WriteFile(filepath.Join(tree, "efi.img"), bytes.Repeat([]byte("EFI!"), mib/4), 0o600)); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "iso")
	text, err := exec.Command("xorriso", "-as", "mkisofs", "-quiet", "-o", out, "-isohybrid-mbr", boot,
		"-partition_offset", "0", "-eltorito-alt-boot", "-e", "efi.img", "-no-emul-boot", "-isohybrid-gpt-basdat",
		tree).CombinedOutput()
	if err != nil {
		t.Fatalf("xorriso: %v\n%s", err, text)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// leftover is metadata of an earlier system, at the place that its format has for it.
type leftover struct {
	name  string
	at    int64
	magic string
}

// leftovers lie where an image of 16 MiB does not reach on a disk of 128 MiB.
func leftovers() []leftover {
	const end = diskSize
	return []leftover{
		{"md 0.90", end&^65535 - 65536, "\xfc\x4e\x2b\xa9"},
		{"md 1.0", end - 8192, "\xfc\x4e\x2b\xa9"},
		{"DDF", end - 512, "\xde\x11\xde\x11"},
		{"IMSM", end - 1024, "Intel Raid ISM Cfg Sig. "},
		{"IMSM of large sectors", end - 8192, "Intel Raid ISM Cfg Sig. "},
		{"ZFS label 2", end - 512<<10 + 128<<10, "\x0c\xb1\xba\x00\x00\x00\x00\x00"},
		{"ZFS label 3", end - 256<<10 + 128<<10, "\x0c\xb1\xba\x00\x00\x00\x00\x00"},
		{"btrfs copy", 64*mib + 64, "_BHRfS_M"},
		{"bcachefs copy", end - mib + 24, "\xc6\x85\x73\xf6\x66\xce\x90\xa9"},
		{"Promise", end - 3087*512, "Promise Technology, Inc."},
		// of the second partition, 48 MiB to the end but for a MiB
		{"LVM", 48*mib + 512, "LABELONE"},
		{"LUKS", 48 * mib, "LUKS\xba\xbe"},
		{"LUKS2, second header", 48*mib + 4*mib, "SKUL\xba\xbe"},
		{"bcache", 48*mib + 4096 + 24, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca"},
		{"md 1.1 of a partition", 48 * mib, "\xfc\x4e\x2b\xa9"},
		{"md 1.2 of a partition", 48*mib + 4096, "\xfc\x4e\x2b\xa9"},
		{"md 1.0 of a partition", end - mib - 8192, "\xfc\x4e\x2b\xa9"},
		{"ext of a partition", 48*mib + 1080, "\x53\xef"},
	}
}

// earlier puts an earlier system's GPT and one leftover onto a disk.
func (b *bench) earlier(t *testing.T, name string, l leftover) {
	t.Helper()
	f, err := disktest.CreateFileTarget(b.files[name], b.size)
	if err != nil {
		t.Fatal(err)
	}
	d := &fileDisk{FileTarget: f}
	random := bytes.NewReader(bytes.Repeat([]byte{1, 2, 3, 4}, 64))
	g := disk.NewGPT(d, disk.GUID{9})
	for _, size := range []int64{47 * mib, 79 * mib} {
		if _, err := g.AddNext(size, disk.GUID{7}, "oldsystem", random); err != nil {
			t.Fatal(err)
		}
	}
	err = g.Write(d)
	block := make([]byte, 4096)
	at := l.at / 512 * 512
	n := min(int64(len(block)), b.size-at)
	if _, more := d.ReadAt(block[:n], at); more != nil {
		t.Fatal(more)
	}
	copy(block[l.at-at:], l.magic)
	_, more := d.WriteAt(block[:n], at)
	if err := errors.Join(err, more, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// deploy writes an image as the step does.
func (b *bench) deploy(info agentapi.ImageInfo, drive string) error {
	_, err := Execute(context.Background(), b.Machine, Deploy,
		Request{Step: agentapi.Step{Interface: "deploy", Step: "write_image", Args: args(info, drive)}})
	return err
}

// TestNothingOfAnEarlierSystem: each leftover is gone, with any image.
func TestNothingOfAnEarlierSystem(t *testing.T) {
	image := mbrImage()
	for _, l := range leftovers() {
		t.Run(l.name, func(t *testing.T) {
			b := newBench(t, "/dev/vda")
			b.earlier(t, "/dev/vda", l)
			if err := b.deploy(serve(t, image), ""); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.read(t, "/dev/vda", 0, len(image)), image) {
				t.Error("the image was changed")
			}
			if got := b.read(t, "/dev/vda", l.at, len(l.magic)); string(got) == l.magic {
				t.Error("it is still there")
			}
			if got := b.read(t, "/dev/vda", diskSize-512, 8); string(got) == "EFI PART" {
				t.Error("a backup GPT is still there")
			}
		})
	}
}

// TestAnImageKeepsItsKindOfTable: in each format, with a config drive and without, an image's own MBR decides, and not
// the GPT of an earlier system.
func TestAnImageKeepsItsKindOfTable(t *testing.T) {
	packed, err := configdrive.Encode(iso(t))
	if err != nil {
		t.Fatal(err)
	}
	raw := mbrImage()
	for _, tc := range []struct {
		name, format string
		image        []byte
	}{
		{"raw", "raw", raw}, {"qcow2", "qcow2", qcow2(t, raw)}, {"hybrid ISO", "raw", isoImage(t)},
	} {
		for _, drive := range []string{"", packed} {
			t.Run(tc.name, func(t *testing.T) {
				b := newBench(t, "/dev/vda")
				b.earlier(t, "/dev/vda", leftover{"none", 100 * mib, ""})
				info := serve(t, tc.image)
				info.DiskFormat = tc.format
				if err := b.deploy(info, drive); err != nil {
					t.Fatal(err)
				}
				got := b.read(t, "/dev/vda", 0, 512)
				if !bytes.HasPrefix(got, []byte("BOOTCODE OF THE IMAGE")) {
					t.Errorf("boot code %q", got[:24])
				}
				if tc.name != "hybrid ISO" && !bytes.Equal(got[:462], raw[:462]) {
					t.Errorf("MBR % x", got[440:])
				}
				if tc.name == "hybrid ISO" && !bytes.Equal(got[440:478], tc.image[440:478]) {
					t.Errorf("MBR % x, the image's % x", got[440:], tc.image[440:512])
				}
				dev, err := b.Open(t.Context(), "/dev/vda")
				if err != nil {
					t.Fatal(err)
				}
				defer dev.Close() // only read from
				table, err := disk.ReadTable(dev)
				if err != nil || table.MBR == nil {
					t.Fatalf("table %+v, %v", table, err)
				}
				want := 1
				if drive != "" {
					want = 2
				}
				if parts := table.Parts(); len(parts) != want {
					t.Errorf("partitions %+v", parts)
				}
				if got := b.read(t, "/dev/vda", diskSize-512, 8); string(got) == "EFI PART" {
					t.Error("a backup GPT is still there")
				}
			})
		}
	}
}

// qcow2 is an image in that format, made by QEMU's tool.
func qcow2(t *testing.T, raw []byte) []byte {
	t.Helper()
	from, to := filepath.Join(t.TempDir(), "raw"), filepath.Join(t.TempDir(), "qcow2")
	if err := os.WriteFile(from, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("qemu-img", "convert", "-f", "raw", "-O", "qcow2", from, to).CombinedOutput(); err != nil {
		t.Fatalf("qemu-img: %v\n%s", err, out)
	}
	b, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// deafDisk does not zero.
type deafDisk struct{ *fileDisk }

func (deafDisk) Zero(int64, int64) error { return nil }

// TestAWipeThatFails: nothing of the image is written onto a disk that keeps its old data.
func TestAWipeThatFails(t *testing.T) {
	b := newBench(t, "/dev/vda")
	b.earlier(t, "/dev/vda", leftovers()[0])
	open := b.Open
	b.Open = func(ctx context.Context, path string) (Device, error) {
		d, err := open(ctx, path)
		if err != nil {
			return nil, err
		}
		return deafDisk{d.(*fileDisk)}, nil
	}
	err := b.deploy(serve(t, mbrImage()), "")
	if err == nil || !strings.Contains(err.Error(), "remove the metadata of earlier systems: verify disk: "+
		"metadata is still there after wiping") {
		t.Errorf("error %v", err)
	}
	if got := b.read(t, "/dev/vda", mib, 16); !bytes.Equal(got, make([]byte, 16)) {
		t.Errorf("the image was written: %q", got)
	}
}

// TestLeftoversBesideAKeptPartition: preserve_ephemeral keeps one partition, and nothing beside it.
func TestLeftoversBesideAKeptPartition(t *testing.T) {
	for _, label := range []string{"gpt", "msdos"} {
		t.Run(label, func(t *testing.T) {
			const size = 1024 * mib
			b := partitionBench(t, size)
			info := partitionInfo(t, mib, func(i *agentapi.ImageInfo) {
				i.DiskLabel, i.RootMB, i.EphemeralMB = label, 8, 256
			})
			if err := b.deploy(info, ""); err != nil {
				t.Fatal(err)
			}
			dev, err := b.Open(t.Context(), "/dev/vda")
			if err != nil {
				t.Fatal(err)
			}
			defer dev.Close() // flushed
			table, err := disk.ReadTable(dev)
			if err != nil {
				t.Fatal(err)
			}
			kept := table.Parts()[len(table.Parts())-2].Start + 8*mib
			boot := append([]byte("LUKS\xba\xbe"), b.read(t, "/dev/vda", 6, 506)...)
			old := bytes.Repeat([]byte("OLD!"), 128)
			left := []int64{size - 64<<10, size - 512<<10, size - mib}
			_, err = dev.WriteAt(boot, 0)
			for _, at := range append(left, kept) {
				_, more := dev.WriteAt(old, at)
				err = errors.Join(err, more)
			}
			if err != nil {
				t.Fatal(err)
			}
			info.PreserveEphemeral = true
			if err := b.deploy(info, ""); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.read(t, "/dev/vda", kept, len(old)), old) {
				t.Error("the ephemeral partition was not kept")
			}
			for _, at := range append(left, 0) {
				if got := b.read(t, "/dev/vda", at, 6); bytes.HasPrefix(got, []byte("OLD!")) || bytes.HasPrefix(got, boot[:6]) {
					t.Errorf("still there at %d: %q", at, got)
				}
			}
		})
	}
}
