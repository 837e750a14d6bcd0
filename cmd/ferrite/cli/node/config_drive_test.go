package node

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChecksum(t *testing.T) {
	md5, sha256, sha512 := strings.Repeat("a", 32), strings.Repeat("b", 64), strings.Repeat("C", 128)
	for in, want := range map[string][2]string{
		md5: {"", md5}, "md5:" + md5: {"", md5}, sha256: {"sha256", sha256}, "sha512:" + sha512: {"sha512", sha512},
		"https://h/SHA256SUMS": {"", "https://h/SHA256SUMS"},
	} {
		algo, sum, err := splitChecksum(in)
		if err != nil || algo != want[0] || sum != want[1] {
			t.Errorf("%s: %q %q %v", in, algo, sum, err)
		}
	}
	for _, in := range []string{"", "abc", strings.Repeat("x", 64), "sha512:" + sha256} {
		if _, _, err := splitChecksum(in); err == nil {
			t.Errorf("%q is taken for a checksum", in)
		}
	}
}

func TestConfigDrive(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	iso := make([]byte, 40<<10)
	copy(iso[isoMarkAt:], isoMark)
	write("laid/openstack/latest/meta_data.json", []byte(`{"hostname":"a"}`))
	write("flat/user_data", []byte("#!/bin/sh\n"))
	write("none/readme", nil)
	write("bad/meta_data.json", []byte("[]"))
	b64 := base64.StdEncoding.EncodeToString([]byte("drive"))
	for in, want := range map[string]any{
		"http://h/drive":                  "http://h/drive",
		`{"user_data":"x"}`:               map[string]any{"user_data": "x"},
		filepath.Join(dir, "laid"):        map[string]any{"meta_data": map[string]any{"hostname": "a"}},
		filepath.Join(dir, "flat"):        map[string]any{"user_data": "#!/bin/sh\n"},
		write("b64", []byte(b64+"\n")):    b64,
		write("gz", []byte("\x1f\x8bxx")): base64.StdEncoding.EncodeToString([]byte("\x1f\x8bxx")),
		write("o.json", []byte(` {} `)):   map[string]any{},
	} {
		got, err := readConfigDrive(in)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", in, err, diff)
		}
	}
	got, err := readConfigDrive(write("iso", iso))
	packed, _ := got.(string)
	raw, err2 := base64.StdEncoding.DecodeString(packed)
	zip, err3 := gzip.NewReader(bytes.NewReader(raw))
	if err != nil || err2 != nil || err3 != nil {
		t.Fatal(err, err2, err3)
	}
	if back, err := io.ReadAll(zip); err != nil || !bytes.Equal(back, iso) {
		t.Errorf("an ISO came out otherwise: %v", err)
	}
	for _, in := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "bad"), write("junk", []byte("hello!")),
		write("empty", nil), "{"} {
		if got, err := readConfigDrive(in); err == nil {
			t.Errorf("%s is taken for a config drive: %v", in, got)
		}
	}
}
