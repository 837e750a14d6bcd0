package fat

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

func TestReadsMkfs(t *testing.T) {
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
			f, err := Open(bytes.NewReader(d))
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

func TestReaderRefusals(t *testing.T) {
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
			b := bytes.Clone(sound)
			damage(b)
			f, err := Open(bytes.NewReader(b))
			if err == nil {
				_, err = f.ReadFile("FILE", 1<<20)
			}
			if !errors.Is(err, ErrInvalid) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// FuzzReader reads everything of a file system; any answer will do, if it comes.
func FuzzReader(f *testing.F) {
	small := []string{"-F", "12", "-i", "12345678", "-s", "1", "-f", "1", "-r", "16"}
	f.Add(makeFAT(f, 36<<10, small, map[string]string{"EFI/BOOT/BOOTX64.EFI": "loader"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Open(bytes.NewReader(b))
		if err != nil {
			return
		}
		_, _ = r.ReadFile("EFI/BOOT/BOOTX64.EFI", 1<<20)
		files, err := r.Files(1 << 20)
		if err != nil {
			return
		}
		for name, content := range files {
			if len(content) > 1<<20 {
				t.Fatalf("%s has %d bytes", name, len(content))
			}
		}
	})
}

// TestFilesOfARing: a directory that is its own child ends in an error.
func TestFilesOfARing(t *testing.T) {
	latest := &File{Name: "latest", Children: []*File{{Name: "a", Children: []*File{}}, {Name: "b", Children: []*File{}}}}
	b, err := Build("x", &File{Children: []*File{latest}}, 512, 64*mib)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+recordSize <= len(b); i += recordSize { // both children become their parent
		if name := string(b[i : i+8]); name == "F0000000" || name == "F0000001" {
			b[i+26] = 2
		}
	}
	r, err := Open(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Files(mib); err == nil {
		t.Error("a ring was read to its end")
	}
}
