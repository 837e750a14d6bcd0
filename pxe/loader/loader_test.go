package loader

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMeant: the names that firmware makes of a loader's open it, and no name leaves the folder.
func TestMeant(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "loaders")
	if err := os.MkdirAll(filepath.Join(dir, "Sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"snponly.efi", "snponly.efi.sig", "Sub/b.efi", "undionly.kpxe", "..x", "../secret"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte(f), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{ // want "": refused, as ErrName or as no file
		"snponly.efi": "snponly.efi", "/snponly.efi": "snponly.efi", "///snponly.efi": "snponly.efi",
		`\snponly.efi`: "snponly.efi", "./snponly.efi": "snponly.efi", `.\\snponly.efi`: "snponly.efi",
		"SNPONLY.EFI": "snponly.efi", "SnpOnly.efi.SIG": "snponly.efi.sig",
		"snponly.efi\xff": "snponly.efi", "snponly.efia\x11": "snponly.efi", "snponly.efi\xff\xff": "snponly.efi",
		"/snponly.efi ": "snponly.efi", "snponly.efi\r\n": "snponly.efi", "snponly.efi\x00": "snponly.efi",
		"UNDIONLY.KPXE\xff": "undionly.kpxe", "snponly.efi.sig\xff": "snponly.efi.sig",
		`sub\b.efi`: "Sub/b.efi", "sub/./b.efi": "Sub/b.efi", "Sub//b.efi": "Sub/b.efi", "..x": "..x",
		"": "", "/": "", ".": "", "..": "", "../secret": "", "/../secret": "", `..\..\secret`: "", "Sub/../../secret": "",
		"Sub/": "", "Sub": "", "../secret\xff": "", "\xff": "", " ": "", "snponly.efix": "", "snponly.ef": "",
		"snponly.efi.old": "", "nothing.efi\xff": "", "snponly.efi/x": "", "snponly.efi\xff/x": "",
		strings.Repeat("x", 256): "",
	} {
		file, _, err := Folder(dir).Open(name)
		if err != nil {
			if want != "" || !errors.Is(err, ErrName) && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%q: %v, want %q", name, err, want)
			}
			continue
		}
		b, err := io.ReadAll(file)
		if err := errors.Join(err, file.Close()); err != nil || string(b) != want {
			t.Errorf("%q: got %q, %v; want %q", name, b, err, want)
		}
	}
}

// FuzzOpen: no name opens a file outside the folder.
func FuzzOpen(f *testing.F) {
	root := f.TempDir()
	dir := filepath.Join(root, "loaders")
	if err := os.Mkdir(dir, 0o755); err != nil {
		f.Fatal(err)
	}
	for path, text := range map[string]string{"loaders/a.efi": "in", "secret": "out", "a.efi": "out"} {
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	for _, name := range []string{"a.efi", "A.EFI\xff", "../secret", `..\a.efi`, "./a.efia\x11", "/./../secret\xff"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		file, _, err := Folder(dir).Open(name)
		if err != nil {
			return
		}
		b, err := io.ReadAll(file)
		if err := errors.Join(err, file.Close()); err != nil || string(b) != "in" {
			t.Errorf("%q opens %q, %v", name, b, err)
		}
	})
}

func TestFolderOpen(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "loaders")
	for _, d := range []string{dir, filepath.Join(dir, "sub")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{filepath.Join(root, "secret"), filepath.Join(dir, "a.efi"),
		filepath.Join(dir, "sub", "b.efi")} {
		if err := os.WriteFile(f, []byte(filepath.Base(f)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("sub/b.efi", filepath.Join(dir, "link.efi")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a.efi": "a.efi", `\sub\b.efi`: "b.efi", "link.efi": "b.efi",
		"sub": "", "pipe": "", "missing": "", "../secret": "", "a.efi/x": "",
	} {
		file, info, err := Folder(dir).Open(name)
		if err != nil {
			if want != "" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		b, readErr := io.ReadAll(file)
		if err := errors.Join(readErr, file.Close()); err != nil {
			t.Fatal(err)
		}
		if string(b) != want || info.Size() != int64(len(b)) {
			t.Errorf("%s: got %q of %d bytes, want %q", name, b, info.Size(), want)
		}
	}
	if _, _, err := Folder(dir).Open("missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if err := Folder(dir).Check(); err == nil || !strings.Contains(err.Error(), "install Debian's package ipxe") {
		t.Errorf("a folder without loaders: %v", err)
	}
}
