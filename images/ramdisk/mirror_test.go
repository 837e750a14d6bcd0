package ramdisk

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/u-root/mkuimage/cpio"

	"github.com/ferrite-metal/ferrite/images/ramdisk/debian"
	"github.com/ferrite-metal/ferrite/images/ramdisk/debian/debiantest"
)

// fakeMirror has a kernel behind a metapackage, in backports a newer one, and firmware.
func fakeMirror(t *testing.T, firmware bool) *debiantest.Mirror {
	t.Helper()
	m := debiantest.New(t)
	add := func(suite, component, name, version, depends string, entries ...debiantest.Entry) {
		entries = append(entries,
			debiantest.Entry{Name: "./usr/share/doc/" + name + "/copyright", Text: "licence of " + name})
		m.Add(debiantest.Package{Name: name, Version: version, Suite: suite, Component: component, Depends: depends,
			Deb: debiantest.Deb(t, entries...)})
	}
	for suite, release := range map[string]string{"bookworm": "6.1-test", "bookworm-backports": "6.12-test"} {
		below := "./lib/modules/" + release + "/"
		add(suite, "main", "linux-image-test", "1", "linux-image-"+release+" (= 1)")
		add(suite, "main", "linux-image-"+release, "1", "kmod",
			debiantest.Entry{Name: "./boot/vmlinuz-" + release, Text: "kernel " + release},
			debiantest.Entry{Name: below + "modules.builtin", Text: "kernel/fs/ext4.ko\n"},
			debiantest.Entry{Name: below + "modules.order", Text: "kernel/drivers/net/bnx2x.ko\n"},
			debiantest.Entry{Name: below + "kernel/drivers/net/bnx2x.ko", Text: string(module("depends=mdio", "alias=pci:v14E4*",
				"firmware=bnx2x/e2.fw", "firmware=qed/values-*.bin", "firmware=acme/none.fw"))},
			debiantest.Entry{Name: below + "kernel/drivers/net/mdio.ko", Text: string(module("depends="))})
	}
	if firmware {
		add("bookworm", "non-free-firmware", "firmware-bnx2x", "1", "",
			debiantest.Entry{Name: "./lib/firmware/bnx2x/e2.fw", Link: "e2-7.13.fw"},
			debiantest.Entry{Name: "./lib/firmware/bnx2x/e2-7.13.fw", Link: "../vendor/e2.bin"},
			debiantest.Entry{Name: "./lib/firmware/vendor/e2.bin", Text: "e2"},
			debiantest.Entry{Name: "./lib/firmware/bnx2x/unused.fw", Text: "nobody asks for it"})
		add("bookworm", "non-free-firmware", "firmware-qlogic", "1", "",
			debiantest.Entry{Name: "./usr/lib/firmware/qed/values-8.59.bin", Text: "values"})
		add("bookworm", "non-free-firmware", "intel-microcode", "1", "",
			debiantest.Entry{Name: "./lib/firmware/intel-ucode/06-55-04", Text: strings.Repeat("B", 16)},
			debiantest.Entry{Name: "./lib/firmware/intel-ucode/06-3f-02.initramfs", Text: strings.Repeat("A", 16)})
		add("bookworm", "non-free-firmware", "amd64-microcode", "1", "",
			debiantest.Entry{Name: "./lib/firmware/amd-ucode/microcode_amd.bin", Text: "amd"},
			debiantest.Entry{Name: "./lib/firmware/amd-ucode/microcode_amd.bin.asc", Text: "signature"})
	}
	m.Sign(t, "bookworm", "")
	m.Sign(t, "bookworm-backports", "")
	return m
}

func mirrorRecipe(t *testing.T, m *debiantest.Mirror) Recipe {
	t.Helper()
	r := fakeRecipe(t)
	r.Profile = Profile{Name: "test", KernelPackage: "linux-image-test",
		Modules: []Class{{Name: "net", Modules: []string{"bnx2x"}, Required: true}}}
	r.Site = Site{Firmware: FirmwareAuto}
	keys, err := debian.ReadKeyring(m.Keyring)
	if err != nil {
		t.Fatal(err)
	}
	if r.Archive, err = debian.NewMirror(m.URL, []string{"bookworm"}, keys, r.CacheDir,
		slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestBuildFromMirror: without any program of the host, a ramdisk with firmware and microcode comes from a mirror,
// twice the same.
func TestBuildFromMirror(t *testing.T) {
	t.Setenv("PATH", "")
	m := fakeMirror(t, true)
	res, err := Build(t.Context(), mirrorRecipe(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if res.KernelPackage != "linux-image-6.1-test" || res.KernelRelease != "6.1-test" ||
		!slices.Equal(res.MissingFirmware, []string{"bnx2x: acme/none.fw"}) {
		t.Errorf("result %+v", res)
	}
	found, err := Inspect(res.InitramfsPath)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"qed/values-8.59.bin", "vendor/e2.bin"}, found.Firmware); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"GenuineIntel", "AuthenticAMD"}, found.Microcode); diff != "" {
		t.Error(diff)
	}
	raw, err := os.ReadFile(res.InitramfsPath)
	if err != nil {
		t.Fatal(err)
	}
	early, packed, _ := strings.Cut(string(raw), "\x28\xb5\x2f\xfd")
	if !strings.HasPrefix(early, "070701") || len(early)%earlyAlignment != 0 ||
		!strings.Contains(early, strings.Repeat("A", 16)+strings.Repeat("B", 16)) || strings.Contains(early, "signature") {
		t.Errorf("microcode in front: %.300q", early)
	}
	checkMirrorTree(t, "\x28\xb5\x2f\xfd"+packed)
	second, err := Build(t.Context(), mirrorRecipe(t, m))
	if err != nil || second.InitramfsSHA256 != res.InitramfsSHA256 || second.KernelSHA256 != res.KernelSHA256 {
		t.Errorf("the same again: %v, other bytes", err)
	}
}

