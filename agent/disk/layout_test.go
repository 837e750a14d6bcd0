package disk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDivide has sfdisk read the tables.
func TestDivide(t *testing.T) {
	for _, tc := range []struct {
		name   string
		layout Layout
		want   string
	}{
		{"uefi", Layout{GPT: true, UEFI: true, Root: 64 * mib}, `
gpt
1 2048 1126400 C12A7328-F81F-11D2-BA4B-00A0C93EC93B esp
2 1128448 131072 0FC63DAF-8483-4772-8E79-3D69D8477DE4 root`},
		{"uefi with all", Layout{GPT: true, UEFI: true, Ephemeral: 32 * mib, Swap: 16 * mib, ConfigDrive: true,
			Root: 64 * mib}, `
gpt
1 2048 1126400 C12A7328-F81F-11D2-BA4B-00A0C93EC93B esp
2 1128448 65536 0FC63DAF-8483-4772-8E79-3D69D8477DE4 ephemeral
3 1193984 32768 0657FD6D-A4AB-43C4-84E5-0933C84B4F4F swap
4 1226752 131072 0FC63DAF-8483-4772-8E79-3D69D8477DE4 config-2
5 1357824 131072 0FC63DAF-8483-4772-8E79-3D69D8477DE4 root`},
		{"bios with gpt", Layout{GPT: true, Swap: 16 * mib, Root: 64 * mib}, `
gpt
1 2048 2048 21686148-6449-6E6F-744E-656564454649 bios
2 4096 32768 0657FD6D-A4AB-43C4-84E5-0933C84B4F4F swap
3 36864 131072 0FC63DAF-8483-4772-8E79-3D69D8477DE4 root`},
		{"bios with all", Layout{Ephemeral: 32 * mib, Swap: 16 * mib, ConfigDrive: true, Root: 64 * mib}, `
dos
1 2048 65536 83
2 67584 32768 82
3 100352 131072 83
4 231424 131072 83 bootable`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDisk(t, tc.layout.Size(), 512)
			v, err := Divide(d, tc.layout, fixed())
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range v.Parts { // the old contents
				copy(d.b[p.Start:], bytes.Repeat([]byte{0xda}, mib))
				copy(d.b[p.Start+p.Size-mib:], bytes.Repeat([]byte{0xda}, mib))
			}
			if err := v.Write(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimSpace(tc.want), tableText(t, d)); diff != "" {
				t.Errorf("sfdisk reads (-want +got):\n%s", diff)
			}
			table, err := ReadTable(d)
			if err != nil {
				t.Fatal(err)
			}
			read := map[int]Part{}
			for _, p := range table.Parts() {
				read[p.Number] = p
			}
			for role, p := range v.Parts {
				if diff := cmp.Diff(p, read[p.Number]); diff != "" {
					t.Errorf("%s (-said +read):\n%s", role, diff)
				}
				if table.PartUUID(p) != v.PartUUID(role) {
					t.Errorf("%s has PARTUUID %s, said was %s", role, table.PartUUID(p), v.PartUUID(role))
				}
				if b := d.b[p.Start : p.Start+p.Size]; !isZero(b[:mib]) || !isZero(b[len(b)-mib:]) {
					t.Errorf("%s has its old edges", role)
				}
			}
		})
	}
}

