package ramdisk

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/u-root/mkuimage/cpio"

	"github.com/ferrite-metal/ferrite/images/ramdisk/debian"
)

// rescueTools are the programs that mend an installed system, by Debian's package. "a=b" is program a, and a link b to
// it.
var rescueTools = []struct {
	pkg      string
	programs []string
}{
	{"coreutils", []string{"chroot"}},
	{"util-linux", []string{"fsck", "lsblk", "blkid", "wipefs", "findfs"}},
	{"fdisk", []string{"fdisk", "sfdisk"}},
	{"e2fsprogs", []string{"e2fsck=fsck.ext4", "resize2fs", "tune2fs"}},
	{"xfsprogs", []string{"xfs_repair"}},
	{"dosfstools", []string{"fsck.fat=fsck.vfat"}},
	{"mdadm", []string{"mdadm"}},
	{"lvm2", []string{"lvm=lvs", "lvm=pvs", "lvm=vgs", "lvm=lvchange", "lvm=vgchange", "lvm=pvscan", "lvm=vgscan"}},
	{"dmsetup", []string{"dmsetup"}},
	{"cryptsetup-bin", []string{"cryptsetup"}},
	{"tar", []string{"tar"}},
	{"vim-tiny", []string{"vim.tiny=vi"}},
	{"passwd", []string{"passwd", "chpasswd", "usermod"}},
}

// terminals are the descriptions that vi needs, of consoles and of common clients.
var terminals = []string{"l/linux", "s/screen", "s/screen-256color", "v/vt100", "v/vt220", "x/xterm",
	"x/xterm-256color"}

// Where the tools and their libraries are in the ramdisk. Debian's loader looks there without a cache.
const (
	toolPlace     = "usr/sbin"
	libraryPlace  = "lib/x86_64-linux-gnu"
	terminalPlace = "lib/terminfo"
)

// toolPackage is one unpacked package.
type toolPackage struct {
	debian.Package
	dir string
}

// tools adds programs with their libraries to a tree.
type tools struct {
	ctx      context.Context
	recipe   Recipe
	tree     tree
	packages []toolPackage
	pending  []string        // libraries that packages depend on, not unpacked yet
	seen     map[string]bool // packages unpacked or pending
	added    map[string]bool // libraries in the tree
	used     []Component     // packages with files in the tree
}

// addRescueTools adds the rescue tools. It returns the packages that they are of.
func (r Recipe) addRescueTools(ctx context.Context, t tree) ([]Component, error) {
	if !r.Site.RescueTools {
		return nil, nil
	}
	s := &tools{ctx: ctx, recipe: r, tree: t, seen: map[string]bool{}, added: map[string]bool{}}
	for _, name := range []string{terminalPackage, libraryPackages["libc"]} {
		if err := s.unpack(name); err != nil {
			return nil, fmt.Errorf("rescue tools: %w", err)
		}
	}
	for _, tool := range rescueTools {
		if err := s.unpack(tool.pkg); err != nil {
			return nil, fmt.Errorf("rescue tools: %w", err)
		}
		for _, program := range tool.programs {
			if err := s.addProgram(tool.pkg, program); err != nil {
				return nil, fmt.Errorf("rescue tools: package %s: %w", tool.pkg, err)
			}
		}
	}
	// Threads that end load it when they do (pthread_exit), cryptsetup's among them.
	if err := s.addLibrary("libgcc_s.so.1"); err != nil {
		return nil, fmt.Errorf("rescue tools: %w", err)
	}
	err := s.addTerminals()
	return s.used, err
}

// unpack unpacks a package and notes which libraries it depends on. Other dependencies are for programs that are left
// out.
func (s *tools) unpack(name string) error {
	s.seen[name] = true
	r := s.recipe
	p, err := r.Archive.Find(s.ctx, name, "")
	if err != nil {
		return err
	}
	dir, err := unpacked(s.ctx, r.Archive, p, purpose{folder: "tools", want: ofTool}, r.CacheDir, r.Log)
	if err != nil {
		return err
	}
	s.packages = append(s.packages, toolPackage{Package: p, dir: dir})
	for _, dep := range p.Depends {
		if (strings.HasPrefix(dep, "lib") || dep == libraryPackages["libz"]) && !s.seen[dep] {
			s.seen[dep] = true
			s.pending = append(s.pending, dep)
		}
	}
	return nil
}

// libraryPackages are the packages with names that do not follow from their libraries' names.
var libraryPackages = map[string]string{"libc": "libc6", "libz": "zlib1g", "libcrypto": "libssl3",
	"libgcc_s": "libgcc-s1"}

// terminalPackage has the terminals.
const terminalPackage = "ncurses-base"

// unpackFor unpacks the package that should have a library, by the rule for names of packages (Debian Policy, 8.1), or
// the next candidate. It returns false once there is none.
func (s *tools) unpackFor(library string) (bool, error) {
	if len(s.pending) == 0 {
		return false, nil
	}
	stem, version, _ := strings.Cut(library, ".so.")
	i := max(0, slices.IndexFunc(s.pending, func(name string) bool {
		name = strings.TrimSuffix(name, "t64") // built with 64 bits of time, from Debian 13 on
		return name == libraryPackages[stem] || name == stem+version || name == stem+"-"+version
	}))
	name := s.pending[i]
	s.pending = slices.Delete(s.pending, i, i+1)
	err := s.unpack(name)
	if errors.Is(err, debian.ErrNoPackage) {
		return true, nil // a name that others provide: a library that is missing shows by itself
	}
	return true, err
}

