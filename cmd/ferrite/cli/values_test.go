package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
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

func TestValues(t *testing.T) {
	got, err := pairs("property", []string{"cpus=4", "arch=x86_64", "a=b=c", `m={"k":[1]}`, "e="}, jsonOrText)
	want := map[string]any{"cpus": 4.0, "arch": "x86_64", "a": "b=c", "m": map[string]any{"k": []any{1.0}}, "e": ""}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	got, err = pairs("driver-info", []string{"password=12345", "verify=false"}, mostlyText)
	if diff := cmp.Diff(map[string]any{"password": "12345", "verify": false}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
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
	for _, in := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "bad"), write("junk", []byte("hello!")), write("empty", nil), "{"} {
		if got, err := readConfigDrive(in); err == nil {
			t.Errorf("%s is taken for a config drive: %v", in, got)
		}
	}
}

// TestStages: every stage after those of before is told of once, bytes at every tenth.
func TestStages(t *testing.T) {
	var out bytes.Buffer
	clock := time.Unix(0, 0)
	s := &screen{w: &out, now: func() time.Time { return clock }}
	old := time.Unix(9, 0)
	l := s.line("m1", nodeapi.Status{BootStages: []nodeapi.Stage{{Name: "of an earlier boot", At: old}}})
	wait := nodeapi.Status{State: "wait call-back", Activity: "deploy", Step: "deploy.write_image", Steps: []string{"a", "deploy.write_image"}, Index: 1}
	for _, done := range []int64{0, 1, 15e6, 16e6, 50e6, 100e6} {
		st := wait
		st.BootStages = []nodeapi.Stage{{Name: "offer", At: old}, {Name: "dhcp", At: old.Add(1)}, {Name: "kernel", Detail: "vmlinuz", At: old.Add(2)}}
		st.Progress = &nodeapi.Progress{Step: "deploy.write_image", Done: done, Total: 100e6, Rate: 20e6}
		l.show(st)
	}
	l.show(nodeapi.Status{State: "deploying"})
	clock = clock.Add(90 * time.Second)
	l.finish(nodeapi.Status{Name: "m1", State: "active"})
	want := `m1     0.0 s  boot: dhcp
m1     0.0 s  boot: kernel vmlinuz
m1     0.0 s  wait call-back: deploy.write_image (2 of 2)
m1     0.0 s  deploy.write_image 15%, 15.0 MB of 100.0 MB at 20.0 MB/s
m1     0.0 s  deploy.write_image 50%, 50.0 MB of 100.0 MB at 20.0 MB/s
m1     0.0 s  deploy.write_image 100%, 100.0 MB of 100.0 MB at 20.0 MB/s
m1     0.0 s  deploying
m1    90.0 s  m1 is active
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBar: a person sees a bar, which goes when the step is over.
func TestBar(t *testing.T) {
	var out bytes.Buffer
	s := &screen{w: &out, bars: true, now: time.Now}
	l := s.line("m1", nodeapi.Status{})
	st := nodeapi.Status{State: "wait call-back", Activity: "deploy"}
	for _, p := range []nodeapi.Progress{{Step: "write", Done: 1}, {Step: "write", Done: 5e6, Total: 10e6}, {Step: "verify", Done: 1e6, Total: 10e6}} {
		st.Progress = &p
		l.show(st)
		time.Sleep(120 * time.Millisecond) // the bar is drawn ten times a second
		l.show(st)
	}
	l.finish(nodeapi.Status{Name: "m1", State: "active"})
	l.close()
	if text := out.String(); !strings.Contains(text, "write  50%") || !strings.Contains(text, "verify") || !strings.HasSuffix(text, "m1 is active\n") || l.bar != nil {
		t.Errorf("screen:\n%q", text)
	}
}
