package bootentry

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// typeXBOOTLDR is the partition with further boot entries.
const typeXBOOTLDR = "bc13c2ff-59e6-4262-a352-b275fd6f7172"

// oldestSystemdBoot is the first version that sorts entries as we do.
const oldestSystemdBoot = 250

// sdEntry is a boot entry of systemd-boot.
type sdEntry struct {
	id, file                  string // the file's name: in small letters without its counter, and as it is
	sortKey, machine, version string
	left, done                int // tries; -1 where they are not counted
	bls                       blsEntry
	uki                       *uki
	files                     fs.FS
}

// bySystemdBoot chooses as systemd-boot does without input from a keyboard.
func (s System) bySystemdBoot(esp *Partition, files fs.FS, version string) (Entry, error) {
	rest := version // 252.39-1~deb12u1, 257~rc1
	number := take(&rest, func(r rune) bool { return r >= '0' && r <= '9' })
	if n, err := strconv.Atoi(number); err != nil || n < oldestSystemdBoot {
		return Entry{}, fmt.Errorf("systemd-boot %s: expected %d or newer, others sort entries in other ways", version,
			oldestSystemdBoot)
	}
	wish, err := loaderConf(files)
	if err != nil {
		return Entry{}, fmt.Errorf("/loader/loader.conf: %w", err)
	}
	all, err := s.sdEntries(files)
	if err != nil {
		return Entry{}, err
	}
	for _, p := range s.Partitions {
		if p == esp || !strings.EqualFold(p.Type, typeXBOOTLDR) {
			continue
		}
		more, err := p.Open()
		if err != nil {
			return Entry{}, fmt.Errorf("%s: %w", p, err)
		}
		found, err := s.sdEntries(more)
		if err != nil {
			return Entry{}, fmt.Errorf("%s: %w", p, err)
		}
		all = append(all, found...)
	}
	e, err := chooseSD(all, wish)
	if err != nil {
		return Entry{}, err
	}
	return e.entry(s)
}

// quietKeys are the keys of loader.conf that do not choose an entry.
var quietKeys = []string{"console-mode", "editor", "auto-entries", "auto-firmware", "beep", "secure-boot-enroll",
	"random-seed-mode", "auto-reboot", "auto-poweroff", "log-level", "reboot-on-error"}

// loaderConf reads the pattern of the default entry; "" without one (loader.conf(5)).
func loaderConf(files fs.FS) (string, error) {
	text, err := readText(files, "/loader/loader.conf")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	wish := ""
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		value := strings.Join(words[1:], " ")
		switch {
		case words[0] == "default":
			wish = strings.ToLower(value)
		case words[0] == "timeout" && value == "menu-force":
			return "", errors.New("timeout menu-force waits for a choice at the keyboard")
		case words[0] != "timeout" && !slices.Contains(quietKeys, words[0]):
			return "", fmt.Errorf("the key %s, of unknown effect", words[0])
		}
	}
	if strings.HasPrefix(wish, "@") {
		return "", fmt.Errorf("default %s, which an EFI variable decides", wish)
	}
	return wish, nil
}

// sdEntries lists the entries of a partition, of both types.
func (s System) sdEntries(files fs.FS) ([]sdEntry, error) {
	var all []sdEntry
	confs, err := listed(files, "/loader/entries")
	if err != nil {
		return nil, err
	}
	for _, c := range confs {
		e, ok, err := s.typeOne(files, c.Name())
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, e)
		}
	}
	images, err := listed(files, "/EFI/Linux")
	if err != nil {
		return nil, err
	}
	for _, i := range images {
		if i.IsDir() || !strings.EqualFold(path.Ext(i.Name()), ".efi") {
			continue
		}
		u, err := readUKI(files, "/EFI/Linux/"+i.Name())
		if errors.Is(err, errNotUKI) || errors.Is(err, errNotPE) {
			continue // systemd-boot passes over it likewise
		}
		if err != nil {
			return nil, err
		}
		e := newSDEntry(i.Name(), ".efi", files)
		e.uki = &u
		e.sortKey = u.first("", "IMAGE_ID", "ID")
		e.version = u.first("", "IMAGE_VERSION", "VERSION", "VERSION_ID", "BUILD_ID")
		all = append(all, e)
	}
	return all, nil
}

