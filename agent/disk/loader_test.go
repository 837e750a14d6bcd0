package disk

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// makeFAT makes a filesystem with mkfs.vfat and copies files into it with mtools.
func makeFAT(t testing.TB, size int64, mkfs []string, files map[string]string) *memDisk {
	t.Helper()
	d := newDisk(t, size, 512)
	onFile(t, d, func(path string) {
		run(t, "", "mkfs.vfat", append(mkfs, path)...)
		made := map[string]bool{}
		for name, content := range files {
			dir := "::"
			for _, part := range strings.Split(name, "/")[:strings.Count(name, "/")] {
				if dir += "/" + part; !made[dir] {
					run(t, "", "mmd", "-i", path, dir)
					made[dir] = true
				}
			}
			run(t, content, "mcopy", "-i", path, "-", "::/"+name)
		}
	})
	return d
}

// utf16CSV is a CSV as distributions ship it.
func utf16CSV(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

func TestBootLoader(t *testing.T) {
	debian := utf16CSV("shimx64.efi,debian,,This is the boot entry for debian\n")
	tests := []struct {
		name  string
		files map[string]string
		want  Loader
		fail  string
	}{
		{"csv", map[string]string{"EFI/debian/BOOTX64.CSV": debian, "EFI/debian/shimx64.efi": "x",
			"EFI/BOOT/BOOTX64.EFI": "x"},
			Loader{Path: `\EFI\debian\shimx64.efi`, Label: "debian"}, ""},
		{"csv with options", map[string]string{"EFI/x/bootx64.csv": utf16CSV("a.efi,gone\r\nb.efi,Other OS,quiet " +
			"splash,\r\n"), "EFI/x/b.efi": "x"},
			Loader{Path: `\EFI\x\b.efi`, Label: "Other OS", Options: "quiet splash"}, ""},
		{"csv in plain text", map[string]string{"EFI/y/BOOTX64.CSV": "sub\\l.efi,y", "EFI/y/sub/l.efi": "x"},
			Loader{Path: `\EFI\y\sub\l.efi`, Label: "y"}, ""},
		{"csv whose loader is gone", map[string]string{"EFI/debian/BOOTX64.CSV": debian, "EFI/BOOT/BOOTX64.EFI": "x"},
			Loader{Path: `\EFI\BOOT\BOOTX64.EFI`}, ""},
		{"csv that leads out", map[string]string{"EFI/debian/BOOTX64.CSV": utf16CSV("../../x.efi,bad"), "x.efi": "x",
			"EFI/BOOT/BOOTX64.EFI": "x"}, Loader{Path: `\EFI\BOOT\BOOTX64.EFI`}, ""},
		{"fallback only", map[string]string{"EFI/BOOT/bootx64.efi": "x"}, Loader{Path: `\EFI\BOOT\BOOTX64.EFI`}, ""},
		{"a folder with a file that cannot be", map[string]string{"EFI/a/BOOTX64.CSV": strings.Repeat("x", maxCSV+1),
			"EFI/debian/BOOTX64.CSV": debian, "EFI/debian/shimx64.efi": "x"},
			Loader{Path: `\EFI\debian\shimx64.efi`, Label: "debian"}, ""},
		{"another architecture", map[string]string{"EFI/BOOT/BOOTAA64.EFI": "x"}, Loader{},
			"neither EFI/*/BOOTX64.CSV nor EFI/BOOT/BOOTX64.EFI"},
		{"empty", map[string]string{}, Loader{}, "no folder EFI"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := twoParts(t, 16<<20, 512)
			copy(d.b[mib:], makeFAT(t, 4<<20, []string{"-F", "12"}, tt.files).b)
			tb, err := ReadTable(d)
			if err != nil {
				t.Fatal(err)
			}
			p, l, err := BootLoader(d, tb, "amd64")
			if (tt.fail != "") != errors.Is(err, ErrNoLoader) || err != nil && !strings.Contains(err.Error(), tt.fail) {
				t.Fatalf("error is %v, expected %q", err, tt.fail)
			}
			if strings.Contains(tt.name, "cannot be") != (len(l.Passed) == 1) {
				t.Errorf("passed over: %v", l.Passed)
			}
			l.Passed = nil
			if diff := cmp.Diff(tt.want, l); diff != "" || p.Number != 1 {
				t.Error(p, diff)
			}
		})
	}
}

// TestSecondESP: an EFI system partition without a file system, or without a loader, keeps no other from being booted.
func TestSecondESP(t *testing.T) {
	empty := makeFAT(t, mib, []string{"-F", "12"}, nil).b
	for name, first := range map[string][]byte{"no file system": nil, "no loader": empty} {
		t.Run(name, func(t *testing.T) {
			d := twoParts(t, 16<<20, 512)
			g, err := ReadGPT(d)
			if err != nil {
				t.Fatal(err)
			}
			second := g.Partitions()[1]
			second.Type = guid(t, typeESP)
			if err := errors.Join(g.set(second), g.Write(d)); err != nil {
				t.Fatal(err)
			}
			copy(d.b[mib:], first)
			copy(d.b[5*mib:], makeFAT(t, 4<<20, []string{"-F", "12"}, map[string]string{"EFI/BOOT/BOOTX64.EFI": "x"}).b)
			p, l, err := BootLoader(d, &Table{GPT: g}, "amd64")
			if err != nil || p.Number != 2 || len(l.Passed) != 1 {
				t.Errorf("partition %d, %+v, %v", p.Number, l, err)
			}
			v := &memVars{m: map[string][]byte{}}
			_, err = SetBootEntry(v, &Table{GPT: g}, p, 512, BootEntry{Label: "second", Loader: l})
			if path := v.m["Boot0000"]; err != nil || !bytes.Contains(path, []byte{4, 1, 42, 0, 2, 0, 0, 0}) {
				t.Errorf("the entry is not for partition 2: % x, %v", path, err)
			}
		})
	}
}
