package disk

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// specimen is a sound qcow2 to do damage to: clusters of 4 KiB (16 KiB with
// subclusters), two L2 tables, data, zeroes and holes.
type specimen struct {
	b  []byte
	h  *qcow2Header
	l1 int64 // offset of the L1 table
	l2 int64 // offset of the first L2 table
}

// specimens are made by qemu-img, by name.
func specimens(t *testing.T) map[string][]byte {
	t.Helper()
	raw := pattern(4<<20, 50)
	for i := range 64 << 10 { // the clusters the table below speaks of are data
		raw[i] = byte(i*7>>3 | 1)
	}
	large := append(bytes.Clone(raw), make([]byte, 13<<20)...)
	copy(large[16<<20:], raw[:256<<10])
	return map[string][]byte{
		"plain":    convert(t, raw, "-O", "qcow2", "-o", "cluster_size=4k"),
		"zlib":     convert(t, raw, "-c", "-O", "qcow2", "-o", "cluster_size=4k"),
		"zstd":     convert(t, raw, "-c", "-O", "qcow2", "-o", "cluster_size=4k,compression_type=zstd"),
		"extended": convert(t, large, "-O", "qcow2", "-o", "cluster_size=16k,extended_l2=on"),
	}
}

// open finds the tables of a specimen.
func (s *specimen) open(t *testing.T) {
	t.Helper()
	var err error
	if s.h, err = parseQcow2Header(s.b); err != nil {
		t.Fatal(err)
	}
	s.l1 = s.h.l1Offset
	s.l2 = int64(s.u64(s.l1) & entryOffset)
}

func (s *specimen) u64(off int64) uint64       { return binary.BigEndian.Uint64(s.b[off:]) }
func (s *specimen) put(off int64, v uint64)    { binary.BigEndian.PutUint64(s.b[off:], v) }
func (s *specimen) put32(off int64, v uint32)  { binary.BigEndian.PutUint32(s.b[off:], v) }
func (s *specimen) entry(i int64) int64        { return s.l2 + i*s.h.entrySize() }
func (s *specimen) point(i int64, host uint64) { s.put(s.entry(i), host|entryCopied) }
func (s *specimen) host(i int64) int64         { return int64(s.u64(s.entry(i)) & entryOffset) }
func (s *specimen) end() uint64                { return uint64(len(s.b)) &^ uint64(s.h.clusterSize()-1) }
func (s *specimen) sector(i int64) int64       { return int64(s.u64(s.entry(i)) & (1<<58 - 1)) }

// damage is one change of a specimen. Where our verdict differs from QEMU's, why gives
// the reason.
type damage struct {
	name, of string
	do       func(s *specimen)
	why      string
}

const (
	notRead = "it is in what only a writer of the qcow2 needs: reference counts, " +
		"snapshots and the flag that says a count is one"
	emptyDisk = "an empty disk is no image of a machine"
	admitted  = "QEMU reads it all the same; what calls itself corrupt should be repaired before machines are made of it"
	reserved  = "the format's specification reserves the bit, QEMU does not look"
	shared    = "QEMU counts the uses of whole clusters of the file and cannot tell which of the packed ones is used; " +
		"no program makes such images"
)

