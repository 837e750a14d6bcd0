package tftp

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/pxe/loader"
	"github.com/google/go-cmp/cmp"
)

// rrq writes a read request of NUL-terminated fields.
func rrq(fields ...string) []byte {
	return append([]byte{0, opRead}, strings.Join(append(fields, ""), "\x00")...)
}

func TestParseRequest(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   []byte
		want request
		code int // of the ERROR; -1: silence
	}{
		{name: "plain", in: rrq("a.efi", "octet"), want: request{name: "a.efi"}},
		{name: "mode in capitals", in: rrq("a.efi", "OCTET"), want: request{name: "a.efi"}},
		{name: "netascii", in: rrq("a", "netascii"), want: request{name: "a"}},
		{name: "options", in: rrq("a", "octet", "tsize", "0", "BLKSIZE", "1468", "windowsize", "4"),
			want: request{name: "a", size: true, block: 1468, window: 4}},
		{name: "too wide a window", in: rrq("a", "octet", "windowsize", "65535"),
			want: request{name: "a", window: maxWindow}},
		{name: "senseless options", in: rrq("a", "octet", "blksize", "7", "windowsize", "0", "tsize", "x", "timeout", "1",
			"odd"), want: request{name: "a"}},
		{name: "no last NUL", in: []byte("\x00\x01a\x00octet"), code: -1},
		{name: "no mode", in: rrq("a"), code: -1},
		{name: "nothing", in: nil, code: -1},
		{name: "cut short", in: []byte{0, 1, 'a'}, code: -1},
		{name: "too long", in: rrq(strings.Repeat("a", 600), "octet"), code: -1},
		{name: "data", in: []byte{0, 3, 0, 1}, code: -1},
		{name: "write", in: append([]byte{0, opWrite}, rrq("a", "octet")[2:]...), code: codeAccess},
		{name: "mail", in: rrq("a", "mail"), code: codeIllegal},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseRequest(tc.in)
			var refused *requestError
			switch {
			case tc.code == 0 && err != nil:
				t.Fatal(err)
			case tc.code > 0 && (!errors.As(err, &refused) || int(refused.code) != tc.code):
				t.Fatalf("got %v, want error code %d", err, tc.code)
			case tc.code < 0 && (err == nil || errors.As(err, &refused)):
				t.Fatalf("got %v, want silence", err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(request{})); tc.code == 0 && diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzTFTPPath asks for arbitrary names. Nothing may panic, no file outside the folder may come out.
func FuzzTFTPPath(f *testing.F) {
	root := f.TempDir()
	dir := filepath.Join(root, "loaders")
	if err := os.Mkdir(dir, 0o755); err != nil {
		f.Fatal(err)
	}
	for _, file := range []string{filepath.Join(dir, "a.efi"), filepath.Join(root, "secret")} {
		if err := os.WriteFile(file, []byte(file), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	for _, name := range []string{"a.efi", "/a.efi", `\a.efi`, "../secret", `..\secret`, "/etc/passwd",
		"a.efi/../../secret", "./a.efi", "a.efi\xff", "//a.efi"} {
		f.Add(rrq(name, "octet", "blksize", "1468", "tsize", "0", "windowsize", "4"))
	}
	f.Add([]byte{0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		req, err := parseRequest(b)
		if err != nil {
			return
		}
		file, _, err := loader.Folder(dir).Open(req.name)
		if err != nil {
			if !errors.Is(err, loader.ErrName) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
				t.Logf("%q: %v", req.name, err) // such as ENOTDIR and ENAMETOOLONG
			}
			return
		}
		defer file.Close()
		if !strings.HasSuffix(file.Name(), "/loaders/a.efi") {
			t.Fatalf("%q opens %s", req.name, file.Name())
		}
	})
}

// TestNameWithoutEnd: ROMs that read option 67 past its end get the loader that they mean, with and without a window.
func TestNameWithoutEnd(t *testing.T) {
	r := serve(t, nil)
	want := r.file(t, "snponly.efi", 500)
	for _, name := range []string{"snponly.efia\x11", "SNPONLY.EFI\xff", `\snponly.efi `} {
		for _, fields := range [][]string{{name, "octet"}, {name, "octet", "windowsize", "4"}} {
			c := r.dial(t)
			c.sendTo(r.Addr(), rrq(fields...))
			if len(fields) > 2 {
				c.next(longWait)
				c.ack(0)
			}
			if got := c.block(1); string(got) != string(want) {
				t.Errorf("%q gets %d bytes, want %d", fields, len(got), len(want))
			}
			c.ack(1)
		}
	}
}
