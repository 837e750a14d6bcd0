package bootiso_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/images/bootiso"
	"github.com/ferrite-metal/ferrite/images/iso"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func loaders() bootiso.Loaders {
	return bootiso.Loaders{ISOLINUX: make([]byte, 2048), LDLINUX: []byte("c32"), MBR: make([]byte, 432),
		GRUB: []byte("grub")}
}

func medium(t *testing.T, m bootiso.Medium) (*iso.Image, error) {
	t.Helper()
	l := loaders()
	esp, err := bootiso.ESP(l.GRUB)
	if err != nil {
		t.Fatal(err)
	}
	m.Kernel, m.Initrd = iso.Text("the kernel"), iso.Text("the ramdisk")
	return bootiso.New(l, esp, m)
}

// TestConfig looks for the configurations in the image's bytes.
func TestConfig(t *testing.T) {
	image, err := medium(t, bootiso.Medium{Cmdline: "ipa-api-url=http://10.0.0.1:6385 BOOTIF=52:54:00:00:00:01 " +
		"a;b|c&d $x"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(io.NewSectionReader(image, 0, image.Size()))
	if err != nil {
		t.Fatal(err)
	}
	for golden, begins := range map[string]string{"grub.cfg": "set timeout=0\n", "isolinux.cfg": "DEFAULT ferrite\n"} {
		_, text, found := bytes.Cut(all, []byte(begins))
		text, _, _ = bytes.Cut(text, []byte("\n\n"))
		got := begins + string(text) + "\n"
		golden = filepath.Join("testdata", golden)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" || !found {
			t.Errorf("%s (-update rewrites it):\n%s", golden, diff)
		}
	}
}

// TestSize: a machine's own parts do not move the rest.
func TestSize(t *testing.T) {
	one, err := medium(t, bootiso.Medium{Cmdline: "a"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := medium(t, bootiso.Medium{Cmdline: "ipa-agent-token=" + strings.Repeat("x", 43),
		Overlay: strings.Repeat("o", 9000)})
	if err != nil {
		t.Fatal(err)
	}
	if one.Size() != other.Size() {
		t.Errorf("%d bytes and %d", one.Size(), other.Size())
	}
}

func TestReads(t *testing.T) {
	seen := map[bootiso.Part]int{}
	image, err := medium(t, bootiso.Medium{Reads: func(p bootiso.Part) { seen[p]++ }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := image.ReadAt(make([]byte, 32<<10), 0); err != nil {
		t.Fatal(err)
	}
	if len(seen) > 0 {
		t.Errorf("the volume descriptors count as %v", seen)
	}
	if _, err := io.ReadAll(io.NewSectionReader(image, 0, image.Size())); err != nil {
		t.Fatal(err)
	}
	if seen[bootiso.Config] == 0 || seen[bootiso.Kernel] == 0 || seen[bootiso.Initrd] == 0 {
		t.Errorf("read: %v", seen)
	}
}

func TestRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		m    bootiso.Medium
		want string
	}{
		"a quote":      {bootiso.Medium{Cmdline: `token=it's`}, `word "token"`},
		"a backslash":  {bootiso.Medium{Cmdline: `a\b`}, "backslash"},
		"a control":    {bootiso.Medium{Cmdline: "a\x01b"}, "control character"},
		"a long line":  {bootiso.Medium{Cmdline: strings.Repeat("a ", 1000)}, "takes 1919"},
		"a large file": {bootiso.Medium{Overlay: strings.Repeat("a", bootiso.OverlayPlace+1)}, "at most 262144"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := medium(t, tc.m); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

func TestReadLoaders(t *testing.T) {
	folder := fstest.MapFS{}
	for _, name := range []string{"isolinux.bin", "ldlinux.c32", "isohdpfx.bin", "gcdx64.efi"} {
		if _, err := bootiso.ReadLoaders(folder); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
		folder[name] = &fstest.MapFile{Data: []byte(name)}
	}
	l, err := bootiso.ReadLoaders(folder)
	if err != nil || string(l.GRUB) != "gcdx64.efi" || string(l.MBR) != "isohdpfx.bin" {
		t.Errorf("%+v, %v", l, err)
	}
}
