package iso_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ferrite-metal/ferrite/images/iso"
)

func compose(t testing.TB, v iso.Volume) *iso.Image {
	t.Helper()
	image, err := iso.New(v)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func whole(t testing.TB, image *iso.Image) []byte {
	t.Helper()
	b, err := io.ReadAll(io.NewSectionReader(image, 0, image.Size()))
	if err != nil || int64(len(b)) != image.Size() {
		t.Fatalf("read %d of %d bytes: %v", len(b), image.Size(), err)
	}
	return b
}

func bootable() iso.Volume {
	loader := bytes.Repeat([]byte{1, 2, 3, 4}, 1000)
	return iso.Volume{Label: "BOOT", Files: map[string]iso.Content{
		"boot/vmlinuz": iso.Bytes(bytes.Repeat([]byte("kernel"), 5000)), "empty": iso.Text(""),
		"isolinux/isolinux.bin": iso.Bytes(loader),
		"efi.img":               iso.Bytes(make([]byte, 5000)),
	}, Boot: &iso.Boot{BIOS: "isolinux/isolinux.bin", UEFI: "efi.img", MBR: bytes.Repeat([]byte{0x90}, 432)}}
}

// TestReadAt: any part that is read equals the same part of the whole image.
func TestReadAt(t *testing.T) {
	image := compose(t, bootable())
	all := whole(t, image)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		off := r.Int64N(image.Size() + 100)
		b := bytes.Repeat([]byte{0xaa}, 1+r.IntN(9000))
		n, err := image.ReadAt(b, off)
		want := all[min(off, image.Size()):min(off+int64(len(b)), image.Size())]
		if !bytes.Equal(b[:n], want) || errors.Is(err, io.EOF) != (len(want) < len(b)) || n != len(want) {
			t.Fatalf("%d bytes at %d: %d, %v, want %d", len(b), off, n, err, len(want))
		}
	}
	if err := iotest.TestReader(io.NewSectionReader(image, 0, image.Size()), all); err != nil {
		t.Error(err)
	}
}

// TestElTorito follows the firmware's way: boot record, catalog, entries.
func TestElTorito(t *testing.T) {
	b := whole(t, compose(t, bootable()))
	le := binary.LittleEndian
	record := b[17*iso.SectorSize:]
	if got := string(record[:30]); got != "\x00CD001\x01EL TORITO SPECIFICATION" {
		t.Fatalf("boot record %q", got)
	}
	catalog := b[le.Uint32(record[71:])*iso.SectorSize:]
	sum := uint16(0)
	for i := 0; i < 32; i += 2 {
		sum += le.Uint16(catalog[i:])
	}
	if catalog[0] != 1 || catalog[30] != 0x55 || catalog[31] != 0xaa || sum != 0 {
		t.Errorf("validation entry % x, sum %d", catalog[:32], sum)
	}
	bios, uefi := catalog[32:], catalog[96:]
	if bios[0] != 0x88 || le.Uint16(bios[6:]) != 4 || catalog[64] != 0x91 || catalog[65] != 0xef || uefi[0] != 0x88 ||
		le.Uint16(uefi[6:]) != 12 { // 5000 bytes are 3 sectors of 2048, 12 of 512
		t.Errorf("entries % x", catalog[32:128])
	}
	loader := b[le.Uint32(bios[8:])*iso.SectorSize:]
	place, size := le.Uint32(loader[12:]), le.Uint32(loader[16:])
	if le.Uint32(loader[8:]) != 16 || place != le.Uint32(bios[8:]) || size != 4000 ||
		le.Uint32(loader[20:]) != 0x04030201*((4000-64)/4)&0xffffffff {
		t.Errorf("boot information table % x", loader[8:64])
	}
	if le.Uint64(b[432:]) != uint64(place)*4 || b[510] != 0x55 || b[511] != 0xaa || b[450] != 0 || b[466] != 0xef ||
		le.Uint32(b[470:]) != le.Uint32(uefi[8:])*4 {
		t.Errorf("boot sector % x", b[432:512])
	}
}

func TestUEFIAlone(t *testing.T) {
	v := bootable()
	v.Boot = &iso.Boot{UEFI: "efi.img"}
	b := whole(t, compose(t, v))
	catalog := b[binary.LittleEndian.Uint32(b[17*iso.SectorSize+71:])*iso.SectorSize:]
	if catalog[1] != 0xef || catalog[32] != 0x88 || catalog[64] != 0 {
		t.Errorf("catalog % x", catalog[:96])
	}
}

func TestRefusals(t *testing.T) {
	small := map[string]iso.Content{"f": iso.Text("x")}
	for name, tc := range map[string]struct {
		v    iso.Volume
		want string
	}{
		"no label":   {iso.Volume{Files: small}, "label"},
		"long label": {iso.Volume{Label: "a label of 17 let", Files: small}, "label"},
		"climbs": {iso.Volume{Label: "A", Files: map[string]iso.Content{"../f": iso.Text("x")}}, "clean " +
			"relative path"},
		"twice": {iso.Volume{Label: "A", Files: map[string]iso.Content{"a b": iso.Text("x"),
			"a_b": iso.Text("x")}}, "same name"},
		"file of 4 GiB":     {iso.Volume{Label: "A", Files: map[string]iso.Content{"f": {Size: 1 << 32}}}, "at most"},
		"negative":          {iso.Volume{Label: "A", Files: map[string]iso.Content{"f": {Size: -1}}}, "at most"},
		"boots from no":     {iso.Volume{Label: "A", Files: small, Boot: &iso.Boot{}}, "neither for BIOS nor for UEFI"},
		"loader is missing": {iso.Volume{Label: "A", Files: small, Boot: &iso.Boot{BIOS: "g"}}, "boot file g"},
		"loader is small":   {iso.Volume{Label: "A", Files: small, Boot: &iso.Boot{BIOS: "f"}}, "64 to"},
		"MBR without BIOS": {iso.Volume{Label: "A", Files: small, Boot: &iso.Boot{UEFI: "f", MBR: make([]byte, 432)}},
			"needs a BIOS loader"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := iso.New(tc.v); !errors.Is(err, iso.ErrInvalid) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

// TestShorter: a file that has become shorter is an error, not zeroes.
func TestShorter(t *testing.T) {
	image := compose(t, iso.Volume{Label: "A", Files: map[string]iso.Content{
		"f": {At: strings.NewReader("short"), Size: 5000}}})
	_, err := io.ReadAll(io.NewSectionReader(image, 0, image.Size()))
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}

// BenchmarkCompose is the cost of a request for a part of an image.
func BenchmarkCompose(b *testing.B) {
	v := bootable()
	for b.Loop() {
		if _, err := iso.New(v); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleNew() {
	image, err := iso.New(iso.Volume{Label: "config-2", Files: map[string]iso.Content{"a.txt": iso.Text("a")}})
	fmt.Println(image.Size()%iso.SectorSize, err)
	// Output: 0 <nil>
}
