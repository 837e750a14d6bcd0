package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// CleanBootEntries deletes the boot entries that lead to an unwanted path, in the text
// form of device paths, and verifies that they are gone. It returns them, as "Boot0003
// debian: HD(1,GPT,...)/File(...)". Entries that cannot be read or parsed are not ours
// and stay. The others are deleted where
// one cannot be.
func CleanBootEntries(vars EFIVars, unwanted func(path string) bool) ([]string, error) {
	numbers, err := bootNumbers(vars)
	if err != nil {
		return nil, err
	}
	var deleted []string
	var gone []uint16
	var errs []error
	for _, n := range numbers {
		b, err := vars.Get(bootName(n))
		if err != nil {
			setAside(vars, err)
			continue
		}
		o, err := ParseLoadOption(b)
		if err != nil {
			continue
		}
		path := pathText(o.DevicePath)
		if !unwanted(path) {
			continue
		}
		if err := vars.Delete(bootName(n)); err != nil {
			errs = append(errs, err)
			continue
		}
		if _, err := vars.Get(bootName(n)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("EFI variable %s: deleted, but it is still there", bootName(n)), err)
			continue
		}
		deleted, gone = append(deleted, fmt.Sprintf("%s %s: %s", bootName(n), o.Label, path)), append(gone, n)
	}
	if len(gone) > 0 {
		errs = append(errs, dropFromOrder(vars, gone))
	}
	return deleted, errors.Join(errs...)
}

// dropFromOrder takes entries out of BootOrder.
func dropFromOrder(vars EFIVars, gone []uint16) error {
	old, err := vars.Get("BootOrder")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	order := []byte{}
	for ; len(old) >= 2; old = old[2:] {
		if n := le.Uint16(old); !slices.Contains(gone, n) {
			order = le.AppendUint16(order, n)
		}
	}
	if len(order) == 0 { // a variable without content is none
		return vars.Delete("BootOrder")
	}
	return setVerified(vars, "BootOrder", order)
}
