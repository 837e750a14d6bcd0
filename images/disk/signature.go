package disk

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Formats that machines boot, and that Write does not take.
const (
	ISO     Format = "iso"
	Kernel  Format = "kernel"
	Ramdisk Format = "ramdisk"
)

const (
	headSize = 4096 // bytes that Detect needs
	bootSize = 512  // of a boot sector; a file with fewer bytes is no disk
)

// ISOHead is how many bytes show an ISO: its first volume descriptor is at 32 KiB (ECMA-119, 8.1).
const ISOHead = 32769 + 5

// Content is the kind of a file, by its first bytes.
type Content struct {
	Format Format // empty: no machine boots it, and Write does not take it
	Name   string // for people, with its article
	Remedy string // of a file that Write does not take
}

// refused is the error for a file that Write does not take.
func (c Content) refused() error { return fmt.Errorf("%w: it is %s; %s", ErrFormat, c.Name, c.Remedy) }

// signature is a file known by fixed bytes near its start.
type signature struct {
	offset int
	magic  string
	Content
}

const (
	toUnpack  = "unpack it, and give the raw or qcow2 image that is in it"
	toRepack  = "convert it to raw or qcow2, or compress a raw image with gz, zst or xz"
	toConvert = "convert it with: qemu-img convert -O qcow2"
	toLink    = "it came in place of the image: take the link of the file itself, with the credentials or the signature " +
		"that its server wants"
)

// signatures are looked at in order. Files that are refused are listed too: writing them as if they were raw disks
// would report success. Kernels: Documentation/arch/x86/boot.rst, arch/arm64/booting.rst; ramdisks:
// driver-api/early-userspace/buffer-format.rst. An ISO that is a disk as well (isohybrid) is an ISO.
var signatures = []signature{
	{0x202, "HdrS", Content{Kernel, "a Linux kernel", toBoot("kernel")}},
	{0x38, "ARM\x64", Content{Kernel, "a Linux kernel", toBoot("kernel")}},
	{0, "070701", Content{Ramdisk, "a ramdisk (cpio archive)", toBoot("ramdisk")}},
	{0, "070702", Content{Ramdisk, "a ramdisk (cpio archive)", toBoot("ramdisk")}},
	{32769, "CD001", Content{ISO, "an ISO 9660 image", "to boot it, name it as instance_info/boot_iso with the deploy " +
		"interface ramdisk; to install a system, take its disk image (raw or qcow2); to write it to a disk as it is, set " +
		"instance_info/image_disk_format to raw"}},
	{0, "QFI\xfb", Content{QCOW2, "qcow2", ""}},
	{0, "\x1f\x8b\x08", Content{Gzip, "gz", ""}},
	{0, "\x28\xb5\x2f\xfd", Content{Zstd, "zst", ""}},
	{0, "\xfd7zXZ\x00", Content{XZ, "xz", ""}},
	{0, "BZh", Content{"", "bzip2", toRepack}},
	{0, "\x04\x22\x4d\x18", Content{"", "lz4", toRepack}},
	{0, "PK\x03\x04", Content{"", "a zip archive", toUnpack}},
	{0, "PK\x05\x06", Content{"", "an empty zip archive", toUnpack}},
	{0, "7z\xbc\xaf\x27\x1c", Content{"", "a 7z archive", toUnpack}},
	{0, "Rar!\x1a\x07", Content{"", "a rar archive", toUnpack}},
	{257, "ustar", Content{"", "a tar archive", toUnpack}},
	{0, "KDMV", Content{"", "vmdk", toConvert}},
	{0, "COWD", Content{"", "vmdk", toConvert}},
	{0, "# Disk DescriptorFile", Content{"", "the descriptor of a vmdk", toConvert}},
	{0, "vhdxfile", Content{"", "vhdx", toConvert}},
	{0, "conectix", Content{"", "vhd", toConvert}},
	{64, "\x7f\x10\xda\xbe", Content{"", "vdi", toConvert}},
	{0, "QED\x00", Content{"", "qed", toConvert}},
	{0, "WithoutFreeSpace", Content{"", "parallels", toConvert}},
	{0, "WithouFreSpacExt", Content{"", "parallels", toConvert}},
	{0, "LUKS\xba\xbe", Content{"", "luks", toRepack}},
	{0, "%PDF-", Content{"", "a PDF document", toLink}},
	{0, "version https://git-lfs.github.com/spec/", Content{"", "a Git LFS pointer", "the repository holds only the " +
		"name of the file: give the link under which Git LFS serves it, or a copy made with: git lfs pull"}},
}

// markup are the beginnings of documents, in lower case; white space may come before them.
var markup = []struct{ begin, name string }{
	{"<!doctype html", "an HTML page"}, {"<html", "an HTML page"}, {"<head", "an HTML page"},
	{"<?xml", "an XML document"}, {"<error", "an XML document"},
}

func toBoot(field string) string {
	return "it is booted, not written to a disk: name it as instance_info/" + field
}

// Identify recognises a file by its first bytes: ISOHead of them for an ISO, 4 KiB for all others, or all there are.
// A file without a known signature is a raw image.
func Identify(head []byte) Content {
	if len(head) == 0 {
		return Content{"", "an empty file", "put all of the image there"}
	}
	if isSkippableZstd(head) {
		return Content{Zstd, "zst", ""}
	}
	for _, s := range signatures {
		if end := s.offset + len(s.magic); len(head) >= end && string(head[s.offset:end]) == s.magic {
			return s.Content
		}
	}
	begin := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	for _, m := range markup {
		if len(begin) >= len(m.begin) && strings.EqualFold(string(begin[:len(m.begin)]), m.begin) {
			return Content{"", m.name, toLink}
		}
	}
	if isText(head) {
		return Content{"", "text", toLink}
	}
	return Content{Raw, "raw", ""}
}

// isText recognises text, such as the message of a server. A boot sector ends in a byte that no UTF-8 has there, and a
// file system begins with zeroes or binary fields. The text is not shown, because a user may name servers
// that only the conductor may read.
func isText(head []byte) bool {
	rest := head[:min(len(head), bootSize)]
	for cut := len(rest) < len(head); len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && n == 1 && cut && !utf8.FullRune(rest): // the sector ends within it
			return true
		case r == utf8.RuneError && n == 1, !unicode.IsPrint(r) && !strings.ContainsRune("\t\r\n\f\ufeff", r):
			return false
		}
		rest = rest[n:]
	}
	return true
}