// damages are faults of images and of their transfer.
func damages() []damage {
	return []damage{
		{"nothing", "plain", func(*specimen) {}, ""},
		{"nothing", "zlib", func(*specimen) {}, ""},
		{"nothing", "zstd", func(*specimen) {}, ""},
		{"nothing", "extended", func(*specimen) {}, ""},

		{"version 4", "plain", func(s *specimen) { s.put32(4, 4) }, ""},
		{"clusters of 256 bytes", "plain", func(s *specimen) { s.put32(20, 8) }, ""},
		{"clusters of 4 MiB", "plain", func(s *specimen) { s.put32(20, 22) }, ""},
		{"clusters of 8 KiB, with subclusters", "extended", func(s *specimen) { s.put32(20, 13) }, ""},
		{"no disk", "plain", func(s *specimen) { s.put(24, 0) }, emptyDisk},
		{"a disk larger than its L1 table", "plain", func(s *specimen) { s.put(24, 1<<40) }, ""},
		{"a disk of 2^63 bytes", "plain", func(s *specimen) { s.put(24, 1<<63) }, ""},
		{"encryption of an unknown kind", "plain", func(s *specimen) { s.put32(32, 3) }, ""},
		{"an L1 table of no entries", "plain", func(s *specimen) { s.put32(36, 0) }, ""},
		{"an L1 table off its cluster", "plain", func(s *specimen) { s.put(40, uint64(s.l1)+512) }, ""},
		{"an L1 table outside the file", "plain", func(s *specimen) { s.put(40, 1<<40) }, ""},
		{"the header for an L1 table", "plain", func(s *specimen) { s.put(40, 0) }, ""},
		{"marked corrupt", "plain", func(s *specimen) { s.put(72, featureCorrupt) }, admitted},
		{"an unknown incompatible feature", "plain", func(s *specimen) { s.put(72, 1<<40) }, ""},
		{"an unknown compatible feature", "plain", func(s *specimen) { s.put(80, 1<<40) }, ""},
		{"an unknown autoclear feature", "plain", func(s *specimen) { s.put(88, 1<<40) }, ""},
		{"reference counts of 128 bits", "plain", func(s *specimen) { s.put32(96, 7) }, ""},
		{"a header of 80 bytes", "plain", func(s *specimen) { s.put32(100, 80) }, ""},
		{"a compression type without its feature", "plain", func(s *specimen) { s.b[104] = 1 }, ""},
		{"a compression feature without its type", "plain", func(s *specimen) { s.put(72, featureCompression) }, ""},
		{"an unknown compression type", "zstd", func(s *specimen) { s.b[104] = 2 }, ""},
		{"a table of reference counts off its cluster", "plain", func(s *specimen) { s.put(48, s.u64(48)+512) }, notRead},
		{"a million snapshots", "plain", func(s *specimen) { s.put32(60, 1<<20) }, notRead},
		{"a reference count of zero", "plain", func(s *specimen) { s.put(int64(s.u64(int64(s.u64(48)))), 0) }, notRead},

		{"an L2 table lost", "plain", func(s *specimen) { s.put(s.l1, 0) }, ""},
		{"an L2 table that is the L1 table", "plain", func(s *specimen) { s.put(s.l1, uint64(s.l1)|entryCopied) }, ""},
		{"an L2 table off its cluster", "plain", func(s *specimen) { s.put(s.l1, uint64(s.l2)+512|entryCopied) }, ""},
		{"an L2 table outside the file", "plain", func(s *specimen) { s.put(s.l1, 1<<40|entryCopied) }, ""},
		{"an L2 table at the file's end", "plain", func(s *specimen) { s.put(s.l1, s.end()|entryCopied) }, ""},
		{"an L2 table of two L1 entries", "plain", func(s *specimen) { s.put(s.l1+8, uint64(s.l2)|entryCopied) }, ""},
		{"an L2 table that is a data cluster", "plain",
			func(s *specimen) { s.put(s.l1+8, uint64(s.host(1))|entryCopied) }, ""},
		{"reserved bits in L1", "plain", func(s *specimen) { s.put(s.l1, uint64(s.l2)|entryCopied|1<<57) }, ""},
		{"no flag of a count of one in L1", "plain", func(s *specimen) { s.put(s.l1, uint64(s.l2)) }, notRead},

		{"a cluster lost", "plain", func(s *specimen) { s.put(s.entry(1), 0) }, ""},
		{"a cluster of zeroes with its place kept", "plain",
			func(s *specimen) { s.put(s.entry(1), s.u64(s.entry(1))|entryZero) }, ""},
		{"a cluster used twice", "plain", func(s *specimen) { s.point(1, uint64(s.host(2))) }, ""},
		{"a cluster that is its L2 table", "plain", func(s *specimen) { s.point(1, uint64(s.l2)) }, ""},
		{"a cluster that is the L1 table", "plain", func(s *specimen) { s.point(1, uint64(s.l1)) }, ""},
		{"a cluster that is the table of reference counts", "plain", func(s *specimen) { s.point(1, s.u64(48)) }, notRead},
		{"a cluster off its cluster", "plain", func(s *specimen) { s.point(1, uint64(s.host(1))+512) }, ""},
		{"a cluster of zeroes off its cluster", "plain",
			func(s *specimen) { s.put(s.entry(1), uint64(s.host(1))+512|entryZero) }, ""},
		{"a cluster outside the file", "plain", func(s *specimen) { s.point(1, 1<<40) }, ""},
		{"a cluster two after the file's end", "plain", func(s *specimen) { s.point(1, s.end()+2<<12) }, ""},
		{"reserved high bits in L2", "plain", func(s *specimen) { s.put(s.entry(1), s.u64(s.entry(1))|1<<57) }, ""},
		{"reserved low bits in L2", "plain", func(s *specimen) { s.put(s.entry(1), s.u64(s.entry(1))|4) }, ""},
		{"no flag of a count of one in L2", "plain", func(s *specimen) { s.put(s.entry(1), uint64(s.host(1))) }, notRead},

		{"compressed data damaged", "zlib", func(s *specimen) { clear(s.b[s.sector(1)+2:][:40]) }, ""},
		{"compressed data damaged", "zstd", func(s *specimen) { clear(s.b[s.sector(1):][:4]) }, ""},
		{"compressed data outside the file", "zlib", func(s *specimen) { s.put(s.entry(1), entryCompressed|1<<40) }, ""},
		{"compressed data in the header", "zlib", func(s *specimen) { s.put(s.entry(1), entryCompressed|200) }, ""},
		{"compressed data used twice", "zlib", func(s *specimen) { s.put(s.entry(1), s.u64(s.entry(2))) }, shared},
		{"compressed data of 16 sectors", "zlib", func(s *specimen) { s.put(s.entry(1), s.u64(s.entry(1))|0xf<<58) }, ""},
		{"compressed data flagged as counted once", "zlib",
			func(s *specimen) { s.put(s.entry(1), s.u64(s.entry(1))|entryCopied) }, ""},

		{"subclusters both data and zeroes", "extended", func(s *specimen) { s.put(s.entry(1)+8, 1<<32|1) }, ""},
		{"subclusters without a place", "extended", func(s *specimen) { s.put(s.entry(1), 0) }, ""},
		{"subclusters lost", "extended", func(s *specimen) { s.put(s.entry(1)+8, 0) }, ""},
		{"some subclusters lost", "extended", func(s *specimen) { s.put(s.entry(1)+8, 0x0ff0) }, ""},
		{"a cluster of zeroes among subclusters", "extended",
			func(s *specimen) { s.put(s.entry(1), s.u64(s.entry(1))|entryZero) }, reserved},
		{"subclusters outside the file", "extended", func(s *specimen) { s.point(1, 1<<40); s.put(s.entry(1)+8, 1) }, ""},
		{"subclusters used twice", "extended", func(s *specimen) { s.point(1, uint64(s.host(2))); s.put(s.entry(1)+8, 3) },
			""},

		{"cut amid the header", "plain", func(s *specimen) { s.b = s.b[:60] }, ""},
		{"cut amid L1", "plain", func(s *specimen) { s.b = s.b[:s.l1+4] }, ""},
		{"cut amid L2", "plain", func(s *specimen) { s.b = s.b[:s.l2+100] }, ""},
		{"cut in half", "plain", func(s *specimen) { s.b = s.b[:len(s.b)/2] }, ""},
		{"cut in half", "zlib", func(s *specimen) { s.b = s.b[:len(s.b)/2] }, ""},
		{"longer than it was", "plain", func(s *specimen) { s.b = append(s.b, make([]byte, 100)...) }, ""},
	}
}

