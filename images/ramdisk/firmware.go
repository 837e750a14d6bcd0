package ramdisk

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
	"github.com/u-root/mkuimage/cpio"
)

// maxFirmware bounds one unpacked module or firmware file. The largest of Debian's are some 30 MB.
const maxFirmware = 128 << 20

// addFirmware adds the firmware that modules name (modinfo -F firmware), from a folder laid out as /lib/firmware. It
// returns those that are not there, as "module: file": many drivers name firmware of cards that no site has.
func (t tree) addFirmware(from, modules string, files []string) (missing []string, err error) {
	if from == "" {
		return nil, nil
	}
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return nil, errors.Join(fmt.Errorf("firmware: %s is no folder: expected one laid out as /lib/firmware", from), err)
	}
	found := 0
	for _, file := range files {
		names, err := firmwareOf(filepath.Join(modules, file))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			switch ok, err := t.addFirmwareFile(from, name); {
			case err != nil:
				return nil, err
			case ok:
				found++
			default:
				missing = append(missing, moduleName(file)+": "+name)
			}
		}
	}
	if found == 0 && len(missing) > 0 {
		return nil, fmt.Errorf("firmware: %s has none of the %d files that the modules name, the first being %s: is it laid "+
			"out as /lib/firmware?", from, len(missing), missing[0])
	}
	return missing, nil
}

// firmwareOf lists the firmware that a module names in its section .modinfo.
func firmwareOf(module string) (names []string, err error) {
	raw, err := readPacked(module)
	if err != nil {
		return nil, err
	}
	f, err := elf.NewFile(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", module, err)
	}
	section := f.Section(".modinfo")
	if section == nil {
		return nil, nil
	}
	info, err := section.Data()
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", module, err)
	}
	for field := range bytes.SplitSeq(info, []byte{0}) {
		if name, ok := strings.CutPrefix(string(field), "firmware="); ok &&
			checkPath(path.Join("lib/firmware", name)) == nil {
			names = append(names, name)
		}
	}
	return names, nil
}

// addFirmwareFile adds one file, unpacked: not every kernel unpacks firmware itself.
func (t tree) addFirmwareFile(from, name string) (bool, error) {
	to := path.Join("lib/firmware", name)
	for _, suffix := range []string{"", ".xz", ".zst", ".gz"} {
		source := filepath.Join(from, name+suffix)
		info, err := os.Stat(source)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || !info.Mode().IsRegular() {
			return false, errors.Join(fmt.Errorf("firmware: %s is no file", source), err)
		}
		if suffix == "" {
			t.addFile(to, source, 0o644)
			return true, nil
		}
		t[to] = func() (cpio.Record, error) {
			raw, err := readPacked(source)
			return cpio.StaticFile(to, string(raw), 0o644), err
		}
		return true, nil
	}
	return false, nil
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
