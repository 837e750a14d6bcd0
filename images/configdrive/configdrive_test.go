package configdrive

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/images/iso"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func example() Data {
	return Data{
		MetaData:    json.RawMessage(`{"uuid":"6f9c1a52-0b8f-4f1e-9a46-1e2d3c4b5a69","hostname":"rack1-07"}`),
		NetworkData: json.RawMessage(`{"links":[],"networks":[],"services":[]}`),
		VendorData:  json.RawMessage(`{}`),
		UserData:    []byte("#cloud-config\nruncmd: [touch /it-works]\n"),
	}
}

func TestISOGolden(t *testing.T) {
	got, err := example().ISO()
	if err != nil {
		t.Fatal(err)
	}
	again, err := example().ISO()
	if err != nil || !bytes.Equal(got, again) {
		t.Fatalf("two images of the same data differ (%v)", err)
	}
	path := filepath.Join("testdata", "example.hex")
	text := dump(got)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Error(diff)
	}
}

// dump prints the lines that are not zero, as a person can review them.
func dump(b []byte) string {
	var out strings.Builder
	for off := 0; off < len(b); off += 32 {
		line := b[off:min(off+32, len(b))]
		if bytes.Count(line, []byte{0}) == len(line) {
			continue
		}
		text := bytes.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return '.'
			}
			return r
		}, line)
		fmt.Fprintf(&out, "%06x %x %s\n", off, line, text)
	}
	return out.String()
}

