package cacert_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"encoding/pem"

	"github.com/ferrite-metal/ferrite/conductor/outbound/cacert"
)

// authority is one certificate as PEM.
func authority(t *testing.T) string {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

// site makes a folder that is open, a file beside it, and entries of the folder that are no certificates.
func site(t *testing.T, ca string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"open/ca.pem": ca, "open/more/a.pem": ca, "open/more/b.pem": ca, "open/text": "no certificate",
		"open/large": strings.Repeat("#", 1<<20+1), "open/nested/in/ca.pem": ca, "beside/ca.pem": ca,
		"open/linking/ca.pem": ca,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "open/crowd"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 65 {
		if err := os.WriteFile(filepath.Join(dir, "open/crowd", fmt.Sprint(i)), []byte(ca), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"open/link.pem": "more/a.pem", "open/out.pem": "../beside/ca.pem", "open/away": "../beside", "open/zero": "/dev/zero",
		"open/linking/out": "../../beside/ca.pem",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "open/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPool(t *testing.T) {
	ca := authority(t)
	dir := site(t, ca)
	open := dir + "/open"
	closed := cacert.ErrNotOpen.Error()
	for _, c := range []struct {
		folder, setting string
		want            string // the error, "" for none
	}{
		{open, ca, ""},
		{"", ca, ""},
		{open, "Subject: CN=x\n" + ca, ""},
		{open, open + "/ca.pem", ""},
		{open, "ca.pem", ""},
		{open + "/", open + "/more", ""},
		{open, "link.pem", ""},
		{"", open + "/ca.pem", closed},
		{"", "/dev/zero", closed},
		{open, "/dev/zero", closed},
		{open, "zero", closed},
		{open, "pipe", closed},
		{open, "out.pem", closed},
		{open, "away/ca.pem", closed},
		{open, "away", closed},
		{open, "linking", closed}, // one of its files leads out
		{open, "nested", closed},
		{open, dir + "/beside/ca.pem", closed},
		{open, dir + "/beside/none.pem", closed}, // the error must not reveal whether it exists
		{open, "../beside/ca.pem", closed},
		{open, open + "/../beside/ca.pem", closed},
		{open, "none.pem", closed},
		{dir + "/none", "ca.pem", closed},
		{open, "text", "holds no PEM certificate"},
		{open, "large", "more than 1048576 bytes"},
		{open, "crowd", "a folder of more than 64 files"},
		{open, strings.Repeat(ca, 200), "at most 65536 are taken"},
		{open, "-----BEGIN CERTIFICATE-----\nnonsense", "holds no PEM certificate"},
		{open, "", "must be true, false, PEM text"},
		{open, "a\x00b", "must be true, false, PEM text"},
	} {
		pool, err := cacert.Folder(c.folder).Pool(c.setting)
		switch {
		case c.want == "" && (err != nil || pool == nil):
			t.Errorf("%.60q in %s: %v", c.setting, c.folder, err)
		case c.want == closed && !errors.Is(err, cacert.ErrNotOpen):
			t.Errorf("%.60q in %s: %v, want %v", c.setting, c.folder, err, cacert.ErrNotOpen)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%.60q in %s: %v, want %s", c.setting, c.folder, err, c.want)
		}
	}
}

// A wrong form is found without a folder.
func TestCheck(t *testing.T) {
	for setting, want := range map[string]string{
		"/etc/ferrite/ca": "", "ca.pem": "", "": "must be", "\x1b[31m": "must be",
		"-----BEGIN CERTIFICATE-----":         "holds no PEM",
		strings.Repeat("a", cacert.MaxText+1): "is 65537 bytes long",
	} {
		if err := cacert.Check(setting); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", setting, err, want)
		}
	}
}
