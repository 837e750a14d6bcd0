package disk

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// Array is a Linux software RAID 1 as each of its members describes it.
type Array struct {
	ID      [16]byte
	Name    string // at most 32 bytes
	Members int
	Size    int64 // bytes
	Created time.Time
}

// Member is one partition of an array.
type Member struct {
	Array
	Number int // from 0
	ID     [16]byte
}

// ErrNoMember says that a partition belongs to no array that we know.
var ErrNoMember = errors.New("no RAID superblock of version 1")

// ErrDamagedMember is wrapped when a superblock is there, but not as it was written. Its
// name may be right all the same.
var ErrDamagedMember = errors.New("damaged RAID superblock")

// Places and contents of a superblock of version 1 (Linux, include/uapi/linux/raid/md_p.h).
const (
	mdSize       = 256  // bytes before the list of roles
	mdRoles      = 128  // slots in that list, as mdadm makes at least
	mdMaxRoles   = 1920 // that fit into the 4 KiB a superblock has
	mdNameSize   = 32
	mdSpareRole  = 0xfffe // and above: not a working member
	mdSectorSize = 512    // the unit of all its figures, for any disk
)

// mdEnd is where a superblock of version 1.0 begins: 8 KiB before the end,
// rounded down to 4 KiB.
func mdEnd(size int64) int64 { return (size - 8*kib) / (4 * kib) * (4 * kib) }

// mdPlaces are where a superblock of version 1 may be in size bytes.
func mdPlaces(size int64) []int64 {
	return slices.DeleteFunc([]int64{mdEnd(size), 0, 4 * kib}, func(at int64) bool { return at < 0 || at+4*kib > size })
}

// MemberSize is how much of a partition of size bytes an array can use. The
// superblock lies behind it, with at least some of a MiB to spare, where an
// operating system may add a bitmap.
func MemberSize(size int64) int64 { return (mdEnd(size) - 64*kib) / mib * mib }

// MemberRoom is the size of a partition that can be a member of an array of
// size bytes.
func MemberRoom(size int64) int64 { return (size+mib-1)/mib*mib + mib }

// NewArray describes an array that is yet to be written. Its size is for the
// caller to find from MemberSize.
func NewArray(name string, members int, size int64, now time.Time, random io.Reader) (Array, error) {
	a := Array{Name: name, Members: members, Size: size, Created: now}
	if len(name) == 0 || len(name) > mdNameSize || strings.ContainsRune(name, 0) {
		return a, fmt.Errorf("array name %q: expected 1 to %d bytes", name, mdNameSize)
	}
	if members < 2 || members > mdRoles {
		return a, fmt.Errorf("array %s of %d members: expected 2 to %d", name, members, mdRoles)
	}
	if _, err := io.ReadFull(random, a.ID[:]); err != nil {
		return a, fmt.Errorf("make an array's UUID: %w", err)
	}
	return a, nil
}

// WriteMember makes a partition a member of an array. It wipes the signatures of
// earlier contents and writes a superblock of version 1.0 at the end. The members do
// not have the same content yet: the kernel copies the first to the others once the
// array runs.
func WriteMember(d Disk, p Part, a Array, number int, random io.Reader) error {
	if number < 0 || number >= a.Members || MemberSize(p.Size) < a.Size {
		return fmt.Errorf("partition %d of %d bytes cannot be member %d of array %s: %d members of %d bytes", p.Number,
			p.Size, number, a.Name, a.Members, a.Size)
	}
	m := Member{Array: a, Number: number}
	if _, err := io.ReadFull(random, m.ID[:]); err != nil {
		return fmt.Errorf("make a member's UUID: %w", err)
	}
	if err := (&wiper{d: d}).all(context.Background(), partSection(d, p)); err != nil {
		return err
	}
	at := mdEnd(p.Size)
	block := m.superblock(uint64(at / mdSectorSize))
	if err := writeAt(d, block, p.Start+at); err != nil {
		return fmt.Errorf("superblock of partition %d: %w", p.Number, err)
	}
	if err := d.Flush(); err != nil {
		return fmt.Errorf("superblock of partition %d: flush: %w", p.Number, err)
	}
	back, err := readAt(d, p.Start+at, len(block))
	if err == nil && !bytes.Equal(back, block) {
		err = errors.New("it does not read back as it was written")
	}
	if err != nil {
		return fmt.Errorf("superblock of partition %d: %w", p.Number, err)
	}
	return nil
}