func checkMirrorTree(t *testing.T, packed string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "initramfs")
	writeFile(t, file, packed)
	got := map[string]string{}
	for _, r := range readInitramfs(t, file) {
		if r.Mode&cpio.S_IFMT == cpio.S_IFLNK || r.Mode&cpio.S_IFMT == cpio.S_IFREG {
			got[r.Name] = content(t, r)
		}
	}
	for name, want := range map[string]string{
		"lib/firmware/bnx2x/e2.fw": "e2-7.13.fw", "lib/firmware/bnx2x/e2-7.13.fw": "../vendor/e2.bin",
		"lib/firmware/vendor/e2.bin": "e2", "usr/share/doc/firmware-bnx2x/copyright": "licence of firmware-bnx2x",
		"usr/share/doc/intel-microcode/copyright": "licence of intel-microcode",
		"lib/modules/6.1-test/modules.dep": "kernel/drivers/net/bnx2x.ko: kernel/drivers/net/mdio.ko\n" +
			"kernel/drivers/net/mdio.ko:\n",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

// TestKernelOfSuite: NAME/SUITE takes the kernel of that suite, and firmware of the others.
func TestKernelOfSuite(t *testing.T) {
	r := mirrorRecipe(t, fakeMirror(t, true))
	r.Profile.KernelPackage = "linux-image-test/bookworm-backports"
	res, err := Build(t.Context(), r)
	if err != nil || res.KernelRelease != "6.12-test" {
		t.Errorf("kernel %q, %v", res.KernelRelease, err)
	}
	r.Profile.KernelPackage = "linux-image-6.1-test"
	if res, err = Build(t.Context(), r); err != nil || res.KernelRelease != "6.1-test" {
		t.Errorf("kernel %q, %v", res.KernelRelease, err)
	}
}

func TestMirrorBuildRefuses(t *testing.T) {
	out := debiantest.Deb(t, debiantest.Entry{Name: "./lib/firmware/bnx2x/e2.fw", Link: "../../../../etc/passwd"})
	tests := map[string]struct {
		firmware bool
		change   func(*Recipe, *debiantest.Mirror)
		want     string
	}{
		"no firmware": {false, func(*Recipe, *debiantest.Mirror) {}, "component non-free-firmware"},
		"unknown kernel": {true, func(r *Recipe, _ *debiantest.Mirror) { r.Profile.KernelPackage = "linux-image-none" },
			"linux-image-none: no such package"},
		"not a kernel": {true, func(r *Recipe, _ *debiantest.Mirror) { r.Profile.KernelPackage = "firmware-bnx2x" },
			"is it a kernel?"},
		"unknown suite": {true, func(r *Recipe, _ *debiantest.Mirror) { r.Profile.KernelPackage += "/nowhere" },
			"suite nowhere"},
		"a folder that is none": {true, func(r *Recipe, _ *debiantest.Mirror) { r.Site.Firmware = "/nowhere" },
			"is no folder"},
		"a link out of a package": {true, func(_ *Recipe, m *debiantest.Mirror) {
			m.Add(debiantest.Package{Name: "firmware-bnx2x", Version: "2", Suite: "bookworm", Component: "non-free-firmware",
				Deb: out})
			m.Sign(t, "bookworm", "")
		}, "leads out of package firmware-bnx2x"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := fakeMirror(t, tt.firmware)
			r := mirrorRecipe(t, m)
			tt.change(&r, m)
			if _, err := Build(t.Context(), r); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
			if _, err := os.Stat(r.Out); err == nil {
				t.Error("left a result behind")
			}
		})
	}
}

func TestOwnKernel(t *testing.T) {
	kernel, recipe := fakeKernel(t), fakeRecipe(t)
	dir := t.TempDir()
	image, modules := filepath.Join(dir, "bzImage"), filepath.Join(dir, "6.9-test")
	head := make([]byte, 0x220)
	copy(head[0x202:], "HdrS")
	head[0x20e] = 0x20 // the version is at 0x220
	writeFile(t, image, string(head)+"6.9-test (me@here) #1\x00")
	if err := os.Rename(kernel.Modules, modules); err != nil {
		t.Fatal(err)
	}
	var err error
	if recipe.Kernel, err = OwnKernel(image, modules); err != nil {
		t.Fatal(err)
	}
	if res, err := Build(t.Context(), recipe); err != nil || res.KernelRelease != "6.9-test" {
		t.Errorf("%+v, %v", res, err)
	}
	for want, at := range map[string][2]string{
		"expected a bzImage":                       {filepath.Join(modules, "modules.dep"), modules},
		"expected the folder lib/modules/6.9-test": {image, dir}, "no such file": {image + "x", modules},
	} {
		if _, err := OwnKernel(at[0], at[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
	if err := os.Remove(filepath.Join(modules, "modules.dep")); err != nil {
		t.Fatal(err)
	}
	if _, err := OwnKernel(image, modules); err == nil || !strings.Contains(err.Error(), "run `depmod") {
		t.Errorf("without lists: %v", err)
	}
}
