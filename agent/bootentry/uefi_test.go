package bootentry

import (
	"io/fs"
	"strings"
	"testing"
)

const loaderPath = `\EFI\BOOT\BOOTX64.EFI`

// image is a unified kernel image with more sections.
func image(line string, more ...section) string {
	return program(append([]section{{".text", "stub"}, {".osrel", "ID=lab\nPRETTY_NAME=\"Lab OS 1\"\nVERSION_ID=1\n"},
		{".cmdline", line}, {".initrd", "INITRD"}, {".linux", kernel("K")}}, more...)...)
}

func TestUnifiedKernelImage(t *testing.T) {
	const line = "root=LABEL=root\tquiet \n\x00"
	want := found{sourceUKI, "Lab OS 1", "K", []string{"INITRD"}, "root=LABEL=root quiet"}
	at := func(text string, more files) files {
		f := files{"/EFI/BOOT/BOOTX64.EFI": text}
		for name, t := range more {
			f[name] = t
		}
		return f
	}
	with := want
	with.initrd = []string{"UCODE", "INITRD"}
	own := want
	own.line = "root=LABEL=a"
	tests := map[string]struct {
		esp     files
		change  func(*System)
		want    found
		refusal string
	}{
		"plain":     {at(image(line), nil), nil, want, ""},
		"microcode": {at(image(line, section{".ucode", "UCODE"}), nil), nil, with, ""},
		"first of two profiles": {at(image(line, section{".profile", "ID=a"}, section{".cmdline", "root=LABEL=a"},
			section{".profile", "ID=b"}, section{".cmdline", "root=LABEL=b"}), nil), nil, own, ""},
		"signed policy": {at(image(line, section{".pcrsig", "{}"}), nil), nil, want, "section .pcrsig"},
		"device tree":   {at(image(line, section{".dtb", "x"}), nil), nil, want, "section .dtb"},
		"two kernels":   {at(image(line, section{".linux", kernel("L")}), nil), nil, want, "two sections .linux"},
		"addon": {at(image(line), files{"/EFI/BOOT/BOOTX64.EFI.extra.d/a.addon.efi": "x"}), nil, want,
			"a.addon.efi"},
		"global addon":  {at(image(line), files{"/loader/addons/b.addon.efi": "x"}), nil, want, "b.addon.efi"},
		"credential":    {at(image(line), files{"/loader/credentials/c.cred": "x"}), nil, want, "c.cred"},
		"options":       {at(image(line), nil), func(s *System) { s.Options = "single" }, want, `options ("single")`},
		"chosen by EFI": {at(image(line), nil), func(s *System) { s.Choices = []string{"BootNext"} }, want, "BootNext"},
		"root by itself": {
			at(image("quiet"), nil), func(s *System) { s.Partitions[1].Type = "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709" }, want,
			"names no root",
		},
		"no partition":   {at(image(line), nil), func(s *System) { s.ESP = 7 }, want, "no partition 7"},
		"no file":        {files{}, nil, want, "file does not exist"},
		"no program":     {at("#!/bin/sh\n"+strings.Repeat("x", 99), nil), nil, want, "no EFI program"},
		"unknown loader": {at(program(section{".text", "x"}), nil), nil, want, "entries of this boot loader cannot be read"},
		"no kernel":      {at(program(section{".linux", strings.Repeat("x", 999)}), nil), nil, want, "found no HdrS"},
		"long line":      {at(image("root=x "+strings.Repeat("a", 2048)), nil), nil, want, "its kernel takes 2047"},
		"cut short":      {at(image(line)[:1500], nil), nil, want, "the file at"},
		"other machine": {at(image(line), nil), func(s *System) { s.Arch = "riscv64" }, want,
			"expected a Linux kernel for riscv64"},
		"broken file system": {at(image(line), nil), func(s *System) {
			s.Partitions[0].Open = func() (fs.FS, error) { return nil, errBroken }
		}, want, "partition 1 (vfat): bad superblock"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := uefi(loaderPath, part(1, "vfat", espUUID, tt.esp), part(2, "ext4", rootUUID, nil))
			if tt.change != nil {
				tt.change(&s)
			}
			check(t, s, tt.want, tt.refusal)
		})
	}
}

