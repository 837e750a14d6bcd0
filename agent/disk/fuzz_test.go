package disk

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/ferrite-metal/ferrite/images/fat"
)

// resum makes the checksums of a fuzzed primary GPT right, so that the
// fuzzer gets past them.
func resum(b []byte) {
	le := binary.LittleEndian
	h := b[512:1024]
	if n := uint64(le.Uint32(h[80:])) * uint64(le.Uint32(h[84:])); n <= gptMaxEntries {
		at := le.Uint64(h[72:])
		if at < 1<<20 && at*512+n <= uint64(len(b)) {
			le.PutUint32(h[88:], crc32.ChecksumIEEE(b[at*512:][:n]))
		}
	}
	n := le.Uint32(h[12:])
	if n > 512 {
		return
	}
	le.PutUint32(h[16:], 0)
	le.PutUint32(h[16:], crc32.ChecksumIEEE(h[:n]))
}

func FuzzMBR(f *testing.F) {
	d := newDisk(f, 64<<20, 512)
	onFile(f, d, func(path string) {
		run(f, "label: dos\nlabel-id: 0x1234abcd\nstart=2048, size=4096, type=83, bootable\nstart=8192, size=20000, "+
			"type=5\nstart=10240, size=2048\nstart=14336, size=2048\n", "sfdisk", "-q", path)
	})
	f.Add(d.b[:512], d.b[8192*512:][:512])
	f.Fuzz(func(t *testing.T, boot, link []byte) {
		d := newDisk(t, 8<<20, 512)
		copy(d.b, boot)
		copy(d.b[2048*512:], link)
		m, err := ReadMBR(d)
		if err != nil {
			return
		}
		for _, p := range m.Partitions {
			if p.Type != mbrProtective && (p.First+p.Sectors)*512 > d.Size() {
				t.Fatalf("partition outside the disk: %+v", p)
			}
		}
		if _, err := m.AddLast(d, 1<<20, mbrLinux); err != nil {
			return
		}
		if err := m.Write(d); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadMBR(d); err != nil {
			t.Fatalf("what was written does not read: %v", err)
		}
	})
}

func FuzzFormerParts(f *testing.F) {
	f.Add(twoParts(f, 16*mib, 512).b[:64<<10])
	f.Add(sfdisk(f, 16*mib, "start=2048, size=8192, type=5\nstart=4096, size=2048, type=83\n").b[:64<<10])
	f.Fuzz(func(t *testing.T, start []byte) {
		d := newDisk(t, 16*mib, 512)
		copy(d.b, start[:min(len(start), mib)])
		resum(d.b)
		for _, p := range FormerParts(d) {
			if p.Start <= 0 || p.Size <= 0 || p.Start+p.Size > d.Size() {
				t.Fatalf("%+v", p)
			}
		}
		if _, err := WipeMetadata(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzLoadOption(f *testing.F) {
	f.Add(LoadOption{Attributes: 1, Label: "debian", DevicePath: []byte{0x7f, 0xff, 4, 0}, Options: []byte("x")}.Bytes())
	f.Add([]byte{1, 0, 0, 0, 4, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := ParseLoadOption(b)
		if err != nil {
			return
		}
		again, err := ParseLoadOption(o.Bytes())
		if err != nil || again.Label != o.Label || !bytes.Equal(again.DevicePath, o.DevicePath) ||
			!bytes.Equal(again.Options, o.Options) {
			t.Fatalf("%+v became %+v (%v)", o, again, err)
		}
	})
}

func FuzzFindLoader(f *testing.F) {
	f.Add(makeFAT(f, 36<<10, smallFAT, map[string]string{"EFI/BOOT/BOOTX64.EFI": "loader"}).b)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := fat.Open(bytes.NewReader(b))
		if err != nil {
			return
		}
		// Any answer will do, if only it comes.
		if _, err := FindLoader(r, "amd64"); err == nil {
			_, _ = r.ReadFile("EFI/BOOT/BOOTX64.EFI", 1<<20)
		}
	})
}

// smallFAT has mkfs.vfat make a FAT12 of 36 KiB, the same each time.
var smallFAT = []string{"-F", "12", "-i", "12345678", "-s", "1", "-f", "1", "-r", "16"}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("\xff\xfes\x00h\x00i\x00m\x00,\x00d\x00,\x00,\x00x\x00\n\x00"))
	f.Add([]byte("shimx64.efi,debian,,This is the boot entry for debian\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, l := range parseCSV(b) {
			if l.Path == "" {
				t.Fatalf("%+v", l)
			}
		}
	})
}

func FuzzVolume(f *testing.F) {
	for _, b := range superblocks() {
		seed := make([]byte, 68<<10)
		copy(seed[b.magicAt:], b.magic)
		copy(seed[b.label:], "label")
		f.Add(seed)
		f.Add(seed[:b.magicAt+int64(len(b.magic))])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := ReadVolume(&memDisk{b: b, sector: 512}, Part{Size: int64(len(b))})
		if err == nil && v.Kind == "" && (v.Label != "" || v.UUID != "") {
			t.Fatalf("%+v", v)
		}
	})
}

func FuzzPathText(f *testing.F) {
	f.Add([]byte{4, 4, 8, 0, 'a', 0, 0, 0, 0x7f, 0xff, 4, 0})
	f.Add(append([]byte{4, 1, 42, 0}, make([]byte, 42)...))
	f.Add([]byte{1, 1, 3, 0, 2, 1, 200, 0})
	f.Fuzz(func(_ *testing.T, b []byte) { pathText(b) })
}
