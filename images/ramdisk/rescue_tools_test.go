package ramdisk

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/images/ramdisk/debian/debiantest"
)

// program is an ELF file with a loader ("" for a library) that needs libraries.
func program(loader string, needs ...string) string {
	names, dynamic := "\x00", new(bytes.Buffer)
	put := func(b *bytes.Buffer, v any) { _ = binary.Write(b, binary.LittleEndian, v) }
	for _, name := range needs {
		put(dynamic, []uint64{1, uint64(len(names))}) // DT_NEEDED
		names += name + "\x00"
	}
	put(dynamic, []uint64{0, 0})
	sections := "\x00.dynstr\x00.dynamic\x00.shstrtab\x00"
	const headers = 64 + 56
	loaderAt, namesAt := headers, headers+len(loader)
	dynamicAt := namesAt + len(names)
	sectionsAt := dynamicAt + dynamic.Len()
	var b bytes.Buffer
	b.WriteString("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9))
	put(&b, []uint16{3, 62})
	put(&b, uint32(1))
	put(&b, []uint64{0, 64, uint64(sectionsAt + len(sections))})
	put(&b, uint32(0))
	put(&b, []uint16{64, 56, 1, 64, 4, 3})
	kind := uint32(3) // PT_INTERP
	if loader == "" {
		kind = 0
	}
	put(&b, []uint32{kind, 4})
	put(&b, []uint64{uint64(loaderAt), 0, 0, uint64(len(loader)), uint64(len(loader)), 1})
	b.WriteString(loader + names + dynamic.String() + sections)
	section := func(name, kind uint32, at, size int, link uint32, entry uint64) {
		put(&b, []uint32{name, kind})
		put(&b, []uint64{0, 0, uint64(at), uint64(size)})
		put(&b, []uint32{link, 0})
		put(&b, []uint64{1, entry})
	}
	section(0, 0, 0, 0, 0, 0)
	section(1, 3, namesAt, len(names), 0, 0)
	section(9, 6, dynamicAt, dynamic.Len(), 1, 16)
	section(18, 3, sectionsAt, len(sections), 0, 0)
	return b.String()
}

// toolMirror has each package of the rescue tools. Its programs need a library that needs another one, and all need
// the C library. The package in without lacks its dependency.
func toolMirror(t *testing.T, without string) *debiantest.Mirror {
	t.Helper()
	m := fakeMirror(t, false)
	const loader = "/lib64/ld-linux-x86-64.so.2"
	add := func(name, depends string, entries ...debiantest.Entry) {
		entries = append(entries,
			debiantest.Entry{Name: "./usr/share/doc/" + name + "/copyright", Text: "licence of " + name})
		m.Add(debiantest.Package{Name: name, Version: "1", Suite: "bookworm", Component: "main", Depends: depends,
			Deb: debiantest.Deb(t, entries...)})
	}
	for _, tool := range rescueTools {
		var entries []debiantest.Entry
		for _, text := range tool.programs {
			name, _, _ := strings.Cut(text, "=")
			entries = append(entries, debiantest.Entry{Name: "./sbin/" + name,
				Text: program(loader+"\x00", "libacme-2.so.1", "libc.so.6")})
		}
		depends := "libacme-2-1t64, libc6, python3:any, libvirtual"
		if tool.pkg == without {
			depends = "libc6"
		}
		add(tool.pkg, depends, entries...)
	}
	add("libacme-2-1t64", "libbase7",
		debiantest.Entry{Name: "./usr/lib/x86_64-linux-gnu/libacme-2.so.1", Link: "libacme-2.so.1.0.9"},
		debiantest.Entry{
			Name: "./usr/lib/x86_64-linux-gnu/libacme-2.so.1.0.9", Text: program("", "libbase.so.7", "libc.so.6"),
		})
	add("libbase7", "libc6",
		debiantest.Entry{Name: "./lib/x86_64-linux-gnu/libbase.so.7", Text: program("", "libacme-2.so.1")})
	add("libc6", "libgcc-s1", debiantest.Entry{Name: "./lib/x86_64-linux-gnu/libc.so.6", Text: program("")},
		debiantest.Entry{Name: "./lib/x86_64-linux-gnu/ld.so", Text: program("")},
		debiantest.Entry{Name: "./lib64/ld-linux-x86-64.so.2", Link: "/lib/x86_64-linux-gnu/ld.so"})
	add("libgcc-s1", "", debiantest.Entry{Name: "./lib/x86_64-linux-gnu/libgcc_s.so.1", Text: program("")})
	var descriptions []debiantest.Entry
	for _, name := range terminals {
		descriptions = append(descriptions, debiantest.Entry{Name: "./lib/terminfo/" + name, Text: "a terminal"})
	}
	add("ncurses-base", "", descriptions...)
	m.Sign(t, "bookworm", "")
	return m
}

// TestRescueTools: programs come with their loader, the libraries of their libraries, and licences. Packages that
// nothing needs are not asked for: python3 is not on the mirror.
func TestRescueTools(t *testing.T) {
	r := mirrorRecipe(t, toolMirror(t, ""))
	r.Site = Site{RescueTools: true}
	res, err := Build(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(res.Notes, "\n"); !strings.Contains(notes, "dm_mod") || !strings.Contains(notes, "dm_crypt") {
		t.Errorf("the notes do not say that the kernel has no device mapper, which lvm and cryptsetup need: %q", notes)
	}
	found, err := Inspect(res.InitramfsPath)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found.Files {
		got = append(got, f.Mode+" "+f.Path)
	}
	for _, want := range []string{
		"-rwxr-xr-x usr/sbin/cryptsetup", "-rwxr-xr-x usr/sbin/vim.tiny", "Lrwxrwxrwx usr/sbin/vi",
		"Lrwxrwxrwx usr/sbin/fsck.ext4",
		"-rwxr-xr-x lib64/ld-linux-x86-64.so.2", "-rw-r--r-- lib/x86_64-linux-gnu/libacme-2.so.1",
		"-rw-r--r-- lib/x86_64-linux-gnu/libbase.so.7", "-rw-r--r-- lib/x86_64-linux-gnu/libc.so.6",
		"-rw-r--r-- lib/x86_64-linux-gnu/libgcc_s.so.1", "-rw-r--r-- lib/terminfo/l/linux",
		"-rw-r--r-- usr/share/doc/libbase7/copyright", "-rw-r--r-- usr/share/doc/mdadm/copyright",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
	r = mirrorRecipe(t, toolMirror(t, "coreutils"))
	r.Site = Site{RescueTools: true}
	if _, err := Build(t.Context(), r); err == nil ||
		!strings.Contains(err.Error(), "chroot: it needs library libacme-2.so.1, which is in no package") {
		t.Errorf("a program without its library: %v", err)
	}
}
