package disk

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func mirror(t *testing.T, size int64) Array {
	t.Helper()
	a, err := NewArray("root", 2, size, time.Unix(1700000000, 0).UTC(), fixed())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestMemberReadsBack(t *testing.T) {
	for _, sector := range []int{512, 4096} {
		d := newDisk(t, 40*mib, sector)
		for i := range d.b {
			d.b[i] = 0xda
		}
		p := Part{Number: 2, Start: 2 * mib, Size: MemberRoom(16 * mib)}
		copy(d.b[p.Start+4*kib:], mdMagic) // an earlier array's remains
		a := mirror(t, 16*mib)
		if err := WriteMember(d, p, a, 1, fixed()); err != nil {
			t.Fatal(err)
		}
		got, err := ReadMember(d, p)
		if err != nil {
			t.Fatal(err)
		}
		want := Member{Array: a, Number: 1}
		copy(want.ID[:], "0123456789abcdef")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if d.b[p.Start-1] != 0xda || d.b[p.Start+p.Size] != 0xda {
			t.Error("bytes beyond the partition were touched")
		}
		golden(t, "member.txt", dump(d.b[p.Start+mdEnd(p.Size):p.Start+p.Size]))
	}
}

// TestExamine has Debian's mdadm read the superblock.
func TestExamine(t *testing.T) {
	d := newDisk(t, MemberRoom(16*mib), 512)
	if err := WriteMember(d, Part{Size: d.Size()}, mirror(t, 16*mib), 0, fixed()); err != nil {
		t.Fatal(err)
	}
	onFile(t, d, func(path string) {
		out := run(t, "", "mdadm", "--examine", path)
		for _, want := range []string{
			"Version : 1.0", "Name : root", "Raid Level : raid1", "Raid Devices : 2", "Array Size : 16384",
			"Device Role : Active device 0",
			"Array State : AA", "- correct", "Array UUID : 30313233:34353637:38396162:63646566",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("mdadm does not say %q:\n%s", want, out)
			}
		}
	})
}

func TestMemberRefusals(t *testing.T) {
	d := newDisk(t, 8*mib, 512)
	for name, err := range map[string]error{
		"too small":  WriteMember(d, Part{Size: 8 * mib}, mirror(t, 8*mib), 0, fixed()),
		"third of 2": WriteMember(d, Part{Size: 8 * mib}, mirror(t, 4*mib), 2, fixed()),
		"no members": func() error { _, err := NewArray("x", 1, mib, time.Time{}, fixed()); return err }(),
		"long name": func() error {
			_, err := NewArray(strings.Repeat("x", 33), 2, mib, time.Time{},
				fixed())
			return err
		}(),
		"deaf medium": WriteMember(&memDisk{b: []byte(strings.Repeat("\xda", 8*mib)), sector: 512, deaf: true},
			Part{Size: 8 * mib}, mirror(t, 4*mib), 0, fixed()),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := ReadMember(d, Part{Size: 8 * mib}); !errors.Is(err, ErrNoMember) {
		t.Errorf("empty disk: %v", err)
	}
	if err := WriteMember(d, Part{Size: 8 * mib}, mirror(t, 4*mib), 0, fixed()); err != nil {
		t.Fatal(err)
	}
	d.b[mdEnd(8*mib)+100] ^= 1
	if _, err := ReadMember(d, Part{Size: 8 * mib}); err == nil || errors.Is(err, ErrNoMember) {
		t.Errorf("damaged superblock: %v", err)
	}
}

func TestMemberRoom(t *testing.T) {
	for _, size := range []int64{1, mib, mib + 1, 4 << 30} {
		if room := MemberRoom(size); MemberSize(room) < size || MemberSize(room) >= size+mib {
			t.Errorf("%d bytes: a partition of %d has %d", size, room, MemberSize(room))
		}
	}
}

func TestRAIDTraces(t *testing.T) {
	d := twoParts(t, 32*mib, 512)
	if found, err := RAIDTraces(d); err != nil || len(found) != 0 {
		t.Errorf("%v, %v", found, err)
	}
	table, err := ReadTable(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteMember(d, table.Parts()[1], mirror(t, mib), 0, fixed()); err != nil {
		t.Fatal(err)
	}
	found, err := RAIDTraces(d)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"partition 2: md 1.0"}, found); diff != "" {
		t.Error(diff)
	}
}

func FuzzMember(f *testing.F) {
	a, err := NewArray("root", 2, 16*mib, time.Unix(1700000000, 0), fixed())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(Member{Array: a, Number: 1}.superblock(100))
	f.Add([]byte(mdMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := parseMember(b); err == nil && (m.Size < 0 || m.Members < 0 || m.Number < -1) {
			t.Fatalf("%+v", m)
		}
	})
}
