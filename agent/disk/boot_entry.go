package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"syscall"
)

// BootEntry is an entry to be made in the firmware's boot menu.
type BootEntry struct {
	Label  string
	Loader Loader
}

// SetBootEntry makes the firmware boot the loader on partition p of a disk with table
// t first. It removes other entries of the same label, left by earlier deployments,
// and reads back its own. It returns the number of the entry. Entries that cannot be read
// are set aside: firmware has some of its own (rhboot/efibootmgr#85).
func SetBootEntry(vars EFIVars, t *Table, p Part, sector int, e BootEntry) (uint16, error) {
	want := LoadOption{Attributes: loadActive, Label: e.Label, DevicePath: diskPath(t, p, int64(sector), e.Loader.Path)}
	if e.Loader.Options != "" {
		want.Options = utf16Bytes(e.Loader.Options)
	}
	numbers, err := bootNumbers(vars)
	if err != nil {
		return 0, err
	}
	number, stale, err := place(vars, numbers, want)
	if err != nil {
		return 0, err
	}
	remove := func() {
		for _, n := range stale {
			if err := vars.Delete(bootName(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				setAside(vars, err)
			}
		}
	}
	set := func() error {
		if err := setVerified(vars, bootName(number), want.Bytes()); err != nil {
			return err
		}
		return orderFirst(vars, numbers, number, stale)
	}
	if err = set(); errors.Is(err, syscall.ENOSPC) && len(stale) > 0 { // they make room
		remove()
		err = set()
	}
	if err != nil {
		return 0, err
	}
	remove()
	return number, nil
}

// bootName is the variable of an entry.
func bootName(number uint16) string { return fmt.Sprintf("Boot%04X", number) }

// bootNumbers lists the entries there are.
func bootNumbers(vars EFIVars) ([]uint16, error) {
	names, err := vars.Names()
	if err != nil {
		return nil, err
	}
	var numbers []uint16
	for _, name := range names {
		if len(name) != 8 || name[:4] != "Boot" {
			continue
		}
		if n, err := strconv.ParseUint(name[4:], 16, 16); err == nil && bootName(uint16(n)) == name {
			numbers = append(numbers, uint16(n))
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// place decides where the entry goes: over the first of the same label, else
// under the lowest free number. stale are the others of that label.
func place(vars EFIVars, numbers []uint16, want LoadOption) (number uint16, stale []uint16, err error) {
	found := false
	for _, n := range numbers {
		b, err := vars.Get(bootName(n))
		if err != nil {
			setAside(vars, err)
			continue
		}
		o, err := ParseLoadOption(b)
		if err != nil || o.Label != want.Label {
			continue // firmware leaves odd entries of its own; they are none of ours
		}
		if found {
			stale = append(stale, n)
			continue
		}
		number, found = n, true
	}
	if found {
		return number, stale, nil
	}
	for n := range 1 << 16 {
		if !slices.Contains(numbers, uint16(n)) {
			return uint16(n), nil, nil
		}
	}
	return 0, nil, errors.New("all 65536 EFI boot entries are in use")
}

// setVerified writes a variable unless it is so already (each write wears the
// flash), and reads it back.
func setVerified(vars EFIVars, name string, value []byte) error {
	if old, err := vars.Get(name); err == nil && bytes.Equal(old, value) {
		return nil
	}
	if err := vars.Set(name, value); err != nil {
		return err
	}
	back, err := vars.Get(name)
	if err != nil {
		return err
	}
	if !sameValue(name, back, value) {
		return fmt.Errorf("EFI variable %s does not read back as written: expected %x, found %x", name, value, back)
	}
	return nil
}

// sameValue reports whether a variable is as it was written. A load option may have a mark
// of the firmware's own behind it: optional data such as "BO" of AMI's Aptio.
func sameValue(name string, got, want []byte) bool {
	if bytes.Equal(got, want) {
		return true
	}
	g, err := ParseLoadOption(got)
	if err != nil || name == "BootOrder" {
		return false
	}
	w, err := ParseLoadOption(want)
	return err == nil && g.Attributes == w.Attributes && g.Label == w.Label && bytes.Equal(g.DevicePath, w.DevicePath) &&
		len(w.Options) == 0
}

// orderFirst puts number at the head of BootOrder and drops stale entries. An order that
// cannot be read is made anew of all the entries there are. Numbers that are there twice are
// listed once: some firmware resets without end at them (rhboot/shim#22).
func orderFirst(vars EFIVars, all []uint16, number uint16, stale []uint16) error {
	le := binary.LittleEndian
	old, err := vars.Get("BootOrder")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		setAside(vars, err)
		for _, n := range all {
			old = le.AppendUint16(old, n)
		}
	}
	order, left := le.AppendUint16(nil, number), append(slices.Clone(stale), number)
	for ; len(old) >= 2; old = old[2:] {
		if n := le.Uint16(old); !slices.Contains(left, n) {
			order, left = le.AppendUint16(order, n), append(left, n)
		}
	}
	return setVerified(vars, "BootOrder", order)
}
