package bootentry

import (
	"os"
	"strings"
	"testing"
)

// config is a grub.cfg of a distribution.
func config(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".cfg")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// debianFirst is the first script of Debian's signed GRUB.
const debianFirst = "normal (memdisk)/grub.cfg\n"

// debianBootstrap is the script that it leads to.
const debianBootstrap = `if [ -z "$prefix" -o ! -e "$prefix" ]; then
	if ! search --file --set=root /.disk/info; then
		search --file --set=root /.disk/mini-info
	fi
	set prefix=($root)/boot/grub
fi
if [ -e $prefix/x86_64-efi/grub.cfg ]; then
	source $prefix/x86_64-efi/grub.cfg
elif [ -e $prefix/grub.cfg ]; then
	source $prefix/grub.cfg
else
	source $cmdpath/grub.cfg
fi
`

// environment is an environment block.
func environment(lines string) string {
	text := grubEnvMagic + lines
	return text + strings.Repeat("#", 1024-len(text))
}

// debian is the root of a Debian 12.
func debian(cfg, env string) files {
	f := files{"/boot/grub/grub.cfg": cfg, "/boot/vmlinuz-6.1.0-31-amd64": kernel("K"),
		"/boot/initrd.img-6.1.0-31-amd64": "I"}
	if env != "" {
		f["/boot/grub/grubenv"] = environment(env)
	}
	return f
}

const (
	debianID   = "3b1f7d1c-95a0-4a1e-9f3f-5d8a0c1e2f30"
	debianLine = "BOOT_IMAGE=/boot/vmlinuz-6.1.0-31-amd64 root=UUID=" + debianID +
		` ro console=tty0 console=ttyS0,115200 "dyndbg=file a.c +p"`
	advanced = "BOOT_IMAGE=/boot/vmlinuz-6.1.0-31-amd64 root=/dev/sda2 ro"
)

func TestGRUBOfDebian(t *testing.T) {
	cfg := config(t, "debian")
	simple := found{sourceGRUB, "Debian GNU/Linux", "K", []string{"I"}, debianLine}
	sub := found{sourceGRUB, "Debian GNU/Linux, with Linux 6.1.0-31-amd64", "K", []string{"I"}, advanced}
	defaults := func(text string) string { return strings.Replace(cfg, `set default="0"`, "set default="+text, 1) }
	line := func(old, text string) string { return strings.Replace(cfg, old, text, 1) }
	grown := "a='A A A A '\n" + strings.Repeat("set a=\"$a$a\"\n", 12) // to 32 KiB
	tests := map[string]struct {
		cfg, env string
		want     found
		refusal  string
	}{
		"as installed":        {cfg, "", simple, ""},
		"with an environment": {cfg, "saved_entry=x\n", simple, ""},
		"in a submenu":        {defaults("'gnulinux-advanced-3b1f7d1c>gnulinux-6.1.0-31-amd64-advanced'"), "", sub, ""},
		"by title":            {defaults("'Debian GNU/Linux'"), "", simple, ""},
		"by number":           {defaults("'1>0'"), "", sub, ""},
		"saved":               {defaults(`"${saved_entry}"`), "saved_entry=1>0\n", sub, ""},
		"not there":           {defaults("gone"), "", simple, ""},
		"next":                {cfg, "next_entry=recovery\n", found{}, "asks for one boot of another entry"},
		"a submenu":           {defaults("1"), "", found{}, "is a submenu"},
		"for ever": {strings.ReplaceAll(cfg, "set timeout=5", "set timeout=-1"), "", found{},
			"waits for a choice"},
		"kernel gone": {line("/boot/vmlinuz-6.1.0-31-amd64", "/boot/vmlinuz-6.1.0-32-amd64"), "", found{},
			"file does not exist"},
		"root by number": {strings.ReplaceAll(cfg, "search --no-floppy", "insmod search"), "", found{},
			"the device hd0,gpt2"},
		"on another disk": {strings.ReplaceAll(cfg, debianID, "11111111-95a0-4a1e-9f3f-5d8a0c1e2f30"), "", found{},
			"expected one on this disk, found 0"},
		"root by label":   {strings.ReplaceAll(cfg, "--fs-uuid", "--label"), "", found{}, "search by label"},
		"unknown command": {line("insmod gzio", "cryptomount -a"), "", found{}, "the command cryptomount"},
		"password": {line("set menu_color_normal", "set superusers=root\nset menu_color_normal"), "", found{},
			"asks for a password"},
		"kernel by chance": {line("echo	'Loading Linux", "if sleep 1; then linux /x; fi; echo 'Loading Linux"), "", found{},
			"linux, which cannot be known"},
		"argument by chance": {line(" ro console=tty0", " ro $x console=tty0"), "", simple, ""},
		"argument unknown": {line("load_video\n\tinsmod gzio",
			"if sleep 1; then set x=a; fi\n\tlinux /boot/vmlinuz-6.1.0-31-amd64 $x"),
			"", found{}, "argument 2, which cannot be known"},
		"damaged":           {cfg + "\nif true; then\n", "", found{}, `ends before "fi"`},
		"subvolume of SUSE": {line("insmod gzio", "set btrfs_relative_path=y"), "", found{}, "default subvolume"},
		"loop":              {line("insmod gzio", "for x in a b; do echo $x; done"), "", found{}, "a loop"},
		"without end":       {line("insmod gzio", "function f { f; }\nf"), "", found{}, "without end"},
		"many long values":  {grown + strings.Repeat("v=y$a\n", 300), "", found{}, "over 4194304 bytes"},
		"many long entries": {grown + strings.Repeat("menuentry \"$a\" { true }\n", 300), "", found{}, "over 4194304 bytes"},
		"many words of one": {grown + "echo " + strings.Repeat("$a", 300) + "\ntrue\n", "", found{}, "over 4194304 bytes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root := part(2, "ext4", debianID, debian(tt.cfg, tt.env))
			esp := files{"/EFI/debian/shimx64.efi": shimProgram(), "/EFI/debian/grubx64.efi": grubProgram("", "/EFI/debian"),
				"/EFI/debian/grub.cfg": "search.fs_uuid " + root.UUID + " root hd0,gpt2 \nset prefix=($root)'/boot/grub'\n" +
					"configfile $prefix/grub.cfg\n"}
			check(t, uefi(`\EFI\debian\shimx64.efi`, part(1, "vfat", espUUID, esp), root), tt.want, tt.refusal)
			s := System{Disk: "/dev/vda", Arch: "amd64", BootCode: []byte("\xeb\x63\x90 GRUB \x00Geom"),
				Partitions: []*Partition{part(1, "", "", nil), root}}
			check(t, s, tt.want, tt.refusal)
		})
	}
}

