package bootentry

import (
	"strings"
	"testing"
)

// bios is a disk with a second partition that a BIOS boots, by syslinux.
func bios(f files) System {
	p := part(2, "vfat", espUUID, f)
	p.Active, p.BootCode = true, []byte("\xeb\x58\x90SYSLINUX rest")
	return System{Disk: "/dev/vda", Arch: "amd64", BootCode: make([]byte, 512), Partitions: []*Partition{
		part(1, "ext4", rootUUID, nil), p}}
}

func TestSyslinux(t *testing.T) {
	const plainConfig = "SERIAL 0 115200\nPROMPT 0\nTIMEOUT 1\nDEFAULT linux\nAPPEND quiet\nLABEL linux\n  " +
		"KERNEL /vmlinuz\n" +
		"  INITRD /initramfs\n  APPEND root=x console=ttyS0\nLABEL other\n  LINUX other\n"
	base := func(name, config string) files {
		return files{name: config, "/vmlinuz": kernel("K"), "/initramfs": "I", "/ucode": "U", "/boot/other": kernel("O"),
			"/boot/i": "J"}
	}
	want := found{
		sourceSyslinux, "linux", "K", []string{"I"}, "BOOT_IMAGE=/vmlinuz root=x console=ttyS0 initrd=/initramfs",
	}
	menu := "DEFAULT menu.c32\nPROMPT 0\nMENU TITLE Boot\nMENU HIDDEN\nTIMEOUT 10\nLABEL a\nKERNEL " +
		"/vmlinuz\nLABEL virt\n" +
		"MENU DEFAULT\nMENU LABEL Linux ^virt\nLINUX other\nINITRD /ucode,i\nAPPEND root=y\n"
	label := func(body string) string { return "DEFAULT l\nLABEL l\n" + body }
	tests := map[string]struct {
		files   files
		want    found
		refusal string
	}{
		"plain": {base("/syslinux.cfg", plainConfig), want, ""},
		"menu, files beside it": {base("/boot/extlinux.conf", menu),
			found{sourceSyslinux, "Linux virt", "O", []string{"U", "J"}, "BOOT_IMAGE=other root=y initrd=/ucode,i"}, ""},
		"initrd in append": {base("/syslinux.cfg", label("KERNEL /vmlinuz\nAPPEND initrd=/initramfs root=x\n")),
			found{sourceSyslinux, "l", "K", []string{"I"}, "BOOT_IMAGE=/vmlinuz initrd=/initramfs root=x"}, ""},
		"help text": {base("/syslinux.cfg", label("TEXT HELP\nINCLUDE x\nENDTEXT\nKERNEL /vmlinuz\n")),
			found{sourceSyslinux, "l", "K", nil, "BOOT_IMAGE=/vmlinuz"}, ""},
		"none": {files{}, found{}, "found 0"},
		"several": {
			files{"/syslinux.cfg": "", "/boot/extlinux.conf": ""}, found{}, "found 2: /syslinux.cfg, /boot/extlinux.conf",
		},
		"include": {base("/syslinux.cfg", "INCLUDE /x\n"), found{}, "the keyword INCLUDE"},
		"waits":   {base("/syslinux.cfg", "PROMPT 1\n"+label("KERNEL /vmlinuz\n")), found{}, "waits for a choice"},
		"by another program": {base("/syslinux.cfg", "DEFAULT ifcpu64.c32 a -- b\nUI ifcpu64.c32\n"), found{},
			"the program ifcpu64.c32"},
		"no label":     {base("/syslinux.cfg", "DEFAULT vmlinuz\n"), found{}, `DEFAULT "vmlinuz"`},
		"no Linux":     {base("/syslinux.cfg", label("KERNEL chain.c32\n")), found{}, "boots no Linux"},
		"local":        {base("/syslinux.cfg", label("LOCALBOOT 0\n")), found{}, "boots no Linux"},
		"two the same": {base("/syslinux.cfg", label("KERNEL /vmlinuz\n")+"LABEL l\n"), found{}, "two labels l"},
		"initrd twice": {base("/syslinux.cfg", label("KERNEL /vmlinuz\nINITRD /ucode\nAPPEND initrd=/initramfs\n")), found{},
			"initial ramdisk twice"},
		"gone": {base("/syslinux.cfg", label("KERNEL /gone\n")), found{}, "file does not exist"},
		"too long": {base("/syslinux.cfg", label("KERNEL /vmlinuz\nAPPEND "+strings.Repeat("a", 2048))), found{},
			"takes 2047"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { check(t, bios(tt.files), tt.want, tt.refusal) })
	}
	s := bios(base("/syslinux.cfg", plainConfig))
	s.Partitions[1].BootCode = []byte("NTFS")
	check(t, s, found{}, "expected boot code of syslinux")
	s.Partitions[1].Active = false
	check(t, s, found{}, "no partition is marked")
	s.Partitions[0].Active, s.Partitions[1].Active = true, true
	check(t, s, found{}, "both marked")
}
