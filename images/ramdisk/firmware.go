package ramdisk

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
	"github.com/u-root/mkuimage/cpio"
)

// maxFirmware bounds one unpacked module or firmware file. The largest of Debian's are some 30 MB.
const maxFirmware = 128 << 20

// maxLinks bounds how many symbolic links lead to one file.
const maxLinks = 8

// firmwarePlace is where the kernel looks for firmware.
const firmwarePlace = "lib/firmware"

// packings are the ends of the names of compressed files. The ramdisk has all firmware unpacked, which any kernel can
// load, and is compressed as a whole.
var packings = []string{"", ".xz", ".zst", ".gz"}

// firmwareFolder is one source of firmware.
type firmwareFolder struct {
	dir     string // laid out as /lib/firmware
	own     bool   // a folder of this machine: links that lead out of it are followed
	pkg     string // Debian package; "" for a folder of this machine
	version string // of the package
	sum     string // its SHA-256, in hex
	licence string // path of its copyright file; "" for none
	used    bool   // a file of it is in the ramdisk
}

// firmware adds firmware to a tree.
type firmware struct {
	tree    tree
	folders []*firmwareFolder
}

// addFirmware adds the firmware that modules name (modinfo -F firmware). It returns those that are not there, as
// "module: file": many drivers name firmware of cards that no site has.
func (t tree) addFirmware(folders []*firmwareFolder, modules string, files []string) (missing []string, err error) {
	if len(folders) == 0 {
		return nil, nil
	}
	f := firmware{tree: t, folders: folders}
	found := 0
	for _, file := range files {
		info, err := readModInfo(filepath.Join(modules, file))
		if err != nil {
			return nil, err
		}
		for _, name := range info.firmware {
			if checkPath(path.Join(firmwarePlace, name)) != nil {
				continue
			}
			switch ok, err := f.addNamed(name); {
			case err != nil:
				return nil, fmt.Errorf("firmware %s of module %s: %w", name, moduleName(file), err)
			case ok:
				found++
			default:
				missing = append(missing, moduleName(file)+": "+name)
			}
		}
	}
	if found == 0 && len(missing) > 0 {
		return nil, fmt.Errorf("firmware: %s has none of the %d files that the modules name, the first being %s: is it laid "+
			"out as /lib/firmware?", folders[0].dir, len(missing), missing[0])
	}
	return missing, nil
}

// addNamed adds a module's firmware: one file, or all that a pattern matches.
func (f firmware) addNamed(name string) (found bool, err error) {
	if _, err := path.Match(name, ""); err != nil || !strings.ContainsAny(name, "*?[") {
		return f.add(name, 0)
	}
	for _, folder := range f.folders {
		for _, suffix := range packings {
			matches, err := fs.Glob(os.DirFS(folder.dir), name+suffix)
			if err != nil {
				return false, err
			}
			for _, match := range matches {
				ok, err := f.add(strings.TrimSuffix(match, suffix), 0)
				if err != nil {
					return false, err
				}
				found = found || ok
			}
		}
	}
	return found, nil
}

// add adds one file, and the links that lead to it as Debian ships them.
func (f firmware) add(name string, links int) (bool, error) {
	if links > maxLinks {
		return false, fmt.Errorf("more than %d links lead to it", maxLinks)
	}
	parts := strings.Split(name, "/")
	for i := range parts {
		head, last := path.Join(parts[:i+1]...), i == len(parts)-1
		folder, suffix, info, err := f.find(head, last)
		if err != nil || folder == nil {
			return false, err
		}
		source := filepath.Join(folder.dir, head+suffix)
		if info.Mode()&fs.ModeSymlink != 0 {
			target, kept, err := folder.follow(head, source, suffix)
			if err != nil {
				return false, err
			}
			if kept {
				folder.used = true
				f.tree.addRecord(cpio.Symlink(path.Join(firmwarePlace, head), relative(path.Dir(head), target)))
				return f.add(path.Join(append([]string{target}, parts[i+1:]...)...), links+1)
			}
			if info, err = os.Stat(source); err != nil {
				return false, err
			}
		}
		switch {
		case last && !info.Mode().IsRegular(), !last && !info.IsDir():
			return false, fmt.Errorf("%s is no file", source)
		case last:
			folder.used = true
			f.tree.addPacked(path.Join(firmwarePlace, name), source)
		}
	}
	return true, nil
}