// tableText is the table as sfdisk reads it.
func tableText(t *testing.T, d *memDisk) string {
	t.Helper()
	var read struct {
		PartitionTable struct {
			Label      string
			Partitions []struct {
				Start, Size int64
				Type, Name  string
				Bootable    bool
			}
		}
	}
	path := filepath.Join(t.TempDir(), "disk") // sparse: the disk is large
	if err := errors.Join(os.WriteFile(path, d.b[:mib], 0o600), os.Truncate(path, d.Size()-mib)); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(d.b[d.Size()-mib:])
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	run(t, "", "sfdisk", "-q", "--verify", path)
	if err := json.Unmarshal([]byte(run(t, "", "sfdisk", "-J", path)), &read); err != nil {
		t.Fatal(err)
	}
	lines := []string{read.PartitionTable.Label}
	for i, p := range read.PartitionTable.Partitions {
		line := fmt.Sprint(i+1, " ", p.Start, " ", p.Size, " ", p.Type, " ", p.Name)
		if p.Bootable {
			line += "bootable"
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}

func TestDivideRefuses(t *testing.T) {
	for _, tc := range []struct {
		layout Layout
		size   int64
		want   string
	}{
		{Layout{GPT: true, UEFI: true, Root: 64 * mib}, 600 * mib,
			"the disk has 629145600 bytes, its partitions take 645922816"},
		{Layout{UEFI: true, Ephemeral: mib, Swap: mib, ConfigDrive: true, Root: 64 * mib}, 800 * mib,
			"5 partitions are more than an MBR has room for"},
	} {
		if _, err := Divide(newDisk(t, tc.size, 512), tc.layout, fixed()); err == nil || !errors.Is(err, ErrTable) ||
			!strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v, want %s", tc.layout, err, tc.want)
		}
	}
	// The limit of an MBR: such a disk would be larger than a test's.
	m := NewMBR(newDisk(t, mib, 512), 1)
	if err := m.AddNext(hugeDisk{newDisk(t, mib, 512)}, 3<<40, mbrLinux, false); !errors.Is(err, ErrTable) {
		t.Errorf("3 TiB in an MBR: %v", err)
	}
}

// hugeDisk says that it is.
type hugeDisk struct{ *memDisk }

func (hugeDisk) Size() int64 { return 8 << 40 }

func TestKeep(t *testing.T) {
	before := Layout{GPT: true, Ephemeral: 32 * mib, Swap: 16 * mib, Root: 64 * mib}
	mbr := before
	mbr.GPT = false
	for _, tc := range []struct {
		name          string
		before, after Layout
		want          string
	}{
		{"the same", before, before, ""},
		{"the same, MBR", mbr, mbr, ""},
		{"what comes behind may change", before, Layout{GPT: true, Ephemeral: 32 * mib, ConfigDrive: true,
			Root: 32 * mib}, ""},
		{"larger", before, Layout{GPT: true, Ephemeral: 33 * mib, Root: 64 * mib},
			"partition 2 for ephemeral would be the 34603008 bytes at 2097152, found 33554432 bytes at 2097152"},
		{"moved", before, Layout{GPT: true, UEFI: true, Ephemeral: 32 * mib, Root: 64 * mib},
			"would be the 33554432 bytes at 577765376"},
		{"another table", before, mbr, "of the other kind"},
		{"none before", Layout{GPT: true, Root: 64 * mib}, before, "partition 2 for ephemeral would be"},
		{"none wanted", before, Layout{GPT: true, Root: 64 * mib}, "none is wanted for ephemeral"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDisk(t, max(tc.before.Size(), tc.after.Size()), 512)
			first, err := Divide(d, tc.before, fixed())
			if err != nil {
				t.Fatal(err)
			}
			if err := first.Write(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			if p, ok := first.Parts[RoleEphemeral]; ok {
				copy(d.b[p.Start:], "precious")
			}
			writes := d.writes
			v, err := Divide(d, tc.after, bytes.NewReader(bytes.Repeat([]byte("another one each"), 16)))
			if err != nil {
				t.Fatal(err)
			}
			err = v.Keep(d, RoleEphemeral)
			if d.writes != writes {
				t.Error("something was written already")
			}
			if tc.want != "" {
				if !errors.Is(err, ErrNotKept) || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%v, want %s", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := v.Write(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			p := first.Parts[RoleEphemeral]
			if !bytes.HasPrefix(d.b[p.Start:], []byte("precious")) {
				t.Error("it was not kept")
			}
			if diff := cmp.Diff(first.PartUUID(RoleEphemeral), v.PartUUID(RoleEphemeral)); diff != "" {
				t.Errorf("its PARTUUID: %s", diff)
			}
		})
	}
}

// TestWithin: nothing around a partition is touched.
func TestWithin(t *testing.T) {
	d := newDisk(t, 4*mib, 512)
	w := Within(d, Part{Start: mib, Size: mib})
	if _, err := w.WriteAt(bytes.Repeat([]byte{7}, mib), 0); err != nil {
		t.Fatal(err)
	}
	if !isZero(d.b[:mib]) || !isZero(d.b[2*mib:]) || isZero(d.b[mib:2*mib]) || w.Size() != mib {
		t.Error("it did not land in the partition alone")
	}
	for _, at := range []struct{ off, n int64 }{{-512, 512}, {mib, 512}, {mib - 512, 1024}} {
		if _, err := w.WriteAt(make([]byte, at.n), at.off); err == nil {
			t.Errorf("%d bytes were written at %d", at.n, at.off)
		}
		if err := w.Zero(at.off, at.n); err == nil {
			t.Errorf("%d bytes were zeroed at %d", at.n, at.off)
		}
	}
}
