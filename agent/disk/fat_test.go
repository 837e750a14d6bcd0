package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
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

func TestFATReadsMkfs(t *testing.T) {
	files := map[string]string{
		"EFI/BOOT/BOOTX64.EFI":                    strings.Repeat("loader", 40000),
		"a long name with blanks and ümläute.txt": "long",
		"SHORT.TXT": "short",
		"EFI/debian/one more directory level/file.cfg": "deep",
		"EMPTY": "",
	}
	for i := range 40 { // a directory of several clusters
		files[fmt.Sprintf("many/file number %02d.conf", i)] = fmt.Sprint(i)
	}
	for _, tt := range []struct {
		name string
		size int64
		mkfs []string
		bits int
	}{
		{"FAT12", 2 << 20, []string{"-F", "12", "-s", "1"}, 12},
		{"FAT16", 20 << 20, []string{"-F", "16", "-s", "4"}, 16},
		{"FAT32", 40 << 20, []string{"-F", "32", "-s", "1"}, 32},
		{"FAT16 of 4096 byte sectors", 40 << 20, []string{"-F", "16", "-S", "4096", "-s", "1"}, 16},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := makeFAT(t, tt.size, tt.mkfs, files)
			f, err := OpenFAT(d)
			if err != nil {
				t.Fatal(err)
			}
			if f.bits != tt.bits {
				t.Errorf("taken for FAT%d", f.bits)
			}
			for name, want := range files {
				got, err := f.ReadFile(strings.ToUpper(name), 1<<20)
				if err != nil || string(got) != want {
					t.Errorf("%s: %d bytes, %v", name, len(got), err)
				}
			}
			many, err := f.List("many")
			if err != nil || len(many) != 40 {
				t.Errorf("%d entries, %v", len(many), err)
			}
			_, notThere := f.ReadFile("EFI/none", 1)
			_, isDir := f.ReadFile("EFI", 1)
			_, large := f.ReadFile("EFI/BOOT/BOOTX64.EFI", 1000)
			_, isFile := f.List("SHORT.TXT")
			if !errors.Is(notThere, fs.ErrNotExist) || isDir == nil || large == nil || isFile == nil {
				t.Errorf("%v, %v, %v, %v", notThere, isDir, large, isFile)
			}
		})
	}
}

func TestFATRefusals(t *testing.T) {
	sound := makeFAT(t, 2<<20, []string{"-F", "12", "-s", "1"}, map[string]string{"FILE": strings.Repeat("x", 5000)})
	for name, damage := range map[string]func(b []byte){
		"no mark":         func(b []byte) { b[510] = 0 },
		"sector size":     func(b []byte) { b[11], b[12] = 1, 1 },
		"no table":        func(b []byte) { b[16] = 0 },
		"small table":     func(b []byte) { b[22] = 1 },
		"few clusters":    func(b []byte) { b[19], b[20] = 2, 0 },
		"chain outside":   func(b []byte) { copy(b[512:], bytes.Repeat([]byte{0xef}, 3000)) },
		"chain too short": func(b []byte) { copy(b[512:], bytes.Repeat([]byte{0xff}, 3000)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := bytes.Clone(sound.b)
			damage(b)
			f, err := OpenFAT(bytes.NewReader(b))
			if err == nil {
				_, err = f.ReadFile("FILE", 1<<20)
			}
			if !errors.Is(err, ErrFAT) {
				t.Errorf("error is %v", err)
			}
		})
	}
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
		{"csv", map[string]string{"EFI/debian/BOOTX64.CSV": debian, "EFI/debian/shimx64.efi": "x", "EFI/BOOT/BOOTX64.EFI": "x"},
			Loader{Path: `\EFI\debian\shimx64.efi`, Label: "debian"}, ""},
		{"csv with options", map[string]string{"EFI/x/bootx64.csv": utf16CSV("a.efi,gone\r\nb.efi,Other OS,quiet splash,\r\n"), "EFI/x/b.efi": "x"},
			Loader{Path: `\EFI\x\b.efi`, Label: "Other OS", Options: "quiet splash"}, ""},
		{"csv in plain text", map[string]string{"EFI/y/BOOTX64.CSV": "sub\\l.efi,y", "EFI/y/sub/l.efi": "x"}, Loader{Path: `\EFI\y\sub\l.efi`, Label: "y"}, ""},
		{"csv whose loader is gone", map[string]string{"EFI/debian/BOOTX64.CSV": debian, "EFI/BOOT/BOOTX64.EFI": "x"}, Loader{Path: `\EFI\BOOT\BOOTX64.EFI`}, ""},
		{"csv that leads out", map[string]string{"EFI/debian/BOOTX64.CSV": utf16CSV("../../x.efi,bad"), "x.efi": "x", "EFI/BOOT/BOOTX64.EFI": "x"}, Loader{Path: `\EFI\BOOT\BOOTX64.EFI`}, ""},
		{"fallback only", map[string]string{"EFI/BOOT/bootx64.efi": "x"}, Loader{Path: `\EFI\BOOT\BOOTX64.EFI`}, ""},
		{"another architecture", map[string]string{"EFI/BOOT/BOOTAA64.EFI": "x"}, Loader{}, "neither EFI/*/BOOTX64.CSV nor EFI/BOOT/BOOTX64.EFI"},
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
			if diff := cmp.Diff(tt.want, l); diff != "" || p.Number != 1 {
				t.Error(p, diff)
			}
		})
	}
}