// find looks for one file, folder or link in all folders.
func (f firmware) find(name string, last bool) (*firmwareFolder, string, fs.FileInfo, error) {
	suffixes := packings
	if !last {
		suffixes = packings[:1]
	}
	for _, folder := range f.folders {
		for _, suffix := range suffixes {
			info, err := os.Lstat(filepath.Join(folder.dir, name+suffix))
			if err == nil && (!info.IsDir() || !last) {
				return folder, suffix, info, nil
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, "", nil, err
			}
		}
	}
	return nil, "", nil, nil
}

// follow reads a link. It is kept if it leads to another place of the folder.
func (d *firmwareFolder) follow(name, source, suffix string) (target string, kept bool, err error) {
	target, err = os.Readlink(source)
	if err != nil {
		return "", false, err
	}
	for _, place := range []string{"/lib/firmware/", "/usr/lib/firmware/"} {
		if rest, ok := strings.CutPrefix(target, place); ok && !d.own {
			return strings.TrimSuffix(path.Clean(rest), suffix), true, nil
		}
	}
	clean := path.Join(path.Dir(name), target)
	if path.IsAbs(target) || clean == ".." || strings.HasPrefix(clean, "../") {
		if !d.own {
			return "", false, fmt.Errorf("link %s leads out of package %s, to %s", name, d.pkg, target)
		}
		return "", false, nil
	}
	return strings.TrimSuffix(clean, suffix), true, nil
}

// relative is the text of a link in a folder to a target; both are relative to the same place.
func relative(folder, target string) string {
	text, err := filepath.Rel(folder, target)
	if err != nil { // one of them would have to be absolute
		return target
	}
	return text
}

// componentsOf are the packages that a file was taken from.
func componentsOf(folders []*firmwareFolder) (all []Component) {
	for _, folder := range folders {
		if folder.used && folder.pkg != "" {
			all = append(all, Component{Name: folder.pkg, Version: folder.version, SHA256: folder.sum, Debian: true})
		}
	}
	return all
}

// addLicences adds the copyright file of each package that a file was taken from.
func (t tree) addLicences(folders []*firmwareFolder) {
	for _, folder := range folders {
		if folder.used && folder.licence != "" {
			t.addFile(licencePath(folder.pkg), folder.licence, 0o644)
		}
	}
}

// licencePath is where Debian has the licence of a package, and the ramdisk too.
func licencePath(pkg string) string { return path.Join("usr/share/doc", pkg, "copyright") }

// addPacked adds a file, unpacked.
func (t tree) addPacked(to, source string) {
	if !slices.Contains(packings[1:], path.Ext(source)) {
		t.addFile(to, source, 0o644)
		return
	}
	t[to] = func() (cpio.Record, error) {
		raw, err := readPacked(source)
		return cpio.StaticFile(to, string(raw), 0o644), err
	}
}

// readPacked reads a file that may be compressed, as its name says.
func readPacked(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var plain io.Reader = f
	switch path.Ext(name) {
	case ".xz":
		plain, err = xz.NewReader(f, xz.DefaultDictMax)
	case ".zst":
		var unpacker *zstd.Decoder
		if unpacker, err = zstd.NewReader(f, zstd.WithDecoderConcurrency(1)); err == nil {
			defer unpacker.Close()
			plain = unpacker
		}
	case ".gz":
		plain, err = gzip.NewReader(f)
	}
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", name, err)
	}
	raw, err := io.ReadAll(io.LimitReader(plain, maxFirmware+1))
	if err == nil && len(raw) > maxFirmware {
		err = fmt.Errorf("it has more than %d MiB", maxFirmware>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return raw, nil
}
