package bootiso

import (
	"fmt"
	"io"

	"github.com/ferrite-metal/ferrite/images/fat"
	"github.com/ferrite-metal/ferrite/images/iso"
)

// Label is the volume label by which Ironic's agents find a boot medium.
const Label = "VMEDIA_BOOT_ISO"

// Places of the machine's own files.
const (
	configPlace  = 16 << 10  // bytes of each configuration
	OverlayPlace = 256 << 10 // bytes of an overlay at most
	maxESP       = 32 << 20  // bytes of the EFI system partition: El Torito counts no further
)

// Medium holds the contents of a boot medium.
type Medium struct {
	Kernel, Initrd iso.Content
	// Cmdline is the kernel line. The words that boot loaders add are not in it.
	Cmdline string
	// Overlay is a cpio archive (newc) that the kernel unpacks before Initrd; "" for none.
	Overlay string
	// Reads is called for each read, with the part. It is called often; nil for no calls.
	Reads func(Part)
}

// Part is a part of the image. Reading it shows the progress of a machine's boot.
type Part int

// The parts, in the order in which a machine reads them.
const (
	Config Part = iota // of the boot loader
	Kernel
	Initrd
)

// Paths in the image.
const (
	pathKernel   = "boot/vmlinuz"
	pathInitrd   = "boot/initrd"
	pathOverlay  = "ferrite/node.img"
	pathGRUB     = "boot/grub/grub.cfg"
	pathISOLINUX = "isolinux/isolinux.cfg"
	pathESP      = "boot/efi.img"
	pathBIOS     = "isolinux/isolinux.bin"
	pathLDLINUX  = "isolinux/ldlinux.c32"
	// GRUB finds the medium by this file where firmware does not name the boot device.
	pathInfo = ".disk/info"
)

// ESP is the EFI system partition with GRUB as the loader that UEFI starts from removable media
// (UEFI 2.10, section 3.5.1.1). It is the same for all media with this GRUB.
func ESP(grub []byte) ([]byte, error) {
	dir := func(name string, f *fat.File) *fat.File { return &fat.File{Name: name, Children: []*fat.File{f}} }
	return fat.Build("ESP", dir("", dir("EFI", dir("BOOT", &fat.File{Name: "BOOTX64.EFI", Content: grub}))), 512, maxESP)
}

// New composes a medium. esp is the result of ESP.
func New(l Loaders, esp []byte, m Medium) (*iso.Image, error) {
	words, err := kernelWords(m.Cmdline)
	if err != nil {
		return nil, err
	}
	if len(m.Overlay) > OverlayPlace {
		return nil, fmt.Errorf("the files for the ramdisk have %d bytes, at most %d fit onto a boot medium", len(m.Overlay),
			OverlayPlace)
	}
	grub, isolinux := grubConfig(words), isolinuxConfig(words)
	if n := max(len(grub), len(isolinux)); n > configPlace {
		return nil, fmt.Errorf("the kernel line makes a boot loader's configuration %d bytes long, at most %d are allowed", n,
			configPlace)
	}
	return iso.New(iso.Volume{Label: Label, Boot: &iso.Boot{BIOS: pathBIOS, UEFI: pathESP, MBR: l.MBR},
		Files: map[string]iso.Content{
			pathInfo:     iso.Text("Ferrite\n"),
			pathKernel:   m.watched(Kernel, m.Kernel),
			pathInitrd:   m.watched(Initrd, m.Initrd),
			pathOverlay:  place(m.Overlay, 0, OverlayPlace),
			pathGRUB:     m.watched(Config, place(grub, '\n', configPlace)),
			pathISOLINUX: m.watched(Config, place(isolinux, '\n', configPlace)),
			pathESP:      iso.Bytes(esp),
			pathBIOS:     iso.Bytes(l.ISOLINUX),
			pathLDLINUX:  iso.Bytes(l.LDLINUX),
		}})
}

// watched reports each reading of a part.
func (m Medium) watched(p Part, c iso.Content) iso.Content {
	if m.Reads == nil {
		return c
	}
	return iso.Content{At: watched{c.At, func() { m.Reads(p) }}, Size: c.Size}
}

type watched struct {
	io.ReaderAt
	read func()
}

func (w watched) ReadAt(b []byte, off int64) (int, error) {
	w.read()
	return w.ReaderAt.ReadAt(b, off)
}

// place is text in a place of a fixed size, filled up.
func place(text string, fill byte, size int64) iso.Content {
	return iso.Content{At: filled{text, fill}, Size: size}
}

// filled is a text with endless filling behind it.
type filled struct {
	text string
	fill byte
}

func (f filled) ReadAt(b []byte, off int64) (int, error) {
	n := 0
	if off < int64(len(f.text)) {
		n = copy(b, f.text[off:])
	}
	for i := n; i < len(b); i++ {
		b[i] = f.fill
	}
	return len(b), nil
}
