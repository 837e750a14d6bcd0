package configdrive

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/images/iso"
	"github.com/google/go-cmp/cmp"
)

// trees are file trees every format must carry.
func trees() map[string]map[string][]byte {
	many := map[string][]byte{"13-characters": []byte("x"), "empty": nil,
		"openstack/content/0000": bytes.Repeat([]byte("0123456789"), 10000)}
	for i := range 90 {
		many[fmt.Sprintf("ec2/a-rather-long-directory-0/file with blanks %02d.JSON", i)] = []byte(fmt.Sprint(i))
	}
	return map[string]map[string][]byte{
		"small": {"openstack/latest/meta_data.json": []byte("{}"), "openstack/latest/user_data": []byte("#cloud-config\n")},
		"many":  many,
		"large": {"openstack/latest/user_data": bytes.Repeat([]byte("sixteen bytes ok"), 2<<16)}, // 2 MiB
		"fat16": {"content": bytes.Repeat([]byte("sixteen bytes ok"), 18<<16)},                   // 18 MiB
	}
}

// TestBuildFATReadByMtools lets foreign programs read and check the image.
func TestBuildFATReadByMtools(t *testing.T) {
	for name, files := range trees() {
		for _, sector := range []int{512, 4096} {
			t.Run(fmt.Sprintf("%s %d", name, sector), func(t *testing.T) {
				b, err := buildFAT(Label, files, sector)
				if err != nil {
					t.Fatal(err)
				}
				again, err := buildFAT(Label, files, sector)
				if err != nil || !bytes.Equal(b, again) || !isFAT(b) {
					t.Errorf("not the same each time: %v", err)
				}
				dir := t.TempDir()
				image, out := filepath.Join(dir, "cd.img"), filepath.Join(dir, "out")
				if err := errors.Join(os.WriteFile(image, b, 0o600), os.Mkdir(out, 0o700)); err != nil {
					t.Fatal(err)
				}
				command(t, "fsck.vfat", "-n", image)
				if text := command(t, "blkid", "-p", "-o", "export", image); !strings.Contains(text, "LABEL=config-2") ||
					!strings.Contains(text, "TYPE=vfat") {
					t.Error(text)
				}
				command(t, "mcopy", "-s", "-i", image, "::*", out)
				if diff := cmp.Diff(files, readAll(t, out), cmp.Comparer(bytes.Equal)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// command runs a program of the test dependencies.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func TestBuildFATRefusals(t *testing.T) {
	for name, err := range map[string]error{
		"label":  second(buildFAT("a long label", nil, 512)),
		"sector": second(buildFAT(Label, nil, 2000)),
		"path":   second(buildFAT(Label, map[string][]byte{"/x": nil}, 512)),
		"large":  second(buildFAT(Label, map[string][]byte{"x": make([]byte, MaxSize)}, 512)),
	} {
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second(_ []byte, err error) error { return err }

// TestRead reads our own images and images of the tool that operators use.
func TestRead(t *testing.T) {
	for name, files := range trees() {
		t.Run(name, func(t *testing.T) {
			b, err := Build(Label, files)
			if err != nil {
				t.Fatal(err)
			}
			got, err := read(b)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(files, got, cmp.Comparer(bytes.Equal)); diff != "" {
				t.Error(diff)
			}
		})
	}
	dir := t.TempDir()
	tree := filepath.Join(dir, "tree")
	want := map[string][]byte{"openstack/latest/meta_data.json": []byte("{}"), "openstack/latest/user_data": []byte("x")}
	for p, content := range want {
		p = filepath.Join(tree, p)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o700), os.WriteFile(p, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, flags := range [][]string{{"-J", "-R"}, {"-R"}, {"-J"}} {
		image := filepath.Join(dir, "x.iso")
		command(t, "xorriso", append(append([]string{"-as", "mkisofs", "-quiet", "-V", Label, "-o", image},
			flags...), tree)...)
		b, err := os.ReadFile(image)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(b)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v: %v %s", flags, err, diff)
		}
	}
}

// TestReadTricks: names that lead elsewhere, and links, are refused and not followed (CVE-2026-48681 is of that kind).
func TestReadTricks(t *testing.T) {
	dir := t.TempDir()
	tree, image := filepath.Join(dir, "tree"), filepath.Join(dir, "x.iso")
	if err := errors.Join(os.Mkdir(tree, 0o700), os.WriteFile(filepath.Join(tree, "innocentname"), []byte("x"), 0o600),
		os.Mkdir(filepath.Join(tree, "innocentdirs"), 0o700)); err != nil {
		t.Fatal(err)
	}
	made := func() []byte {
		command(t, "xorriso", "-as", "mkisofs", "-quiet", "-V", Label, "-R", "-o", image, tree)
		b, err := os.ReadFile(image)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, text := range map[string]string{"../../passwd": "a file called", "/etc/passwd_": "a file called",
		"a/../../../b": "a file called", "nul\x00in a name": "a file called"} {
		for _, old := range []string{"innocentname", "innocentdirs"} {
			b := bytes.ReplaceAll(made(), []byte(old), []byte(name[:12]))
			if _, err := read(b); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), text) {
				t.Errorf("%s for %s: error is %v, expected %q", name, old, err, text)
			}
		}
	}
	if err := os.Symlink("/etc/shadow", filepath.Join(tree, "user_data")); err != nil {
		t.Fatal(err)
	}
	if _, err := read(made()); err == nil || !strings.Contains(err.Error(), "user_data is a symbolic link") {
		t.Errorf("a link: error is %v", err)
	}
}

func FuzzRead(f *testing.F) {
	b, err := example().ISO()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b[16*iso.SectorSize:])
	f.Fuzz(func(t *testing.T, b []byte) {
		files, err := read(append(make([]byte, 16*iso.SectorSize), b...))
		if err != nil {
			return
		}
		for name := range files {
			if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "..") {
				t.Fatalf("a file called %q", name)
			}
		}
	})
}

func TestForSector(t *testing.T) {
	iso, err := example().ISO()
	if err != nil {
		t.Fatal(err)
	}
	fat, err := buildFAT(Label, map[string][]byte{"x": nil}, 512)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ForSector(iso, 512); err != nil || !bytes.Equal(got, iso) {
		t.Errorf("an ISO on 512: %v", err)
	}
	if got, err := ForSector(iso, 4096); err != nil || !isFAT(got) {
		t.Errorf("an ISO on 4096: %v", err)
	}
	if got, err := ForSector(fat, 512); err != nil || !bytes.Equal(got, fat) {
		t.Errorf("a VFAT on 512: %v", err)
	}
	if _, err := ForSector(fat, 4096); !errors.Is(err, ErrInvalid) {
		t.Errorf("a VFAT of 512 on 4096: %v", err)
	}
}
