package bootentry

import (
	"os"
	"strings"
	"testing"
)

// FuzzUEFI follows an EFI program of any bytes.
func FuzzUEFI(f *testing.F) {
	for _, seed := range []string{image("root=x"), grubProgram(debianFirst, "/EFI/debian", memdisk(debianBootstrap)),
		shimProgram(),
		systemdBoot(), "MZ"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := Find(uefi(loaderPath, part(1, "vfat", espUUID, files{"/EFI/BOOT/BOOTX64.EFI": string(b)})))
		settles(t, err)
	})
}

// settles requires that any error names the disk.
func settles(t *testing.T, err error) {
	t.Helper()
	if err != nil && !strings.HasPrefix(err.Error(), "/dev/vda: ") {
		t.Errorf("error %q", err)
	}
}

// FuzzGRUB runs a grub.cfg of any text.
func FuzzGRUB(f *testing.F) {
	for _, name := range []string{"debian", "ubuntu", "fedora"} {
		text, err := os.ReadFile("testdata/" + name + ".cfg")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), "saved_entry=0\n")
	}
	f.Add("if [ ! ( -e /x -o a = b ) ]; then set a=\"$b ${c}\"; fi\nconfigfile $prefix/grub.cfg", "a\\=b")
	f.Fuzz(func(t *testing.T, text, env string) {
		root := part(2, "ext4", debianID, files{"/boot/grub/grub.cfg": text, "/boot/grub/grubenv": grubEnvMagic + env,
			"/boot/vmlinuz-6.1.0-31-amd64": kernel("K"), "/boot/initrd.img-6.1.0-31-amd64": "I"})
		_, err := Find(System{Disk: "/dev/vda", Arch: "amd64", BootCode: []byte("GRUB "), Partitions: []*Partition{root}})
		settles(t, err)
	})
}

// FuzzSyslinux reads a configuration of any text.
func FuzzSyslinux(f *testing.F) {
	f.Add("DEFAULT a\nLABEL a\nKERNEL /vmlinuz\nINITRD /a,/b\nAPPEND x\n")
	f.Add("UI menu.c32\nTIMEOUT 1\nLABEL a\nMENU DEFAULT\nLINUX /vmlinuz\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := Find(bios(files{"/syslinux.cfg": text, "/vmlinuz": kernel("K"), "/a": "A"}))
		settles(t, err)
	})
}

// FuzzSystemdBoot reads a loader.conf and an entry of any text and name.
func FuzzSystemdBoot(f *testing.F) {
	f.Add("default a*\n", "a+3-1.conf", "title A\nlinux /vmlinuz\noptions root=x\n")
	f.Fuzz(func(t *testing.T, conf, name, entry string) {
		if strings.ContainsAny(name, "/\x00") || name == "" || name == "." || name == ".." {
			return
		}
		esp := files{"/EFI/BOOT/BOOTX64.EFI": systemdBoot(), "/loader/loader.conf": conf, "/loader/entries/" + name: entry,
			"/vmlinuz": kernel("K")}
		_, err := Find(uefi(loaderPath, part(1, "vfat", espUUID, esp)))
		settles(t, err)
	})
}

// FuzzVersions compares versions: the order is one.
func FuzzVersions(f *testing.F) {
	f.Add("6.9-1", "6.10~rc1")
	f.Fuzz(func(t *testing.T, a, b string) {
		if compareVersions(a, b) != -compareVersions(b, a) || compareVersions(a, a) != 0 {
			t.Errorf("%q and %q", a, b)
		}
	})
}

// FuzzLexGRUB takes any text into tokens without their number growing beyond the text.
func FuzzLexGRUB(f *testing.F) {
	f.Add(`set a='b c' "${d}"e\ f $1 # g`)
	f.Fuzz(func(t *testing.T, text string) {
		tokens, err := lexGRUB(text)
		if err == nil && len(tokens) > len(text) {
			t.Errorf("%d tokens of %d bytes", len(tokens), len(text))
		}
	})
}
