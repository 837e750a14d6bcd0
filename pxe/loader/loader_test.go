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

func TestClean(t *testing.T) {
	for _, tc := range []struct {
		in, want string // want "": refused
	}{
		{"snponly.efi", "snponly.efi"},
		{"/snponly.efi", "snponly.efi"},
		{"///snponly.efi", "snponly.efi"},
		{`\snponly.efi`, "snponly.efi"},
		{`sub\snponly.efi`, "sub/snponly.efi"},
		{"sub/snponly.efi", "sub/snponly.efi"},
		{"..x", "..x"},
		{"", ""},
		{"/", ""},
		{".", ""},
		{"..", ""},
		{"../etc/passwd", ""},
		{"/../etc/passwd", ""},
		{`..\..\etc\passwd`, ""},
		{"sub/../../x", ""},
		{"sub/./x", ""},
		{"sub//x", ""},
		{"sub/", ""},
		{"a\x00b", ""},
		{"a\nb", ""},
		{"a\xff", ""},
		{strings.Repeat("x", 256), ""},
	} {
		got, err := clean(tc.in)
		if got != tc.want || (err != nil) != (tc.want == "") {
			t.Errorf("%q: got %q, %v; want %q", tc.in, got, err, tc.want)
		}
		if err != nil && !errors.Is(err, ErrName) {
			t.Errorf("%q: %v is not ErrName", tc.in, err)
		}
	}
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
