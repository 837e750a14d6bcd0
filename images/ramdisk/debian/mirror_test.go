package debian_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/images/ramdisk/debian"
	"github.com/ferrite-metal/ferrite/images/ramdisk/debian/debiantest"
)

func client(t *testing.T, m *debiantest.Mirror, suites ...string) *debian.Mirror {
	t.Helper()
	keys, err := debian.ReadKeyring(m.Keyring)
	if err != nil {
		t.Fatal(err)
	}
	c, err := debian.NewMirror(m.URL, suites, keys, t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// twoSuites has a tool in two versions, the newer one among the security updates.
func twoSuites(t *testing.T) *debiantest.Mirror {
	t.Helper()
	m := debiantest.New(t)
	old := debiantest.Deb(t, debiantest.Entry{Name: "./usr/bin/tool", Text: "old", Mode: 0o755})
	fixed := debiantest.Deb(t, debiantest.Entry{Name: "./usr/bin/tool", Text: "fixed", Mode: 0o755},
		debiantest.Entry{Name: "./usr/bin/alias", Link: "tool"}, debiantest.Entry{Name: "./etc/tool.conf", Text: "no"})
	m.Add(debiantest.Package{Name: "tool", Version: "1.9-1", Suite: "bookworm", Component: "main", Deb: old,
		Depends: "libc6 (>= 2.36), a:any | b, c [amd64]"})
	m.Add(debiantest.Package{Name: "tool", Version: "1.10-1", Suite: "bookworm-security", Component: "main", Deb: fixed})
	m.Add(debiantest.Package{Name: "blob", Version: "3", Suite: "bookworm", Component: "non-free-firmware", Deb: old})
	m.Sign(t, "bookworm", "")
	m.Sign(t, "bookworm-security", "Valid-Until: "+time.Now().Add(time.Hour).UTC().Format(time.RFC1123)+"\n")
	return m
}

func TestMirror(t *testing.T) {
	m := twoSuites(t)
	c := client(t, m, "bookworm", "bookworm-security")
	p, err := c.Find(t.Context(), "tool", "")
	if err != nil || p.Version != "1.10-1" || p.Suite != "bookworm-security" {
		t.Fatalf("found %+v, %v; want the newest version", p, err)
	}
	dir := t.TempDir()
	deb, err := c.Fetch(t.Context(), p, dir)
	if err != nil {
		t.Fatal(err)
	}
	err = debian.Unpack(t.Context(), deb, dir, func(name string) bool { return strings.HasPrefix(name, "usr/") })
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "usr/bin/alias"))
	if err != nil || string(text) != "fixed" {
		t.Errorf("unpacked %q, %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "usr/bin/tool")); err != nil || info.Mode().Perm()&0o111 == 0 {
		t.Errorf("%v, %v: want a program that can be run", info, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "etc")); err == nil {
		t.Error("unpacked a file that nobody wanted")
	}
	old, err := c.Find(t.Context(), "tool", "bookworm")
	if err != nil || old.Version != "1.9-1" || !slices.Equal(old.Depends, []string{"libc6", "a", "c"}) {
		t.Errorf("of one suite: %+v, %v", old, err)
	}
	if _, err := c.Find(t.Context(), "blob", ""); err != nil {
		t.Errorf("component non-free-firmware: %v", err)
	}
	if _, err := c.Find(t.Context(), "nothing", ""); !errors.Is(err, debian.ErrNoPackage) {
		t.Errorf("unknown package: %v", err)
	}
}

// TestMirrorRefuses: nothing that was changed on its way is used.
func TestMirrorRefuses(t *testing.T) {
	const release, list = "/debian/dists/bookworm/InRelease", "/debian/dists/bookworm/main/binary-amd64/Packages.gz"
	const deb = "/debian/pool/tool_1.9-1_amd64.deb"
	swap := func(old, changed string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(changed), 1) }
	}
	flip := func(b []byte) []byte { b = bytes.Clone(b); b[len(b)/2] ^= 1; return b }
	cut := func(b []byte) []byte { return b[:len(b)-7] }
	tests := []struct {
		name, path string
		change     func([]byte) []byte
		want       string
	}{
		{"release changed", release, swap("Origin: Test", "Origin: Tast"), "not as it was signed"},
		{"release unsigned", release, func([]byte) []byte { return []byte("Suite: bookworm\n") }, "signed with OpenPGP"},
		{"release cut short", release, func(b []byte) []byte { return b[:len(b)/2] }, "signed with OpenPGP"},
		{"a page of a proxy", release, func([]byte) []byte { return []byte("<html>log in</html>") }, "signed with OpenPGP"},
		{"list changed", list, flip, "mirror is damaged or being updated"},
		{"list cut short", list, cut, "mirror is damaged or being updated"},
		{"list longer", list, func(b []byte) []byte { return append(bytes.Clone(b), 0) }, "mirror is damaged"},
		{"deb changed", deb, flip, "mirror is damaged or being updated"},
		{"deb cut short", deb, cut, "mirror is damaged or being updated"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := twoSuites(t)
			m.Change(tt.path, tt.change)
			c := client(t, m, "bookworm")
			dir := t.TempDir()
			p, err := c.Find(t.Context(), "tool", "")
			if err == nil {
				_, err = c.Fetch(t.Context(), p, dir)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("left behind %v", left)
			}
		})
	}
}