// TestCorruptLikeQemu: we refuse the images that qemu-img check calls corrupt,
// or that qemu-img convert cannot read, and write the others as it does. Leaked
// clusters are no corruption, to either.
func TestCorruptLikeQemu(t *testing.T) {
	t.Parallel()
	sound := specimens(t)
	for _, d := range damages() {
		t.Run(d.name+" in "+d.of, func(t *testing.T) {
			t.Parallel()
			s := &specimen{b: bytes.Clone(sound[d.of])}
			s.open(t)
			d.do(s)
			disk, theirs := byQemu(t, s.b)
			dst := newMemTarget(20<<20, 512)
			res, ours := Write(context.Background(), memSource{b: s.b}, dst, Options{Format: "qcow2"})
			agree := (ours != nil) == (theirs != nil)
			switch {
			case agree == (d.why != ""):
				t.Errorf("we: %v; QEMU: %v; the table gives as reason of a deviation %q", ours, theirs, d.why)
			case ours == nil && theirs == nil:
				sameDisk(t, dst.b[:res.VirtualSize], disk)
			case ours != nil && !errors.Is(ours, ErrFormat) && !errors.Is(ours, ErrTooSmall):
				t.Errorf("error is %v, expected %v", ours, ErrFormat)
			}
			t.Logf("we: %v; QEMU: %v", ours, theirs)
		})
	}
}

// byQemu is the disk that qemu-img makes of an image, or why it is corrupt.
func byQemu(t *testing.T, image []byte) ([]byte, error) {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, image, 0o600); err != nil {
		t.Fatal(err)
	}
	const leaks = 3 // exit status of qemu-img check
	text, err := exec.Command("qemu-img", "check", "-f", "qcow2", in).CombinedOutput()
	var status *exec.ExitError
	if errors.As(err, &status) && status.ExitCode() != leaks {
		return nil, errors.New(string(text))
	}
	if text, err = exec.Command("qemu-img", "convert", "-f", "qcow2", "-O", "raw", in, out).CombinedOutput(); err != nil {
		return nil, errors.New(string(text))
	}
	disk, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return disk, nil
}
