package disk

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func guid(t testing.TB, s string) GUID {
	t.Helper()
	g, err := ParseGUID(s)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// twoParts is a disk with an ESP and a Linux partition, made by us.
func twoParts(t testing.TB, size int64, sector int) *memDisk {
	t.Helper()
	d := newDisk(t, size, sector)
	g := NewGPT(d, guid(t, "6f9c1a52-0b8f-4f1e-9a46-1e2d3c4b5a69"))
	align := int64(mib / sector)
	for i, p := range []Partition{
		{Type: guid(t, typeESP), Name: "EFI system"},
		{Type: guid(t, typeLinuxData), Name: "root", Attributes: 4},
	} {
		p.Number, p.ID = i+1, GUID{byte(i + 1), 15: 0xff}
		p.First, p.Last = align*int64(1+4*i), align*int64(5+4*i)-1
		if err := g.set(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Write(d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestGPTGolden(t *testing.T) {
	for _, sector := range []int{512, 4096} {
		t.Run(fmt.Sprint(sector), func(t *testing.T) {
			d := twoParts(t, 16<<20, sector)
			golden(t, fmt.Sprintf("gpt-%d.hex", sector), dump(d.b))
		})
	}
}

func TestGPTReadsSgdisk(t *testing.T) {
	d := newDisk(t, 32<<20, 512)
	onFile(t, d, func(path string) {
		run(t, "", "sgdisk", "-U", "6f9c1a52-0b8f-4f1e-9a46-1e2d3c4b5a69", "-n", "3:2048:+4M", "-t", "3:ef00", "-c", "3:ESP",
			"-u", "3:01020304-0506-0708-090a-0b0c0d0e0f10",
			"-n", "1:20480:30000", "-c", "1:Wurzel ü", "-u", "1:11020304-0506-0708-090a-0b0c0d0e0f10", path)
	})
	g, err := ReadGPT(d)
	if err != nil {
		t.Fatal(err)
	}
	want := []Partition{
		{Number: 1, Type: guid(t, typeLinuxData), ID: guid(t, "11020304-0506-0708-090a-0b0c0d0e0f10"), First: 20480,
			Last: 30000, Name: "Wurzel ü"},
		{Number: 3, Type: guid(t, typeESP), ID: guid(t, "01020304-0506-0708-090a-0b0c0d0e0f10"), First: 2048, Last: 10239,
			Name: "ESP"},
	}
	if diff := cmp.Diff(want, g.Partitions()); diff != "" {
		t.Error(diff)
	}
	if g.DiskID.String() != "6f9c1a52-0b8f-4f1e-9a46-1e2d3c4b5a69" || g.FromBackup {
		t.Errorf("disk %s, backup %v", g.DiskID, g.FromBackup)
	}
}

// TestFitGPT: an image of 16 MiB on a disk of 24 MiB, which already had a
// table of its own at its end.
func TestFitGPT(t *testing.T) {
	tests := []struct {
		name   string
		damage func(d *memDisk)
		fail   error
	}{
		{"sound", func(*memDisk) {}, nil},
		{"no protective MBR", func(d *memDisk) { clear(d.b[:512]) }, nil},
		{"boot code stays", func(d *memDisk) { copy(d.b, "boot code") }, nil},
		{"primary damaged, disk of the same size", func(d *memDisk) { d.b = d.b[:16<<20]; d.b[600] ^= 1 }, ErrTable},
		{"cut off behind the last partition", func(d *memDisk) { clear(d.b[9<<20:]) }, nil},
		{"MBR of an image, backup of an earlier system", func(d *memDisk) {
			old := bytes.Clone(d.b[:16<<20])
			clear(d.b)
			copy(d.b, sfdisk(t, 4<<20, "start=2048, size=2048, type=83, bootable\n").b)
			copy(d.b[8<<20:], old[:16<<20])
		}, ErrNoTable},
		{"MBR of an image, whole table of an earlier system", func(d *memDisk) {
			copy(d.b, sfdisk(t, 4<<20, "start=2048, size=2048, type=83, bootable\n").b[:512])
		}, ErrNoTable},
		{"MBR that reaches beyond the disk, table of an earlier system", func(d *memDisk) {
			copy(d.b, sfdisk(t, 64<<20, "start=2048, size=102400, type=83\n").b[:512])
		}, ErrTable},
		{"both damaged", func(d *memDisk) { d.b = d.b[:16<<20]; d.b[600] ^= 1; d.b[len(d.b)-500] ^= 1 }, ErrTable},
		{"entries damaged", func(d *memDisk) { d.b[1024] ^= 1 }, ErrTable},
		{"no table", func(d *memDisk) { clear(d.b) }, ErrNoTable},
		{"too small", func(d *memDisk) { d.b = d.b[:9<<20] }, ErrTable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDisk(t, 24<<20, 512)
			copy(d.b, twoParts(t, 16<<20, 512).b)
			tt.damage(d)
			boot, writes := bytes.Clone(d.b[:440]), d.writes
			err := FitGPT(d)
			if !errors.Is(err, tt.fail) {
				t.Fatalf("error is %v, expected %v", err, tt.fail)
			}
			if err != nil {
				if d.writes != writes && tt.name != "too small" {
					t.Errorf("%d writes", d.writes-writes)
				}
				return
			}
			onFile(t, d, func(path string) {
				if out := run(t, "", "sgdisk", "-v", path); !strings.Contains(out, "No problems found") {
					t.Error(out)
				}
				run(t, "", "sfdisk", "--verify", path)
			})
			g, err := ReadGPT(d)
			if err != nil || g.LastUsable != d.Size()/512-34 || len(g.Partitions()) != 2 || !bytes.Equal(d.b[:440], boot) {
				t.Errorf("%+v %v", g, err)
			}
		})
	}
}

func TestGPTOfOtherSectors(t *testing.T) {
	for _, sector := range []int{512, 4096} {
		d := twoParts(t, 16<<20, sector)
		d.sector = 512 + 4096 - sector
		_, err := ReadTable(d)
		if !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), fmt.Sprintf("made for sectors of %d bytes", sector)) {
			t.Errorf("%d: %v", sector, err)
		}
	}
}

func TestGPTAddLast(t *testing.T) {
	d := twoParts(t, 16<<20, 512)
	g, err := ReadGPT(d)
	if err != nil {
		t.Fatal(err)
	}
	kind := guid(t, typeLinuxData)
	if _, err := g.AddLast(8<<20, kind, "large", fixed()); !errors.Is(err, ErrTable) ||
		!strings.Contains(err.Error(), "no room for 8388608 bytes") {
		t.Errorf("too large: %v", err)
	}
	p, err := g.AddLast(3<<20, kind, "config-2", fixed())
	if err != nil {
		t.Fatal(err)
	}
	want := Partition{Number: 3, Type: kind, ID: p.ID, First: 12 * 2048, Last: 15*2048 - 1, Name: "config-2"}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if p.ID.String() != "33323130-3534-4736-b839-616263646566" {
		t.Errorf("ID %s", p.ID)
	}
	if err := g.Write(d); err != nil {
		t.Fatal(err)
	}
	again, err := ReadGPT(d)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(g.Partitions(), again.Partitions()); diff != "" {
		t.Error(diff)
	}
}

func FuzzGPT(f *testing.F) {
	for _, sector := range []int{512, 4096} {
		d := twoParts(f, 10<<20, sector)
		f.Add(d.b[sector:][:92], d.b[2*sector:][:512])
	}
	f.Fuzz(func(t *testing.T, header, entries []byte) {
		d := newDisk(t, 1<<20, 512)
		copy(d.b[512:], header)
		copy(d.b[1024:], entries)
		resum(d.b)
		g, err := ReadGPT(d)
		if err != nil {
			return
		}
		g.Fit(d)
		if err := g.Write(d); err != nil {
			return
		}
		again, err := ReadGPT(d)
		if err != nil {
			t.Fatalf("what was written does not read: %v", err)
		}
		if diff := cmp.Diff(g.Partitions(), again.Partitions()); diff != "" {
			t.Fatal(diff)
		}
	})
}