func ofTool(name string) bool {
	name = strings.TrimPrefix(name, "usr/")
	for _, place := range []string{"bin/", "sbin/", "lib64/", libraryPlace + "/", terminalPlace + "/"} {
		if strings.HasPrefix(name, place) {
			return !strings.HasPrefix(name, libraryPlace+"/gconv/")
		}
	}
	return isCopyright(name)
}

// addProgram adds "program" or "program=link" of a package.
func (s *tools) addProgram(pkg, text string) error {
	name, link, isLink := strings.Cut(text, "=")
	if isLink {
		s.tree.addRecord(cpio.Symlink(path.Join(toolPlace, link), name))
	}
	for _, p := range s.packages {
		if p.Name != pkg {
			continue
		}
		for _, place := range []string{"usr/sbin", "usr/bin", "sbin", "bin"} {
			file, err := p.find(path.Join(place, name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			s.tree.addFile(path.Join(toolPlace, name), file, 0o755)
			s.addLicence(p)
			return s.addNeeded(file)
		}
	}
	return fmt.Errorf("it has no program %s", name)
}

// addNeeded adds the loader of a program, and the libraries of a program or a library.
func (s *tools) addNeeded(file string) error {
	f, err := elf.Open(file)
	if err != nil {
		return fmt.Errorf("%s: expected an ELF program: %w", file, err)
	}
	defer f.Close() //nolint:errcheck // only read from
	for _, segment := range f.Progs {
		if segment.Type != elf.PT_INTERP {
			continue
		}
		loader := make([]byte, min(segment.Filesz, 256))
		if _, err := segment.ReadAt(loader, 0); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := s.addLoader(strings.Trim(string(loader), "\x00/")); err != nil {
			return fmt.Errorf("%s: %w", path.Base(file), err)
		}
	}
	names, err := f.ImportedLibraries()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, name := range names {
		if err := s.addLibrary(name); err != nil {
			return fmt.Errorf("%s: %w", path.Base(file), err)
		}
	}
	return nil
}

func (s *tools) addLoader(name string) error {
	if err := checkPath(name); err != nil {
		return err
	}
	for _, p := range s.packages {
		if file, err := p.find(name); err == nil {
			s.tree.addFile(name, file, 0o755)
			s.addLicence(p)
			return nil
		}
	}
	return fmt.Errorf("its loader /%s is in no package", name)
}

func (s *tools) addLibrary(name string) error {
	if s.added[name] || path.Base(name) != name {
		return nil
	}
	for tried := 0; ; {
		for ; tried < len(s.packages); tried++ {
			p := s.packages[tried]
			file, err := p.find(path.Join(libraryPlace, name))
			if errors.Is(err, fs.ErrNotExist) {
				file, err = p.find(path.Join("lib64", name))
			}
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			s.added[name] = true
			s.tree.addFile(path.Join(libraryPlace, name), file, 0o644)
			s.addLicence(p)
			return s.addNeeded(file)
		}
		more, err := s.unpackFor(name)
		if err != nil {
			return err
		}
		if !more {
			return fmt.Errorf("it needs library %s, which is in no package that it depends on", name)
		}
	}
}

func (s *tools) addTerminals() error {
	for _, p := range s.packages {
		if p.Name != terminalPackage {
			continue
		}
		for _, name := range terminals {
			file, err := p.find(path.Join(terminalPlace, name))
			if err != nil {
				return fmt.Errorf("rescue tools: terminal %s: %w", name, err)
			}
			s.tree.addFile(path.Join(terminalPlace, name), file, 0o644)
		}
		s.addLicence(p)
	}
	return nil
}

func (s *tools) addLicence(p toolPackage) {
	s.used = append(s.used, Component{Name: p.Name, Version: p.Version, SHA256: p.SHA256, Debian: true})
	licence := filepath.Join(p.dir, licencePath(p.Name))
	if info, err := os.Lstat(licence); err == nil && info.Mode().IsRegular() {
		s.tree.addFile(licencePath(p.Name), licence, 0o644)
	}
}

// find is a file of the package, behind its links. Debian moves files from / to /usr over time.
func (p toolPackage) find(name string) (string, error) {
	for range maxLinks {
		file := filepath.Join(p.dir, name)
		info, err := os.Lstat(file)
		if errors.Is(err, fs.ErrNotExist) && !strings.HasPrefix(name, "usr/") {
			file = filepath.Join(p.dir, "usr", name)
			info, err = os.Lstat(file)
		}
		switch {
		case err != nil:
			return "", err
		case info.Mode().IsRegular():
			return file, nil
		case info.Mode()&fs.ModeSymlink == 0:
			return "", fmt.Errorf("%s is no file", file)
		}
		target, err := os.Readlink(file)
		if err != nil {
			return "", err
		}
		if !path.IsAbs(target) {
			target = path.Join("/", path.Dir(name), target)
		}
		name = strings.TrimPrefix(path.Clean(target), "/")
	}
	return "", fmt.Errorf("%s: more than %d links lead to it", name, maxLinks)
}