func TestGRUBStart(t *testing.T) {
	root := part(2, "ext4", debianID, debian(config(t, "debian"), ""))
	want := found{sourceGRUB, "Debian GNU/Linux", "K", []string{"I"}, debianLine}
	stub := "search.fs_uuid " + debianID + " root\nset prefix=($root)'/boot/grub'\nconfigfile $prefix/grub.cfg\n"
	tests := map[string]struct {
		esp     files
		refusal string
	}{
		"signed, of Debian": {
			files{"g.efi": grubProgram(debianFirst, "/EFI/debian", memdisk(debianBootstrap)), "/EFI/debian/grub.cfg": stub}, "",
		},
		"its own partition by number": {files{"g.efi": grubProgram("", "(,gpt2)/boot/grub")}, ""},
		"by a first script": {files{"g.efi": grubProgram("search.fs_uuid "+debianID+
			" root hd0,gpt2 \nset prefix=($root)'/boot/grub'\n", "/boot/grub")}, ""},
		"a disk by number": {files{"g.efi": grubProgram("", "(hd1,gpt2)/boot/grub")}, "the device hd1,gpt2"},
		"no configuration": {files{"g.efi": grubProgram("", "/EFI/debian")}, "there is no /EFI/debian/grub.cfg"},
		"a medium": {files{"g.efi": grubProgram(debianFirst, "/EFI/debian", memdisk(debianBootstrap))},
			"search by file"},
		"damaged": {files{"g.efi": program(section{grubModules, strings.Repeat("x", 99)})}, "modules of GRUB"},
		"behind a shim that repairs": {files{"/EFI/BOOT/BOOTX64.EFI": shimProgram(), "/EFI/BOOT/fbx64.efi": "x"},
			"/EFI/BOOT/fbx64.efi"},
		"shim behind shim": {files{"/EFI/BOOT/BOOTX64.EFI": shimProgram(), "/EFI/BOOT/grubx64.efi": shimProgram()},
			"starts a shim"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			loader := `\g.efi`
			if tt.esp["g.efi"] == "" {
				loader = loaderPath
			}
			check(t, uefi(loader, part(1, "vfat", espUUID, tt.esp), root), want, tt.refusal)
		})
	}
	two := part(3, "ext4", bootUUID, files{"/grub/grub.cfg": ""})
	check(t, System{Disk: "/dev/vda", Arch: "amd64", BootCode: []byte("GRUB "), Partitions: []*Partition{root, two}},
		found{},
		"found 2: (this,gpt2)/boot/grub, (this,gpt3)/grub")
}

func TestGRUBOfUbuntu(t *testing.T) {
	boot := files{"/grub/grub.cfg": config(t, "ubuntu"), "/vmlinuz-6.8.0-60-generic": kernel("K"),
		"/initrd.img-6.8.0-60-generic": "I", "/grub/gfxblacklist.txt": "x", "/grub/grubenv": environment("")}
	esp := files{"/EFI/ubuntu/shimx64.efi": shimProgram(), "/EFI/ubuntu/grubx64.efi": grubProgram("", "/EFI/ubuntu"),
		"/EFI/ubuntu/grub.cfg": "search.fs_uuid " + bootUUID +
			" root\nset prefix=($root)'/grub'\nconfigfile $prefix/grub.cfg\n"}
	p := part(16, "ext4", bootUUID, boot)
	want := found{sourceGRUB, "Ubuntu", "K", []string{"I"},
		"BOOT_IMAGE=/vmlinuz-6.8.0-60-generic root=LABEL=cloudimg-rootfs ro quiet splash vt.handoff=7"}
	check(t, uefi(`\EFI\ubuntu\shimx64.efi`, part(1, "vfat", espUUID, esp), p), want, "")
	// By BIOS the words depend on the display.
	s := System{Disk: "/dev/vda", Arch: "amd64", BootCode: []byte("GRUB "), Partitions: []*Partition{p}}
	check(t, s, found{}, "argument 6, which cannot be known")
	boot["/grub/grubenv"] = environment("initrdfail=1\n")
	check(t, s, found{}, "initrdfail=1")
}

