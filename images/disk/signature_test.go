package disk

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/images/disk/disktest"
)

func TestIdentify(t *testing.T) {
	place := disktest.Place
	disk := pattern(4096, 1)
	copy(disk[510:], "\x55\xaa")
	sector := bytes.Repeat([]byte("boot code that is text. "), 22)[:512]
	copy(sector[510:], "\x55\xaa")
	for name, tc := range map[string]struct {
		head         []byte
		format       Format
		name, remedy string // parts
	}{
		"disk":                     {disk, Raw, "raw", ""},
		"zeroes":                   {make([]byte, 512), Raw, "raw", ""},
		"one byte":                 {[]byte{1}, Raw, "raw", ""},
		"boot sector of text":      {sector, Raw, "raw", ""},
		"text after a sector":      {append(make([]byte, 512), "text"...), Raw, "raw", ""},
		"less than markup":         {[]byte("<\x00"), Raw, "raw", ""},
		"qcow2":                    {place(512, 0, "QFI\xfb"), QCOW2, "qcow2", ""},
		"gz":                       {gz(t, disk), Gzip, "gz", ""},
		"zst":                      {zst(t, disk), Zstd, "zst", ""},
		"zst of pzstd":             {place(32, 0, "\x50\x2a\x4d\x18"), Zstd, "zst", ""},
		"xz":                       {xzOf(t, disk), XZ, "xz", ""},
		"kernel":                   {place(4096, 0x202, "HdrS"), Kernel, "a Linux kernel", "instance_info/kernel"},
		"kernel of arm64":          {place(4096, 0x38, "ARMd"), Kernel, "a Linux kernel", "instance_info/kernel"},
		"ramdisk":                  {place(4096, 0, "070701"), Ramdisk, "a ramdisk", "instance_info/ramdisk"},
		"ISO":                      {place(ISOHead, 32769, "CD001"), ISO, "an ISO 9660 image", "instance_info/boot_iso"},
		"hybrid ISO":               {append(disk[:4096:4096], place(64<<10, 32769-4096, "CD001")...), ISO, "an ISO", "raw"},
		"ISO, too little of it":    {place(ISOHead-1, 32769, "CD00"), Raw, "raw", ""},
		"tar":                      {place(10240, 257, "ustar\x00"), "", "a tar archive", "unpack it"},
		"tar of GNU":               {place(10240, 257, "ustar  \x00"), "", "a tar archive", "unpack it"},
		"zip":                      {[]byte("PK\x03\x04\x14\x00"), "", "a zip archive", "unpack it"},
		"vmdk":                     {place(512, 0, "KDMV"), "", "vmdk", "qemu-img convert"},
		"PDF":                      {[]byte("%PDF-1.7\n%\xe2\xe3\xcf\xd3"), "", "a PDF document", "the link"},
		"HTML":                     {[]byte("<!DOCTYPE html><html>"), "", "an HTML page", "the link of the file itself"},
		"HTML in lower case":       {[]byte("\n\n  <!doctype HTML>"), "", "an HTML page", ""},
		"HTML behind a mark":       {[]byte("\ufeff<HTML lang=de>"), "", "an HTML page", ""},
		"HTML, compressed after":   {[]byte("<html>\x00\x01"), "", "an HTML page", ""},
		"XML of an object store":   {[]byte(`<?xml version="1.0"?><Error><Code>NoSuchKey`), "", "an XML document", ""},
		"XML without a prologue":   {[]byte("<Error><Code>AccessDenied</Code>"), "", "an XML document", "signature"},
		"JSON":                     {[]byte(`{"errors": [{"code": "DENIED"}]}`), "", "text", "in place of the image"},
		"text":                     {[]byte("404: Not Found"), "", "text", "in place of the image"},
		"text in umlauts":          {[]byte("Datei nicht verfügbar\r\n"), "", "text", ""},
		"text, cut within a rune":  {[]byte(strings.Repeat("x", 511) + "üü"), "", "text", ""},
		"text that hides a byte":   {[]byte("404\x00"), Raw, "raw", ""},
		"broken UTF-8 at the end":  {[]byte("404 \xc3"), Raw, "raw", ""},
		"escape codes of terminal": {[]byte("\x1b[31mred"), Raw, "raw", ""},
		"Git LFS pointer": {[]byte("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"), "",
			"a Git LFS pointer", "git lfs pull"},
		"nothing": {nil, "", "an empty file", "all of the image"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Identify(tc.head)
			if got.Format != tc.format || !strings.Contains(got.Name, tc.name) || !strings.Contains(got.Remedy, tc.remedy) {
				t.Errorf("%+v, expected %q, %q and %q", got, tc.format, tc.name, tc.remedy)
			}
			written := got.Format == Raw || got.Format == QCOW2 || got.Format == Gzip || got.Format == Zstd || got.Format == XZ
			if (got.Remedy == "") != written {
				t.Errorf("remedy %q of %q", got.Remedy, got.Format)
			}
		})
	}
}

