package ramdisk

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/u-root/mkuimage/cpio"
)

// authority makes a certificate that signs others, or a server's.
func authority(t *testing.T, name string, ends time.Time, isCA bool) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: ends,
		BasicConstraintsValid: true, IsCA: isCA}
	raw, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}))
}

// module is an ELF file with these fields in its section .modinfo.
func module(fields ...string) []byte {
	info := []byte(strings.Join(fields, "\x00") + "\x00")
	names := []byte("\x00.modinfo\x00.shstrtab\x00")
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) }
	b.WriteString("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9))
	put([]uint16{1, 62})
	put(uint32(1))
	put([]uint64{0, 0, uint64(64 + len(info) + len(names))})
	put(uint32(0))
	put([]uint16{64, 0, 0, 64, 3, 2})
	b.Write(info)
	b.Write(names)
	section := func(name, kind uint32, at, size int) {
		put([]uint32{name, kind})
		put([]uint64{0, 0, uint64(at), uint64(size)})
		put([]uint32{0, 0})
		put([]uint64{1, 0})
	}
	section(0, 0, 0, 0)
	section(1, 1, 64, len(info))
	section(10, 3, 64+len(info), len(names))
	return b.Bytes()
}

// packedModule is module("license=GPL", "firmware=sum.fw") as xz packs it.
const packedModule = "/Td6WFoAAAFpIt42AgAhARwAAAAQz1jM4AEvAGNdAD+RRYRoPYmm2pymrC4ry8vx4fqSZ+drdEibtN9v" +
	"+kZ4C38nKvOD9OgTzHIc" +
	"iVkhAeD3PdY0/TyV8Ab0sa+XFbmj4vWL/3npigQMEDsZWhIb4VvWagXJNG1Kw5ln3SOXmkeAAAAA07lFuAABe7ACAAAAQOl+GD4w" +
	"DYsCAAAAAAFZWg=="

// siteKernel is fakeKernel with modules that name firmware.
func siteKernel(t *testing.T) Kernel {
	t.Helper()
	k := fakeKernel(t)
	ix, err := readIndex(fakeModules())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range ix.paths {
		text := module("license=GPL")
		if strings.Contains(file, "acme-nic") {
			text = module("license=GPL", "firmware=acme/one.fw", "firmware=acme/two.fw", "firmware=../../../etc/passwd",
				"firmware=acme/none.fw")
		}
		if strings.HasSuffix(file, ".xz") {
			if text, err = base64.StdEncoding.DecodeString(packedModule); err != nil {
				t.Fatal(err)
			}
		}
		writeFile(t, filepath.Join(k.Modules, file), string(text))
	}
	return k
}