func TestGRUBOfFedora(t *testing.T) {
	const machine, stub = "b1946ac9", "search --no-floppy --root-dev-only --fs-uuid --set=dev " + bootUUID +
		"\nset prefix=($dev)/grub2\nexport $prefix\nconfigfile $prefix/grub.cfg\n"
	entry := func(version, options string) string {
		return "title Fedora (" + version + ")\nversion " + version + "\nlinux /vmlinuz-" + version + "\ninitrd /initramfs-" +
			version + ".img $tuned_initrd\noptions " + options + "\ngrub_users $grub_users\ngrub_arg --unrestricted\n" +
			"grub_class fedora\n"
	}
	const options = "root=UUID=x ro crashkernel=auto $tuned_params"
	base := func(env string) files {
		return files{"/grub2/grub.cfg": config(t, "fedora"), "/grub2/grubenv": environment(env),
			"/vmlinuz-6.9": kernel("9"), "/initramfs-6.9.img": "I9", "/vmlinuz-6.10": kernel("10"), "/initramfs-6.10.img": "I10",
			"/loader/entries/" + machine + "-6.9.conf":  entry("6.9", options),
			"/loader/entries/" + machine + "-6.10.conf": entry("6.10", "$kernelopts")}
	}
	saved := "saved_entry=" + machine
	nine := found{
		sourceBLS, "Fedora (6.9)", "9", []string{"I9"}, "BOOT_IMAGE=/vmlinuz-6.9 root=UUID=x ro crashkernel=auto",
	}
	tests := map[string]struct {
		env     string
		without string
		more    files
		want    found
		refusal string
	}{
		"saved": {saved + "-6.9\n", "", nil, nine, ""},
		"options of the environment": {saved + "-6.10\nkernelopts=root=y ro a\\\\b\ntuned_params=t\n", "", nil,
			found{sourceBLS,
				"Fedora (6.10)", "10", []string{"I10"}, `BOOT_IMAGE=/vmlinuz-6.10 root=y ro a\\b`}, ""},
		"options of the script": {saved + "-6.10\n", "", nil, found{sourceBLS, "Fedora (6.10)", "10", []string{"I10"},
			"BOOT_IMAGE=/vmlinuz-6.10 root=UUID=" + rootUUID + " ro rootflags=subvol=root no_timer_check"}, ""},
		"one entry":         {"", "6.10", nil, nine, ""},
		"no default of two": {"", "", nil, found{}, "names none of the 2 entries"},
		"next":              {saved + "-6.9\nnext_entry=x\n", "", nil, found{}, "next_entry=x"},
		"counted down":      {saved + "-6.9\nboot_counter=2\nboot_success=0\n", "", nil, nine, ""},
		"rolled back": {saved + "-6.9\nboot_counter=0\nboot_success=0\n", "", nil, found{},
			`the default "1" names none`},
		"another folder": {"blsdir=/x\n", "", nil, found{}, "the variable blsdir"},
		"two folders": {"", "", files{"/boot/loader/entries/a.conf": entry("6.9", options)}, found{},
			"found 2 folders"},
		"without options": {"saved_entry=a\n", "", files{"/loader/entries/a.conf": "linux /vmlinuz-6.9\n"}, found{},
			"it has no options"},
		"password": {"superusers=root\nsaved_entry=a\n", "",
			files{"/loader/entries/a.conf": "linux /vmlinuz-6.9\noptions x\n"},
			found{}, "asks for a password"},
		"device tree": {"saved_entry=a\n", "", files{"/loader/entries/a.conf": entry("6.9", "x") + "devicetree /x\n"},
			found{},
			"has devicetree"},
		"no environment block": {"", "", files{"/grub2/grubenv": "saved_entry=x\n"}, found{}, "expected a GRUB environment"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			boot := base(tt.env)
			delete(boot, "/loader/entries/"+machine+"-"+tt.without+".conf")
			for n, text := range tt.more {
				boot[n] = text
			}
			esp := files{"/EFI/fedora/shimx64.efi": shimProgram(), "/EFI/fedora/grubx64.efi": grubProgram("", "/EFI/fedora"),
				"/EFI/fedora/grub.cfg": stub}
			s := uefi(`\EFI\fedora\shimx64.efi`, part(2, "btrfs", rootUUID, nil), part(3, "ext4", bootUUID, boot))
			s.ESP = 4
			s.Partitions = append(s.Partitions, part(4, "vfat", espUUID, esp))
			check(t, s, tt.want, tt.refusal)
		})
	}
}