func TestMirrorTrust(t *testing.T) {
	m := twoSuites(t)
	keys, err := debian.ArchiveKeyring()
	if err != nil {
		t.Fatal(err)
	}
	c, err := debian.NewMirror(m.URL, []string{"bookworm"}, keys, t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Find(t.Context(), "tool", ""); err == nil || !strings.Contains(err.Error(), "--keyring") {
		t.Errorf("a stranger's signature: %v", err)
	}
	m.Sign(t, "bookworm", "Valid-Until: "+time.Now().Add(-time.Hour).UTC().Format(time.RFC1123)+"\n")
	if _, err := client(t, m, "bookworm").Find(t.Context(), "tool", ""); err == nil ||
		!strings.Contains(err.Error(), "valid until") {
		t.Errorf("a release that has ended: %v", err)
	}
	// A good release of another suite must not pass for this one.
	m.Change("/debian/dists/trixie/InRelease", func([]byte) []byte { return nil })
	var signed []byte
	m.Sign(t, "bookworm", "")
	m.Change("/debian/dists/bookworm/InRelease", func(b []byte) []byte { signed = b; return b })
	m.Change("/debian/dists/trixie/InRelease", func([]byte) []byte { return signed })
	if _, err := client(t, m, "trixie").Find(t.Context(), "tool", ""); err == nil ||
		!strings.Contains(err.Error(), "expected suite trixie") {
		t.Errorf("the release of another suite: %v", err)
	}
}

func TestMirrorGone(t *testing.T) {
	m := debiantest.New(t)
	_, err := client(t, m, "bookworm").Find(t.Context(), "tool", "")
	if err == nil || !strings.Contains(err.Error(), "is it a mirror of Debian?") {
		t.Errorf("nothing there: %v", err)
	}
	for url, want := range map[string]string{"ftp://example.org/debian": "expected http", "": "expected http"} {
		if _, err := debian.NewMirror(url, nil, debian.Keyring{}, "", nil); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", url, err)
		}
	}
	for _, suite := range []string{"../../etc", "/etc", "a/.."} {
		if _, err := client(t, m, suite).Find(t.Context(), "tool", ""); err == nil ||
			!strings.Contains(err.Error(), "name of a suite") {
			t.Errorf("suite %q: %v", suite, err)
		}
	}
}

func TestUnpackRefuses(t *testing.T) {
	entry := func(e debiantest.Entry) []byte { return debiantest.Deb(t, e) }
	tests := map[string]struct {
		deb  []byte
		want string
	}{
		"no archive":    {[]byte("PK\x03\x04 and more"), "expected an ar archive"},
		"empty":         {nil, "expected an ar archive"},
		"no data":       {debiantest.Ar("debian-binary", "2.0\n"), "expected a member data.tar"},
		"packed by lz4": {debiantest.Ar("data.tar.lz4", "x"), "expected .gz, .xz or .zst"},
		"xz cut short":  {debiantest.Ar("data.tar.xz", "\xfd7zXZ\x00\x00\x01\x69\x22"), "data.tar.xz"},
		"cut short":     {debiantest.Deb(t, debiantest.Entry{Name: "./a", Text: "abc"})[:215], "data.tar"},
		"a path out":    {entry(debiantest.Entry{Name: "../../etc/passwd", Text: "x"}), "leads out of the package"},
		"a root path":   {entry(debiantest.Entry{Name: "/etc/passwd", Text: "x"}), "leads out of the package"},
		"through a link": {debiantest.Deb(t, debiantest.Entry{Name: "./d", Link: "/tmp"},
			debiantest.Entry{Name: "./d/x", Text: "x"}), "escapes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			deb := filepath.Join(dir, "x.deb")
			if err := os.WriteFile(deb, tt.deb, 0o644); err != nil {
				t.Fatal(err)
			}
			into := filepath.Join(dir, "into")
			if err := os.Mkdir(into, 0o755); err != nil {
				t.Fatal(err)
			}
			err := debian.Unpack(t.Context(), deb, into, func(string) bool { return true })
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}