// TestISOReadByXorriso lets a foreign reader list and extract the image.
func TestISOReadByXorriso(t *testing.T) {
	dir := t.TempDir()
	image := filepath.Join(dir, "cd.iso")
	long := map[string][]byte{"openstack/latest/meta_data.json": []byte("{}"),
		"openstack/content/0000": bytes.Repeat([]byte("x"), 5000)}
	for i := range 60 { // a directory of several sectors
		long[fmt.Sprintf("ec2/a-rather-long-directory-0/file with blanks %02d.JSON", i)] = []byte(fmt.Sprint(i))
	}
	for name, files := range map[string]map[string][]byte{"example": nil, "long": long} {
		t.Run(name, func(t *testing.T) {
			b, err := Build(Label, files)
			if files == nil {
				b, err = example().ISO()
				files = map[string][]byte{
					"openstack/latest/meta_data.json": example().MetaData, "openstack/latest/network_data.json": example().NetworkData,
					"openstack/latest/vendor_data.json": example().VendorData, "openstack/latest/user_data": example().UserData,
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(image, b, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, names := range []string{"nojoliet", "norock"} { // Rock Ridge, then Joliet
				out := filepath.Join(dir, name+names)
				args := []string{"-abort_on", "WARNING", "-osirrox", "on", "-read_fs", names, "-indev", image, "-extract", "/", out}
				if text, err := exec.Command("xorriso", args...).CombinedOutput(); err != nil {
					t.Fatalf("xorriso: %v\n%s", err, text)
				}
				if diff := cmp.Diff(files, readAll(t, out)); diff != "" {
					t.Errorf("%s: %s", names, diff)
				}
			}
		})
	}
	out, err := exec.Command("blkid", "-p", "-o", "export", image).Output()
	if err != nil || !strings.Contains(string(out), "LABEL=config-2") || !strings.Contains(string(out), "TYPE=iso9660") {
		t.Errorf("blkid: %v %s", err, out)
	}
}

// readAll reads a directory tree.
func readAll(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.Walk(dir, func(p string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return errors.Join(err, os.Chmod(p, 0o700)) // so that the folder can be removed
		}
		rel, _ := filepath.Rel(dir, p)
		files[rel], err = os.ReadFile(p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestBuildRefusals(t *testing.T) {
	tests := []struct {
		name  string
		label string
		files map[string][]byte
		text  string
	}{
		{"label", "a-label-that-is-too-long", nil, "1 to 16"},
		{"absolute", Label, map[string][]byte{"/etc/x": nil}, "clean relative path"},
		{"upwards", Label, map[string][]byte{"../x": nil}, "clean relative path"},
		{"same in capitals", Label, map[string][]byte{"a": nil, "A": nil}, "same name"},
		{"file and folder", Label, map[string][]byte{"a/b": nil, "a": nil}, "same name"},
		{"deep", Label, map[string][]byte{"1/2/3/4/5/6/7/8/9/f": nil}, "8 levels"},
		{"large", Label, map[string][]byte{"f": make([]byte, MaxSize)}, "at most 67108864"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Build(tt.label, tt.files)
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error is %v, expected %q", err, tt.text)
			}
		})
	}
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, in string
		want     Data
		fail     string
	}{
		{"strings", `{"meta_data":{"a":1},"user_data":"#!/bin/sh\n"}`,
			Data{MetaData: json.RawMessage(`{"a":1}`), UserData: []byte("#!/bin/sh\n")}, ""},
		{"ignition", `{"user_data":{"ignition":{}}}`, Data{UserData: []byte(`{"ignition":{}}`)}, ""},
		{"nulls", `{"user_data":null}`, Data{}, ""},
		{"not an object", `["x"]`, Data{}, "expected an object of"},
		{"unknown", `{"metadata":{}}`, Data{}, "metadata"},
		{"meta_data a string", `{"meta_data":"x"}`, Data{}, "meta_data.json: expected an object, found string"},
		{"user_data a number", `{"user_data":1}`, Data{}, "user_data: expected a string"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse([]byte(tt.in))
			if (err != nil) != (tt.fail != "") || err != nil && !strings.Contains(err.Error(), tt.fail) {
				t.Fatalf("error is %v, expected %q", err, tt.fail)
			}
			if diff := cmp.Diff(tt.want, got); err == nil && diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWithDefaults(t *testing.T) {
	tests := []struct{ in, uuid, name, want string }{
		{``, "u", "n", `{"hostname":"n","name":"n","uuid":"u"}`},
		{`null`, "u", "", `{"uuid":"u"}`},
		{`{"hostname":"own","x":1}`, "u", "n", `{"hostname":"own","name":"n","uuid":"u","x":1}`},
	}
	for _, tt := range tests {
		got, err := Data{MetaData: json.RawMessage(tt.in)}.WithDefaults(tt.uuid, tt.name)
		if err != nil || string(got.MetaData) != tt.want {
			t.Errorf("%s: %s %v, expected %s", tt.in, got.MetaData, err, tt.want)
		}
	}
}

func TestEncodeDecode(t *testing.T) {
	image, err := example().ISO()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Encode(image)
	if err != nil {
		t.Fatal(err)
	}
	wrapped := ""
	for rest := s; rest != ""; rest = rest[min(76, len(rest)):] {
		wrapped += rest[:min(76, len(rest))] + "\n"
	}
	got, err := Decode(wrapped)
	if err != nil || !bytes.Equal(got, image) {
		t.Fatalf("not the same after a round trip: %v", err)
	}
	for name, form := range map[string]string{"of YAML": strings.ReplaceAll(wrapped, "\n", "\n \t"),
		"not compressed": base64.StdEncoding.EncodeToString(image)} {
		if got, err := Decode(form); err != nil || !bytes.Equal(got, image) || Packed(form) == (name == "not compressed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	other, err := Encode([]byte("no filesystem"))
	if err != nil {
		t.Fatal(err)
	}
	var member bytes.Buffer
	z := gzip.NewWriter(&member)
	if _, err := z.Write(make([]byte, MaxSize/8)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	zeroes := base64.StdEncoding.EncodeToString(member.Bytes())
	bomb := base64.StdEncoding.EncodeToString(bytes.Repeat(member.Bytes(), 9))
	_, tooLarge := Encode(make([]byte, MaxSize+1))
	if !errors.Is(tooLarge, ErrInvalid) {
		t.Errorf("too large: %v", tooLarge)
	}
	for name, s := range map[string]string{"empty": "", "not base64": "@@", "not gzip": "aGVsbG8=", "cut": s[:len(s)/2],
		"no filesystem": other, "zeroes": zeroes, "bomb": bomb} {
		if _, err := Decode(s); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	image, err := example().ISO()
	if err != nil {
		f.Fatal(err)
	}
	s, err := Encode(image)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(s)
	f.Add("H4sIAAAAAAAA/w==")
	f.Fuzz(func(t *testing.T, s string) {
		b, err := Decode(s)
		if checked := Check(s); (checked == nil) != (err == nil) {
			t.Fatalf("Decode says %v, Check %v", err, checked)
		}
		if err == nil && len(b) > MaxSize {
			t.Fatalf("%d bytes", len(b))
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"meta_data":{"a":1},"user_data":"x","network_data":{},"vendor_data":{}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := Parse(raw)
		if err != nil {
			return
		}
		if _, err := d.ISO(); err != nil {
			t.Fatalf("no image of what was accepted: %v", err)
		}
		if _, err := d.WithDefaults("u", "n"); err != nil {
			t.Fatalf("no defaults for what was accepted: %v", err)
		}
	})
}

// TestCheckHoldsLittle: a few kilobytes from a client do not become megabytes for a
// check.
func TestCheckHoldsLittle(t *testing.T) {
	image := make([]byte, MaxSize)
	copy(image[16*iso.SectorSize:], "\x01CD001")
	drive, err := Encode(image)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := Check(drive); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > MaxSize/16 {
		t.Errorf("%d bytes were allocated to check a drive of %d", n, len(drive))
	}
}