func TestSystemdBoot(t *testing.T) {
	entry := func(mark, more string) string {
		return "title " + mark + "\nlinux /" + mark + "/linux\ninitrd /ucode\ninitrd /" + mark + "/initrd\n" +
			"options root=LABEL=r\noptions mark=" + mark + "\n" + more
	}
	base := files{"/EFI/BOOT/BOOTX64.EFI": systemdBoot(), "/ucode": "U"}
	for _, mark := range []string{"a", "b", "c"} {
		base["/"+mark+"/linux"], base["/"+mark+"/initrd"] = kernel(mark), mark
	}
	want := func(mark string) found {
		return found{sourceBLS, mark, mark, []string{"U", mark}, "root=LABEL=r mark=" + mark}
	}
	uki := found{sourceUKI, "Lab OS 1", "K", []string{"INITRD"}, "root=LABEL=r"}
	const entries = "/loader/entries/"
	tests := map[string]struct {
		more, xbootldr files
		want           found
		refusal        string
	}{
		"one": {files{entries + "a.conf": entry("a", "")}, nil, want("a"), ""},
		"newest name": {files{entries + "os-6.9.conf": entry("a", ""), entries + "os-6.10.conf": entry("b", "")}, nil,
			want("b"), ""},
		"sort key first": {files{entries + "z.conf": entry("a", ""), entries + "a.conf": entry("b", "sort-key os\n")}, nil,
			want("b"), ""},
		"newest version": {files{entries + "1.conf": entry("a", "sort-key os\nversion 6.1\n"),
			entries + "0.conf": entry("b", "sort-key os\nversion 6.10\n")}, nil, want("b"), ""},
		"default by pattern": {files{"/loader/loader.conf": "timeout 3\ndefault OS-6.9*\n",
			entries + "os-6.9.conf": entry("a", ""), entries + "os-6.10.conf": entry("b", "")}, nil, want("a"), ""},
		"no tries left": {files{entries + "os-2+0-3.conf": entry("a", ""), entries + "os-1.conf": entry("b", "")}, nil,
			want("b"), ""},
		"tries left": {files{entries + "os-2+1-2.conf": entry("a", ""), entries + "os-1.conf": entry("b", "")}, nil,
			want("a"), ""},
		"of another machine": {files{entries + "z.conf": entry("a", "architecture aa64\n"),
			entries + "a.conf": entry("b", "")},
			nil, want("b"), ""},
		"kernel gone": {files{entries + "z.conf": "linux /gone\noptions root=x\n", entries + "a.conf": entry("b", "")},
			nil, want("b"), ""},
		"on XBOOTLDR": {nil, files{entries + "c.conf": entry("c", ""), "/c/linux": kernel("c"), "/c/initrd": "c",
			"/ucode": "U"}, want("c"), ""},
		"unified kernel image": {files{"/EFI/Linux/lab-1.efi": image("root=LABEL=r")}, nil, uki, ""},
		"none":                 {nil, nil, found{}, "has no entries"},
		"default saved":        {files{"/loader/loader.conf": "default @saved\n"}, nil, found{}, "default @saved"},
		"default gone": {files{"/loader/loader.conf": "default x*\n", entries + "a.conf": entry("a", "")}, nil,
			found{}, "is none of its entries: a.conf"},
		"for ever":         {files{"/loader/loader.conf": "timeout menu-force\n"}, nil, found{}, "waits for a choice"},
		"unknown key":      {files{"/loader/loader.conf": "preferred x\n"}, nil, found{}, "the key preferred"},
		"unknown in entry": {files{entries + "a.conf": entry("a", "devicetree /x\n")}, nil, found{}, "has devicetree"},
		"an EFI program":   {files{entries + "a.conf": "efi /EFI/BOOT/BOOTX64.EFI\n"}, nil, found{}, "boots no Linux"},
		"two the same": {files{entries + "a+2-1.conf": entry("a", ""), entries + "A.conf": entry("b", "")}, nil, found{},
			"could boot"},
		"profiles": {files{"/EFI/Linux/a.efi": image("root=x", section{".profile", "ID=a"}, section{".profile", "ID=b"})},
			nil, found{}, "has 2 profiles"},
		"options for an image": {files{entries + "a.conf": "linux /u.efi\noptions root=x\n", "/u.efi": image("")},
			nil, found{},
			"a unified kernel image"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			esp := files{}
			for _, f := range []files{base, tt.more} {
				for n, text := range f {
					esp[n] = text
				}
			}
			parts := []*Partition{part(1, "vfat", espUUID, esp)}
			if tt.xbootldr != nil {
				x := part(2, "vfat", bootUUID, tt.xbootldr)
				x.Type = typeXBOOTLDR
				parts = append(parts, x)
			}
			check(t, uefi(loaderPath, parts...), tt.want, tt.refusal)
		})
	}
	old := files{"/EFI/BOOT/BOOTX64.EFI": program(section{".sdmagic", "#### LoaderInfo: systemd-boot 247.3-7 ####"})}
	check(t, uefi(loaderPath, part(1, "vfat", espUUID, old)), found{}, "systemd-boot 247.3-7: expected 250 or newer")
}

func TestCompareVersions(t *testing.T) {
	ascending := []string{"1~rc1", "1", "1-1", "1-2", "1^a", "1.1", "6.9", "6.10", "6.10a", "6.11"}
	for i, a := range ascending {
		for j, b := range ascending {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := compareVersions(a, b); got != want {
				t.Errorf("%q and %q: %d, want %d", a, b, got, want)
			}
		}
	}
	if compareVersions("007", "7") != 0 || compareVersions("a_1", "a1") != 0 || compareVersions("", "0") != -1 {
		t.Error("leading zeroes, other characters, or nothing")
	}
}
