package disk

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sfdisk makes a disk with the MBR a script describes.
func sfdisk(t testing.TB, size int64, script string) *memDisk {
	t.Helper()
	d := newDisk(t, size, 512)
	onFile(t, d, func(path string) { run(t, "label: dos\nlabel-id: 0x1234abcd\n"+script, "sfdisk", "-q", path) })
	return d
}

func TestMBRReadsSfdisk(t *testing.T) {
	d := sfdisk(t, 64<<20, "start=2048, size=4096, type=83, bootable\nstart=8192, size=20000, type=5\nstart=40000, "+
		"size=100, type=ef\nstart=10240, size=2048\nstart=14336, size=2048, type=82\n")
	tb, err := ReadTable(d)
	if err != nil {
		t.Fatal(err)
	}
	want := []MBRPartition{
		{1, 0x83, true, 2048, 4096}, {2, 5, false, 8192, 20000}, {3, 0xef, false, 40000, 100},
		{5, 0x83, false, 10240, 2048}, {6, 0x82, false, 14336, 2048},
	}
	if diff := cmp.Diff(want, tb.MBR.Partitions); diff != "" {
		t.Error(diff)
	}
	if esp, ok := tb.ESP(); !ok || esp.Number != 3 || esp.Start != 40000*512 || tb.MBR.Signature != 0x1234abcd {
		t.Errorf("ESP %+v, signature %x", esp, tb.MBR.Signature)
	}
	if n := len(tb.Parts()); n != 4 { // the container is none
		t.Errorf("%d parts", n)
	}
}

func TestMBRRefusals(t *testing.T) {
	made := sfdisk(t, 8<<20, "start=2048, size=4096, type=83\n")
	sound := func() *memDisk { return &memDisk{b: bytes.Clone(made.b), sector: 512} }
	tests := []struct {
		name   string
		damage func(d *memDisk)
		fail   error
	}{
		{"empty disk", func(d *memDisk) { clear(d.b) }, ErrNoTable},
		{"no partition", func(d *memDisk) { clear(d.b[446:510]) }, ErrNoTable},
		{"a filesystem's boot sector", func(d *memDisk) { copy(d.b[446:], "Non-System disk or disk error") }, ErrNoTable},
		{"beyond the disk", func(d *memDisk) { d.b = d.b[:1<<20] }, ErrTable},
		{"protective without GPT", func(d *memDisk) { d.b[450] = mbrProtective }, ErrTable},
		{"ring of logical partitions", func(d *memDisk) {
			d.b[450] = 5
			link := d.b[2048*512:]
			link[510], link[511] = 0x55, 0xaa
			link[446+16+4], link[446+16+12] = 5, 1
		}, ErrTable},
		{"chain that leaves its container", func(d *memDisk) {
			d.b[450] = 5
			link := d.b[2048*512:]
			link[510], link[511] = 0x55, 0xaa
			link[446+16+4], link[446+16+10], link[446+16+12] = 5, 1, 1
		}, ErrTable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := sound()
			tt.damage(d)
			if _, err := ReadTable(d); !errors.Is(err, tt.fail) {
				t.Errorf("error is %v, expected %v", err, tt.fail)
			}
		})
	}
}

func TestMBRAddLast(t *testing.T) {
	d := sfdisk(t, 64<<20, "start=2048, size=4096, type=83, bootable\n")
	m, err := ReadMBR(d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.AddLast(d, 62<<20, mbrLinux); !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), "no room") {
		t.Errorf("too large: %v", err)
	}
	p, err := m.AddLast(d, 10<<20, mbrLinux)
	if err != nil || p != (MBRPartition{2, 0x83, false, 54 * 2048, 10 * 2048}) {
		t.Fatalf("%+v %v", p, err)
	}
	if err := m.Write(d); err != nil {
		t.Fatal(err)
	}
	onFile(t, d, func(path string) {
		run(t, "", "sfdisk", "--verify", path)
		out := run(t, "", "sfdisk", "-d", path)
		for _, want := range []string{"start=        2048, size=        4096, type=83, bootable",
			"start=      110592, size=       20480, type=83"} {
			if !strings.Contains(out, want) {
				t.Errorf("sfdisk -d lacks %q:\n%s", want, out)
			}
		}
	})
}