// TestISOIsNotWritten: a disk gets an ISO image only where disk_format says that it is the raw image of a disk.
func TestISOIsNotWritten(t *testing.T) {
	iso := pattern(1<<20, 3)
	copy(iso[32769:], "CD001")
	for name, image := range map[string][]byte{"raw": iso, "gz": gz(t, iso), "zst": zst(t, iso), "xz": xzOf(t, iso)} {
		for _, hint := range []string{"", "raw"} {
			t.Run(name+" as "+hint, func(t *testing.T) {
				dst := newMemTarget(2<<20, 512)
				_, err := Write(t.Context(), memSource{b: image}, dst, Options{Format: hint, Checksum: sumOf(image)})
				switch {
				case hint == "raw" && err != nil:
					t.Error(err)
				case hint == "raw":
					sameDisk(t, dst.b[:len(iso)], iso)
				case !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "it is an ISO 9660 image; to boot it"):
					t.Errorf("error %v", err)
				case !bytes.Equal(dst.b[heldBack:], bytes.Repeat([]byte{0xda}, len(dst.b)-heldBack)):
					t.Error("some of it was written")
				}
			})
		}
	}
}

// TestMirrorIsAPage: the page of a mirror that wants a login is no image, and the next mirror has it.
func TestMirrorIsAPage(t *testing.T) {
	raw, page := pattern(1<<20, 20), []byte("<!DOCTYPE html><title>Log in</title>")
	dst, _, onward, err := writeMirrors(t, sumOf(raw), 1<<20, content(page), content(raw))
	if err != nil || onward != 1 {
		t.Fatalf("%d mirrors were left, error %v", onward, err)
	}
	sameDisk(t, dst.b, raw)
	_, _, _, err = writeMirrors(t, sumOf(raw), 1<<20, content(page))
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "it is an HTML page; ") {
		t.Errorf("error %v", err)
	}
}

// FuzzIdentify: every file is of a kind, and has a remedy if Write does not take it.
func FuzzIdentify(f *testing.F) {
	for _, seed := range []string{"", "<!DOCTYPE html>", "%PDF-1.7", "404: Not Found", "\ufeff<html>", "QFI\xfb",
		"\x1f\x8b\x08",
		"\x50\x2a\x4d\x18", "version https://git-lfs.github.com/spec/v1\n", "<?xml version", "PK\x03\x04", "\xc3"} {
		f.Add([]byte(seed), 0)
	}
	f.Add([]byte("CD001"), 32769)
	f.Add([]byte("ustar"), 257)
	f.Fuzz(func(t *testing.T, b []byte, off int) {
		if off < 0 || off > 64<<10 {
			return
		}
		head := append(make([]byte, off), b...)
		got := Identify(head)
		if got.Name == "" || got.Format == "" && got.Remedy == "" {
			t.Errorf("%+v", got)
		}
		if _, err := Detect(head); (err == nil) != (got.Remedy == "") {
			t.Errorf("%+v, and error %v", got, err)
		}
	})
}