// superblock renders a member's 4 KiB, for a superblock that lies in sector
// at of the partition. The array is new: nothing of it is in step (resync
// offset 0), as with mdadm --create.
func (m Member) superblock(at uint64) []byte {
	le := binary.LittleEndian
	b := make([]byte, 4*kib)
	copy(b, mdMagic)
	le.PutUint32(b[4:], 1) // major version
	copy(b[16:], m.Array.ID[:])
	copy(b[32:32+mdNameSize], m.Name)
	le.PutUint64(b[64:], uint64(m.Created.Unix())&(1<<40-1))
	le.PutUint32(b[72:], 1) // level
	le.PutUint64(b[80:], uint64(m.Size/mdSectorSize))
	le.PutUint32(b[92:], uint32(m.Members))
	le.PutUint64(b[136:], uint64(m.Size/mdSectorSize)) // data from sector 0
	le.PutUint64(b[144:], at)
	le.PutUint32(b[160:], uint32(m.Number))
	copy(b[168:], m.ID[:])
	le.PutUint64(b[192:], uint64(m.Created.Unix())&(1<<40-1))
	le.PutUint32(b[220:], mdRoles)
	for n := range mdRoles {
		role := uint16(math.MaxUint16) // a spare
		if n < m.Members {
			role = uint16(n)
		}
		le.PutUint16(b[mdSize+2*n:], role)
	}
	le.PutUint32(b[216:], mdChecksum(b[:mdSize+2*mdRoles]))
	return b
}

// mdChecksum adds up the words of a superblock, its checksum taken as zero,
// and folds the carry back.
func mdChecksum(b []byte) uint32 {
	le := binary.LittleEndian
	var sum uint64
	for i := 0; i+4 <= len(b); i += 4 {
		if i != 216 {
			sum += uint64(le.Uint32(b[i:]))
		}
	}
	if len(b)%4 == 2 {
		sum += uint64(le.Uint16(b[len(b)-2:]))
	}
	return uint32(sum) + uint32(sum>>32)
}

// ReadMember reads which array a partition belongs to, whichever of the three
// places of version 1 its superblock is in. The error wraps ErrNoMember when
// there is none.
func ReadMember(d Disk, p Part) (Member, error) {
	for _, at := range mdPlaces(p.Size) {
		b, err := readAt(d, p.Start+at, 4*kib)
		if err != nil {
			return Member{}, fmt.Errorf("partition %d: %w", p.Number, err)
		}
		m, err := parseMember(b)
		if err == nil {
			return m, nil
		}
		if !errors.Is(err, ErrNoMember) {
			return m, fmt.Errorf("partition %d: %w", p.Number, err)
		}
	}
	return Member{}, fmt.Errorf("partition %d: %w", p.Number, ErrNoMember)
}

// parseMember reads a superblock. It is pure.
func parseMember(b []byte) (Member, error) {
	le := binary.LittleEndian
	if len(b) < 4*kib || string(b[:4]) != mdMagic || le.Uint32(b[4:]) != 1 {
		return Member{}, ErrNoMember
	}
	name, _, _ := strings.Cut(string(b[32:32+mdNameSize]), "\x00")
	damaged := func(format string, args ...any) (Member, error) {
		err := fmt.Errorf("%w: %s", ErrDamagedMember, fmt.Sprintf(format, args...))
		return Member{Array: Array{Name: name}, Number: -1}, err
	}
	roles := int(min(le.Uint32(b[220:]), mdMaxRoles+1))
	if roles > mdMaxRoles {
		return damaged("it has room for more than %d members", mdMaxRoles)
	}
	if got, want := mdChecksum(b[:mdSize+2*roles]), le.Uint32(b[216:]); got != want {
		return damaged("its checksum is %08x, expected %08x", got, want)
	}
	slot := le.Uint32(b[160:])
	if slot >= uint32(roles) {
		return damaged("member %d has %d roles", slot, roles)
	}
	size := le.Uint64(b[80:])
	if size > math.MaxInt64/mdSectorSize {
		return damaged("an array of %d sectors", size)
	}
	m := Member{
		Array: Array{
			Name: name, Members: int(le.Uint32(b[92:]) & math.MaxInt32), Size: int64(size) * mdSectorSize,
			Created: time.Unix(int64(le.Uint64(b[64:])&(1<<40-1)), 0).UTC(),
		},
		Number: -1,
	}
	copy(m.Array.ID[:], b[16:])
	copy(m.ID[:], b[168:])
	if role := le.Uint16(b[mdSize+2*slot:]); role < mdSpareRole {
		m.Number = int(role)
	}
	return m, nil
}

// RAIDTraces names the signatures of software and firmware RAID on a disk and
// its partitions, such as "partition 2: md 1.0".
func RAIDTraces(d Disk) ([]string, error) {
	var found []string
	for _, s := range sections(d, FormerParts(d)) {
		signatures, err := s.find()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		for _, sig := range signatures {
			if strings.HasPrefix(sig.name, "md ") || sig.name == "ddf" || sig.name == "imsm" {
				found = append(found, s.name+": "+sig.name)
			}
		}
	}
	return found, nil
}