func TestSite(t *testing.T) {
	kernel, recipe := siteKernel(t), fakeRecipe(t)
	recipe.Profile.Modules = []Class{{Name: "net", Modules: []string{"acme-nic"}, Required: true}}
	dir := t.TempDir()
	firmware, overlay := filepath.Join(dir, "firmware"), filepath.Join(dir, "overlay")
	writeFile(t, filepath.Join(firmware, "acme/one.fw"), "one")
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(firmware, "acme/two.fw.zst"), string(packer.EncodeAll([]byte("two"), nil)))
	writeFile(t, filepath.Join(overlay, "etc/site.conf"), "ours")
	writeFile(t, filepath.Join(overlay, "opt/tool"), "tool")
	if err := os.Chmod(filepath.Join(overlay, "opt/tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("tool", filepath.Join(overlay, "opt/link")); err != nil {
		t.Fatal(err)
	}
	ca := authority(t, "site", time.Now().Add(time.Hour), true)
	writeFile(t, filepath.Join(dir, "ca.pem"), ca)
	recipe.Site = Site{Modules: []string{"examplefs"}, Firmware: firmware, Overlay: overlay,
		Authorities: []string{filepath.Join(dir, "ca.pem"), filepath.Join(dir, "ca.pem")},
		Files:       []File{{Path: "etc/site.conf", Mode: 0o600, Source: recipe.Site.Files[0].Source}}}
	res, err := assemble(t.Context(), recipe, kernel)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range readInitramfs(t, res.InitramfsPath) {
		got[r.Name] = fmt.Sprintf("%o %s", r.Mode&0o7777, content(t, r))
	}
	for name, want := range map[string]string{
		"lib/firmware/acme/one.fw": "644 one", "lib/firmware/acme/two.fw": "644 two",
		"etc/site.conf": "600 blob", "opt/tool": "755 tool", "opt/link": "777 tool",
		authoritiesFile: "644 " + ca, moduleList: "644 examplefs\n",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if want := []string{"acme_nic: acme/none.fw", "sum: sum.fw"}; !slices.Equal(res.MissingFirmware, want) {
		t.Errorf("missing firmware %q, want %q", res.MissingFirmware, want)
	}
	again := recipe
	again.Out = t.TempDir()
	if second, err := assemble(t.Context(), again, kernel); err != nil || second.InitramfsSHA256 != res.InitramfsSHA256 {
		t.Errorf("the same again: %v, other bytes", err)
	}
}

// content is the content of a record.
func content(t *testing.T, r cpio.Record) string {
	t.Helper()
	text := make([]byte, r.FileSize)
	if r.FileSize > 0 {
		if _, err := r.ReadAt(text, 0); err != nil && len(text) == 0 {
			t.Fatal(err)
		}
	}
	return string(text)
}

// TestOverlayArchive packs a ramdisk into another one.
func TestOverlayArchive(t *testing.T) {
	kernel, recipe := fakeKernel(t), fakeRecipe(t)
	var archive bytes.Buffer
	w := cpio.Newc.Writer(&archive)
	records := []cpio.Record{cpio.Directory("srv", 0o750), cpio.StaticFile("srv/a", "text", 0o640),
		cpio.Symlink("srv/b", "a")}
	if err := errorsOf(cpio.WriteRecords(w, records), cpio.WriteTrailer(w)); err != nil {
		t.Fatal(err)
	}
	recipe.Site.Overlay = filepath.Join(t.TempDir(), "overlay.cpio")
	writeFile(t, recipe.Site.Overlay, archive.String())
	res, err := assemble(t.Context(), recipe, kernel)
	if err != nil {
		t.Fatal(err)
	}
	found, err := Inspect(res.InitramfsPath)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []InspectedFile{{"srv", "drwxr-x---", 0}, {"srv/a", "-rw-r-----", 4},
		{"srv/b", "Lrwxrwxrwx", 1}} {
		if !slices.Contains(found.Files, want) {
			t.Errorf("no %+v among %+v", want, found.Files)
		}
	}
	if found.Unpacked != res.UnpackedSize-res.UnpackedSize%4 && found.Unpacked > res.UnpackedSize ||
		!slices.Equal(found.Firmware, []string{"card.bin"}) || !slices.Contains(found.Modules, "acme_nic") ||
		!slices.Equal(found.Releases, []string{"6.9-test"}) || found.Size != res.InitramfsSize {
		t.Errorf("found %+v", found)
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestSiteRefuses(t *testing.T) {
	kernel := siteKernel(t)
	dir := t.TempDir()
	file := func(name, text string) string {
		writeFile(t, filepath.Join(dir, name), text)
		return filepath.Join(dir, name)
	}
	old := file("old.pem", authority(t, "old", time.Now().Add(-time.Hour), true))
	server := file("server.pem", authority(t, "web", time.Now().Add(time.Hour), false))
	junk := file("junk", "no archive")
	device := file("device.cpio", archiveOf(t, cpio.CharDev("dev/mem", 0o600, 1, 1)))
	outside := file("outside.cpio", archiveOf(t, cpio.StaticFile("../etc/passwd", "x", 0o644)))
	first := file("init.cpio", archiveOf(t, cpio.StaticFile("./init", "x", 0o755)))
	file("empty/other.fw", "x")
	file("over/init", "x")
	for name, c := range map[string]struct {
		site Site
		want string
	}{
		"an authority that has expired": {Site{Authorities: []string{old}}, "has expired"},
		"a server's certificate":        {Site{Authorities: []string{server}}, "is a server's certificate"},
		"no certificate":                {Site{Authorities: []string{junk}}, "found none"},
		"a private key": {
			Site{Authorities: []string{file("key", "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n")}},
			"certificates alone",
		},
		"authorities that are not there":     {Site{Authorities: []string{junk + "x"}}, "no such file"},
		"an overlay that is no archive":      {Site{Overlay: junk}, "cpio archive of format newc"},
		"an overlay that is not there":       {Site{Overlay: junk + "x"}, "no such file"},
		"an overlay with a device":           {Site{Overlay: device}, "expected files, folders and symbolic links"},
		"an overlay outside of the ramdisk":  {Site{Overlay: outside}, "expected a clean path"},
		"an overlay with another init":       {Site{Overlay: first}, "/init"},
		"a folder with another init":         {Site{Overlay: filepath.Join(dir, "over")}, "/init"},
		"firmware that is no folder":         {Site{Firmware: junk}, "is no folder"},
		"firmware of nothing that is packed": {Site{Firmware: filepath.Join(dir, "empty")}, "laid out as /lib/firmware"},
		"a module that does not exist": {Site{Modules: []string{"warp_drive"}},
			"no module warp_drive, needed for this site"},
	} {
		t.Run(name, func(t *testing.T) {
			recipe := fakeRecipe(t)
			recipe.Profile.Modules = []Class{{Name: "net", Modules: []string{"acme-nic"}, Required: true}}
			recipe.Site = c.site
			if _, err := assemble(t.Context(), recipe, kernel); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
}

func archiveOf(t *testing.T, records ...cpio.Record) string {
	t.Helper()
	var archive bytes.Buffer
	w := cpio.Newc.Writer(&archive)
	if err := errorsOf(cpio.WriteRecords(w, records), cpio.WriteTrailer(w)); err != nil {
		t.Fatal(err)
	}
	return archive.String()
}

func TestParseFile(t *testing.T) {
	for text, want := range map[string]string{
		"a:/etc/a":           "{etc/a 644 a}",
		"a:etc/a:0755":       "{etc/a 755 a}",
		"dir/a b:/x:600":     "{x 600 dir/a b}",
		"a":                  "expected SRC:DST",
		":b":                 "expected SRC:DST",
		"a:":                 "expected SRC:DST",
		"a:b:c:d":            "expected SRC:DST",
		"a:b:99":             "in octal",
		"a:b:17777":          "in octal",
		"a:../b":             "clean path",
		"a:/etc/../../b":     "clean path",
		"a:/init":            "the agent's",
		"a:/etc/ferrite/x:7": "{etc/ferrite/x 7 a}",
	} {
		f, err := ParseFile(text)
		got := fmt.Sprintf("{%s %o %s}", f.Path, f.Mode, f.Source)
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != want || err != nil && !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestInspectSegments reads microcode in front of a packed archive, and refuses an incomplete archive.
func TestInspectSegments(t *testing.T) {
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	whole := archiveOf(t, cpio.StaticFile("kernel/x86/microcode/AuthenticAMD.bin", "m", 0o644)) + "\x00\x00\x00\x00" +
		string(packer.EncodeAll([]byte(archiveOf(t, cpio.StaticFile("init", "i", 0o755))), nil))
	file := filepath.Join(t.TempDir(), "initramfs")
	writeFile(t, file, whole)
	found, err := Inspect(file)
	if err != nil || len(found.Files) != 2 || found.Files[1].Path != "init" {
		t.Errorf("%+v, %v", found, err)
	}
	for _, cut := range []int{0, 50, 150, len(whole) - 3} {
		writeFile(t, file, whole[:cut])
		if found, err := Inspect(file); err == nil {
			t.Errorf("%d bytes of %d are %+v", cut, len(whole), found)
		}
	}
}

func FuzzInspect(f *testing.F) {
	f.Add([]byte("070701"))
	f.Add([]byte{0x1f, 0x8b, 8, 0, 0, 0})
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 4, 0})
	f.Add([]byte(strings.Repeat("\x00", 0x202) + "HdrS" + strings.Repeat("\xff", 64)))
	file := filepath.Join(f.TempDir(), "file")
	f.Fuzz(func(t *testing.T, raw []byte) {
		writeFile(t, file, string(raw))
		_, _ = Inspect(file) // must end, and not panic
	})
}

func FuzzModinfo(f *testing.F) {
	f.Add(module("firmware=a/b", "firmware=*.ko", "firmware=a.ko", "depends=b,c", "alias=pci:*", "softdep=pre: d"))
	file := filepath.Join(f.TempDir(), "a.ko")
	f.Fuzz(func(t *testing.T, raw []byte) {
		writeFile(t, file, string(raw))
		added := tree{}
		_, _ = added.addFirmware([]*firmwareFolder{{dir: filepath.Dir(file), own: true}}, filepath.Dir(file),
			[]string{"a.ko"})
		for name := range added {
			if !strings.HasPrefix(name, "lib/firmware/") {
				t.Errorf("%q is outside of the folder for firmware", name)
			}
		}
	})
}