// typeOne reads a file of entries; false where systemd-boot would not list it.
func (s System) typeOne(files fs.FS, name string) (e sdEntry, ok bool, err error) {
	lower := strings.ToLower(name)
	if !strings.HasSuffix(lower, ".conf") || strings.HasPrefix(lower, "auto-") {
		return e, false, nil
	}
	text, err := readText(files, "/loader/entries/"+name)
	if err != nil {
		return e, false, err
	}
	e = newSDEntry(name, ".conf", files)
	e.bls = parseBLS(name, text)
	e.sortKey, e.machine, e.version = e.bls.sortKey, e.bls.machine, e.bls.version
	own := map[string]string{"amd64": "x64", "arm64": "aa64", "386": "ia32", "riscv64": "riscv64"}[s.Arch]
	if e.bls.arch != "" && !strings.EqualFold(e.bls.arch, own) {
		return e, false, nil
	}
	program := e.bls.linux
	if program == "" {
		program = e.bls.efi
	}
	if program == "" {
		return e, false, nil
	}
	ok, err = exists(files, program)
	return e, ok, err
}

// newSDEntry takes the counter of tries out of a file's name: name+LEFT-DONE.conf
// (systemd's Automatic Boot Assessment).
func newSDEntry(name, suffix string, files fs.FS) sdEntry {
	e := sdEntry{file: name, id: strings.ToLower(name), left: -1, done: -1, files: files}
	stem := e.id[:len(e.id)-len(suffix)]
	at := strings.LastIndexByte(stem, '+')
	if at < 0 {
		return e
	}
	left, done, counted := strings.Cut(stem[at+1:], "-")
	n, err := strconv.ParseUint(left, 10, 31)
	if err != nil {
		return e
	}
	m := uint64(0)
	if counted {
		if m, err = strconv.ParseUint(done, 10, 31); err != nil {
			return e
		}
	}
	e.left, e.done, e.id = int(n), int(m), stem[:at]+suffix
	return e
}

// chooseSD is the entry that matches a pattern, else the first, in systemd-boot's order.
func chooseSD(all []sdEntry, wish string) (sdEntry, error) {
	if len(all) == 0 {
		return sdEntry{}, errors.New("systemd-boot has no entries: expected some in /loader/entries or /EFI/Linux")
	}
	slices.SortStableFunc(all, compareSD)
	best := all[0]
	if wish != "" {
		at := slices.IndexFunc(all, func(e sdEntry) bool {
			is, err := path.Match(wish, e.id)
			return is && err == nil
		})
		if at < 0 {
			return best, fmt.Errorf("the default %s of systemd-boot is none of its entries: %s", wish, ids(all))
		}
		best = all[at]
	}
	for _, e := range all {
		if e.file != best.file && compareSD(e, best) == 0 {
			return best, fmt.Errorf("systemd-boot could boot %s or %s", best.file, e.file)
		}
	}
	if best.left == 0 {
		return best, fmt.Errorf("%s has no tries left", best.file)
	}
	return best, nil
}

func ids(all []sdEntry) string {
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.id
	}
	return strings.Join(names, ", ")
}

// entry is the kernel and its parameters, as systemd-boot passes them. Words for the kernel's own EFI stub, initrd=,
// are not among them.
func (e sdEntry) entry(s System) (out Entry, err error) {
	if e.uki != nil {
		if e.uki.profiles > 1 {
			return out, fmt.Errorf("%s has %d profiles, each an entry of its own", e.file, e.uki.profiles)
		}
		return e.uki.entry(s)
	}
	if err := e.bls.check(); err != nil {
		return out, err
	}
	out = Entry{Source: sourceBLS, Title: e.bls.name(), CommandLine: strings.Join(e.bls.options, " ")}
	if out.Kernel, err = wholeFile(e.files, e.bls.linux); err != nil {
		return out, err
	}
	if _, err := readUKI(e.files, e.bls.linux); err == nil {
		return out, fmt.Errorf("entry %s gives options to %s, a unified kernel image", e.file, e.bls.linux)
	}
	for _, name := range e.bls.initrd {
		b, err := wholeFile(e.files, name)
		if err != nil {
			return out, err
		}
		out.Initrd = append(out.Initrd, b)
	}
	return out, rootKnown(s, out)
}
