package bootentry

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ferrite-metal/ferrite/images/fat"
)

// kernel is a Linux kernel that takes a command line of 2047 bytes, with a mark to know it
// by.
func kernel(mark string) string {
	b := make([]byte, headerSize, headerSize+len(mark))
	copy(b, "MZ")
	copy(b[headerMagicAt:], "HdrS")
	binary.LittleEndian.PutUint16(b[headerVersionAt:], 0x20f)
	binary.LittleEndian.PutUint32(b[cmdlineSizeAt:], 2047)
	return string(append(b, mark...))
}

// section is a section of an EFI program to be made.
type section struct{ name, content string }

// program makes an EFI program, with the file alignment of real ones.
func program(sections ...section) string {
	const optional, align = 240, 512
	le := binary.LittleEndian
	b := make([]byte, dosHeader, 4096)
	copy(b, "MZ")
	le.PutUint32(b[peAt:], dosHeader)
	b = append(b, "PE\x00\x00\x64\x86"...)
	b = le.AppendUint16(b, uint16(len(sections)))
	b = append(b, make([]byte, 12)...)
	b = le.AppendUint16(b, optional)
	b = append(b, make([]byte, 2+optional)...)
	table := len(b)
	b = append(b, make([]byte, len(sections)*peSectionHeader)...)
	pad := func() { b = append(b, make([]byte, (align-len(b)%align)%align)...) }
	pad()
	for i, s := range sections {
		h := b[table+i*peSectionHeader:]
		copy(h[:8], s.name)
		le.PutUint32(h[8:], uint32(len(s.content)))
		le.PutUint32(h[16:], uint32((len(s.content)+align-1)/align*align))
		le.PutUint32(h[20:], uint32(len(b)))
		b = append(b, s.content...)
		pad()
	}
	return string(b)
}

// memdisk is a disk in memory with a script.
func memdisk(script string) string {
	b, err := fat.Build("GRUB", &fat.File{Children: []*fat.File{{Name: "grub.cfg", Content: []byte(script)}}}, 512, 4<<20)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// grubProgram is GRUB's EFI program with a first script, the folder of its files and,
// perhaps, a disk in memory.
func grubProgram(script, prefix string, disk ...string) string {
	le := binary.LittleEndian
	b := append([]byte("mimg"), make([]byte, 20)...)
	le.PutUint64(b[8:], 24)
	object := func(kind uint32, text string) {
		text += "\x00"
		text += strings.Repeat("\x00", (8-len(text)%8)%8)
		b = le.AppendUint32(b, kind)
		b = le.AppendUint32(b, uint32(8+len(text)))
		b = append(b, text...)
	}
	object(0, "\x7fELF")
	for _, d := range disk {
		object(grubObjMemdisk, d)
	}
	if script != "" {
		object(grubObjConfig, script)
	}
	object(grubObjPrefix, prefix)
	le.PutUint64(b[16:], uint64(len(b)))
	return program(section{".text", "code"}, section{grubModules, string(b)}, section{".sbat", "sbat,1\ngrub,3,GNU\n"})
}

func shimProgram() string {
	return program(section{".text", "code"}, section{".sbat", "sbat,1,SBAT Version\nshim,3,UEFI shim\n"})
}

func systemdBoot() string {
	return program(section{".sdmagic", "#### LoaderInfo: systemd-boot 252.39-1 ####"})
}

// files are the files of a partition by their path.
type files map[string]string

// open makes a partition's file system of files.
func (f files) open() (fs.FS, error) {
	m := fstest.MapFS{}
	for name, text := range f {
		m[strings.TrimPrefix(name, "/")] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return m, nil
}

const (
	espUUID  = "A1B2-C3D4"
	rootUUID = "3b1f7d1c-95a0-4a1e-9f3f-5d8a0c1e2f30"
	bootUUID = "7c2e8e2d-06b1-4b2f-8a40-6e9b1d2f3a41"
)

// part is a partition with files.
func part(number int, kind, uuid string, f files) *Partition {
	return &Partition{Number: number, Kind: kind, UUID: uuid, Type: "0fc63daf-8483-4772-8e79-3d69d8477de4", Open: f.open}
}

// uefi is a disk with its EFI system partition first, booted by a loader.
func uefi(loader string, parts ...*Partition) System {
	return System{Disk: "/dev/vda", Arch: "amd64", UEFI: true, ESP: 1, Loader: loader, Partitions: parts}
}

// found is an entry with the contents of its files, for comparison.
type found struct {
	source, title, kernel string
	initrd                []string
	line                  string
}

// contentsOf reads an entry.
func contentsOf(t testing.TB, e Entry) found {
	t.Helper()
	out := found{source: e.Source, title: e.Title, line: e.CommandLine}
	out.kernel = strings.Trim(content(t, e.Kernel)[headerSize:], "\x00")
	for _, b := range e.Initrd {
		out.initrd = append(out.initrd, content(t, b))
	}
	return out
}

func content(t testing.TB, b Blob) string {
	t.Helper()
	f, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // memory
	text := make([]byte, b.Size)
	if n, err := f.(io.ReaderAt).ReadAt(text, b.Offset); int64(n) != b.Size {
		t.Fatal(n, err)
	}
	return string(text)
}

// check compares the result of Find with an entry, or with a part of an error.
func check(t *testing.T, s System, want found, refusal string) {
	t.Helper()
	e, err := Find(s)
	if refusal != "" {
		if err == nil || !strings.Contains(err.Error(), refusal) {
			t.Fatalf("found %+v, error %v, want an error with %q", e, err, refusal)
		}
		if !strings.HasPrefix(err.Error(), s.Disk+": ") {
			t.Errorf("error %q does not name the disk", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	got := contentsOf(t, e)
	if got.source != want.source || got.title != want.title || got.kernel != want.kernel || got.line != want.line ||
		strings.Join(got.initrd, "|") != strings.Join(want.initrd, "|") {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

var errBroken = errors.New("bad superblock")
