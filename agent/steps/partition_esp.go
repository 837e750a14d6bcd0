package steps

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"golang.org/x/sys/unix"

	"github.com/ferrite-metal/ferrite/agent/sys"
)

// Limits of files that are copied out of an image.
const (
	maxESPDepth = 16
	maxFstab    = 1 << 20 // bytes
)

// completeESP copies the files an image has for its EFI system partition onto
// the one of its disk, and has the operating system mount that.
func (m *Machine) completeESP(found loaderFiles, root, esp volume) (err error) {
	from, err := m.mount(root, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if found.efi != "" {
		if err := m.copyESP(found, from, esp); err != nil {
			return err
		}
	} else {
		found.efi = espFolders()[0]
	}
	if err := addToFstab(from, esp.UUID, found.efi); err != nil {
		return err
	}
	return from.Sync()
}

func (m *Machine) copyESP(found loaderFiles, from *sys.Tree, esp volume) (err error) {
	to, err := m.mount(esp, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := copyTree(to, "/EFI", from, found.efi+"/EFI", maxESPDepth); err != nil {
		return fmt.Errorf("copy the image's EFI files onto %s: %w", esp.device, err)
	}
	if err := copyGrub2(to, from); err != nil {
		return fmt.Errorf("copy the image's GRUB configuration onto %s: %w", esp.device, err)
	}
	m.Log.Info("image's EFI files copied", "from", found.efi, "to", esp.device)
	return to.Sync()
}

// copyTree copies a folder and all that is in it.
func copyTree(to *sys.Tree, toName string, from *sys.Tree, fromName string, depth int) error {
	if depth == 0 {
		return fmt.Errorf("%s: its folders lie too deep in each other", fromName)
	}
	entries, err := from.ReadDir(fromName)
	if err != nil {
		return err
	}
	if err := to.MkdirAll(toName, 0); err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			err = copyTree(to, path.Join(toName, e.Name()), from, path.Join(fromName, e.Name()), depth-1)
		} else {
			err = copyFile(to, path.Join(toName, e.Name()), from, path.Join(fromName, e.Name()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func copyFile(to *sys.Tree, toName string, from *sys.Tree, fromName string) (err error) {
	in, err := from.Open(fromName)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.Create(toName)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}

// copyGrub2 puts GRUB's configuration beside each loader that has none: Red
// Hat's looks for it there, and images made by diskimage-builder have it only
// in /boot/grub2.
func copyGrub2(to, from *sys.Tree) error {
	loaders, err := to.ReadDir("/EFI")
	if err != nil {
		return err
	}
	for _, l := range loaders {
		if !l.IsDir() {
			continue
		}
		for _, name := range []string{"grub.cfg", "grubenv"} {
			there := path.Join("/EFI", l.Name(), name)
			has, err := hasFile(to, there)
			if err == nil && !has {
				err = copyFile(to, there, from, "/boot/grub2/"+name)
			}
			if err != nil && !isAbsent(err) {
				return err
			}
		}
	}
	return nil
}

// hasFile reports whether there is a file of a name.
func hasFile(tree *sys.Tree, name string) (bool, error) {
	f, err := tree.Open(name)
	if isAbsent(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

// isAbsent reports whether an error means a missing path.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

// addToFstab has an installed system mount its EFI system partition, in
// ironic-python-agent's words. A system without the file has other ways.
func addToFstab(tree *sys.Tree, uuid, folder string) (err error) {
	const name = "/etc/fstab"
	f, err := tree.Open(name)
	if isAbsent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFstab+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if len(text) > maxFstab {
		return fmt.Errorf("%s is larger than %d bytes", name, maxFstab)
	}
	if bytes.Contains(text, []byte("UUID="+uuid)) {
		return nil
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	out, err := tree.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = fmt.Fprintf(out, "%sUUID=%s\t%s\tvfat\tumask=0077\t0\t1\n", text, uuid, folder)
	return err
}
