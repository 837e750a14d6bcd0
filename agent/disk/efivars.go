package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// efiGlobal is the vendor of the variables UEFI itself defines.
	efiGlobal = "8be4df61-93ca-11d2-aa0d-00e098032b8c"
	// efiAttributes of a boot variable: non-volatile, boot and runtime access.
	efiAttributes = 7
	// efiVarFlagImmutable is FS_IMMUTABLE_FL: efivarfs guards variables with
	// it, since some firmware does not start without them.
	efiVarFlagImmutable = 0x10
)

// EFIVars are the global EFI variables.
type EFIVars interface {
	// Names lists them, such as "Boot0001".
	Names() ([]string, error)
	// Get reads one, without attributes. It wraps fs.ErrNotExist.
	Get(name string) ([]byte, error)
	// Set writes one, non-volatile.
	Set(name string, value []byte) error
	// Delete removes one.
	Delete(name string) error
}

// Noted are vars that report variables set aside to note: variables of others that cannot be read, or not be deleted.
func Noted(vars EFIVars, note func(error)) EFIVars { return noted{vars, note} }

type noted struct {
	EFIVars
	note func(error)
}

// setAside passes an error to the owner of vars, if that wants to know.
func setAside(vars EFIVars, err error) {
	if n, ok := vars.(noted); ok {
		n.note(err)
	}
}

// EFIVarFS reads and writes variables through efivarfs, mounted at its value,
// usually /sys/firmware/efi/efivars.
type EFIVarFS string

// path of a variable's file.
func (dir EFIVarFS) path(name string) string {
	return filepath.Join(string(dir), name+"-"+efiGlobal)
}

// Names lists the global variables.
func (dir EFIVarFS) Names() ([]string, error) {
	entries, err := os.ReadDir(string(dir))
	if err != nil {
		return nil, fmt.Errorf("EFI variables: %w", err)
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), "-"+efiGlobal); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// Get reads a variable; its first four bytes are its attributes.
func (dir EFIVarFS) Get(name string) ([]byte, error) {
	b, err := os.ReadFile(dir.path(name))
	if err != nil {
		return nil, fmt.Errorf("EFI variable %s: %w", name, err)
	}
	if len(b) < 4 {
		return nil, fmt.Errorf("EFI variable %s has %d bytes, expected at least 4", name, len(b))
	}
	return b[4:], nil
}

// Set writes a variable in one write, as efivarfs asks for. If the firmware refuses a new one, it removes the empty
// file that older kernels leave.
func (dir EFIVarFS) Set(name string, value []byte) error {
	if err := dir.unlock(name); err != nil {
		return err
	}
	_, err := os.Lstat(dir.path(name))
	fresh := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(dir.path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return fmt.Errorf("EFI variable %s: %w", name, err)
	}
	_, err = f.Write(append([]byte{efiAttributes, 0, 0, 0}, value...))
	if err := errors.Join(err, f.Close()); err != nil {
		if fresh {
			_ = os.Remove(dir.path(name)) // newer kernels have removed it
		}
		return fmt.Errorf("EFI variable %s of %d bytes: %w", name, len(value), err)
	}
	return nil
}

// Delete removes a variable.
func (dir EFIVarFS) Delete(name string) error {
	if err := dir.unlock(name); err != nil {
		return err
	}
	if err := os.Remove(dir.path(name)); err != nil {
		return fmt.Errorf("EFI variable %s: %w", name, err)
	}
	return nil
}

// unlock takes the immutable flag off a variable that has it. A filesystem
// that knows no such flag has nothing to take off.
func (dir EFIVarFS) unlock(name string) error {
	f, err := os.Open(dir.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("EFI variable %s: %w", name, err)
	}
	defer f.Close()
	flags, err := unix.IoctlGetUint32(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	if err == nil && flags&efiVarFlagImmutable != 0 {
		err = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, int(flags&^efiVarFlagImmutable))
	}
	if err != nil {
		return fmt.Errorf("EFI variable %s: take its immutable flag off: %w", name, err)
	}
	return nil
}
