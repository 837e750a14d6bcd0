package ramdisk

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// modInfo is the section .modinfo of one module.
type modInfo struct {
	file     string // path below lib/modules/<release>
	depends  []string
	aliases  []string
	softdeps []string // as "pre: a b post: c"
	firmware []string
}

// readModInfo reads a module's section .modinfo (modinfo(8)), which has name=value, each ended by a zero byte.
func readModInfo(module string) (modInfo, error) {
	info := modInfo{}
	raw, err := modInfoSection(module)
	if err != nil {
		return modInfo{}, fmt.Errorf("module %s: %w", module, err)
	}
	for field := range bytes.SplitSeq(raw, []byte{0}) {
		name, value, _ := strings.Cut(string(field), "=")
		switch name {
		case "depends":
			info.depends = append(info.depends, strings.FieldsFunc(value, func(r rune) bool { return r == ',' })...)
		case "alias":
			info.aliases = append(info.aliases, value)
		case "softdep":
			info.softdeps = append(info.softdeps, value)
		case "firmware":
			info.firmware = append(info.firmware, value)
		}
	}
	return info, nil
}

// modInfoSection reads no more of a module than it must, unless the module is packed.
func modInfoSection(module string) ([]byte, error) {
	open := func() (*elf.File, error) { return elf.Open(module) }
	if path.Ext(module) != ".ko" {
		raw, err := readPacked(module)
		if err != nil {
			return nil, err
		}
		open = func() (*elf.File, error) { return elf.NewFile(bytes.NewReader(raw)) }
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	section := f.Section(".modinfo")
	if section == nil {
		return nil, nil
	}
	return section.Data()
}

// indexModules writes the lists that depmod(8) makes, modules.dep, modules.alias and modules.softdep, into a folder
// lib/modules/<release>. Debian's packages have modules.builtin and modules.order alone: their scripts run depmod on
// the machine they are installed on.
func indexModules(dir string) error {
	infos, err := readModules(dir)
	if err != nil {
		return err
	}
	builtin := map[string]bool{}
	err = eachLine(os.DirFS(dir), "modules.builtin", func(line string) error {
		builtin[moduleName(line)] = true
		return nil
	})
	if err != nil {
		return err
	}
	deps, err := dependencyLists(infos, builtin)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"modules.dep": deps, "modules.alias": aliasList(infos),
		"modules.softdep": softdepList(infos)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("index modules: %w", err)
		}
	}
	return nil
}

// readModules reads all modules of a folder, in the order of modules.order, which decides between two modules for one
// device; those that it does not name follow.
func readModules(dir string) ([]modInfo, error) {
	order := map[string]int{}
	if text, err := os.ReadFile(filepath.Join(dir, "modules.order")); err == nil {
		lines := bufio.NewScanner(bytes.NewReader(text))
		for lines.Scan() {
			order[moduleName(lines.Text())] = len(order) - 1<<30
		}
	}
	var infos []modInfo
	err := filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !isModule(file) {
			return err
		}
		info, err := readModInfo(file)
		if err != nil {
			return err
		}
		info.file, err = filepath.Rel(dir, file)
		infos = append(infos, info)
		return err
	})
	if err == nil && len(infos) == 0 {
		err = fmt.Errorf("%s has no modules (*.ko)", dir)
	}
	slices.SortStableFunc(infos, func(a, b modInfo) int { return order[moduleName(a.file)] - order[moduleName(b.file)] })
	return infos, err
}

func isModule(file string) bool {
	for _, suffix := range []string{".ko", ".ko.xz", ".ko.zst", ".ko.gz"} {
		if strings.HasSuffix(file, suffix) {
			return true
		}
	}
	return false
}

// dependencyLists is modules.dep: to each module all that it needs, the nearest first.
func dependencyLists(infos []modInfo, builtin map[string]bool) (string, error) {
	byName := map[string]modInfo{}
	for _, info := range infos {
		byName[moduleName(info.file)] = info
	}
	var text strings.Builder
	var missing error
	for _, info := range infos {
		var needs []string
		seen := map[string]bool{}
		var visit func(of modInfo)
		visit = func(of modInfo) {
			for _, name := range of.depends {
				dep, ok := byName[canonical(name)]
				switch {
				case !ok && !builtin[canonical(name)]:
					missing = errors.Join(missing, fmt.Errorf("module %s needs %s, which is not there", moduleName(of.file), name))
				case ok && !seen[dep.file]:
					seen[dep.file] = true
					visit(dep)
					needs = append(needs, dep.file)
				}
			}
		}
		seen[info.file] = true
		visit(info)
		slices.Reverse(needs)
		fmt.Fprintln(&text, strings.TrimRight(info.file+": "+strings.Join(needs, " "), " "))
	}
	return text.String(), missing
}

func aliasList(infos []modInfo) string {
	var text strings.Builder
	for _, info := range infos {
		for _, a := range info.aliases {
			fmt.Fprintf(&text, "alias %s %s\n", a, moduleName(info.file))
		}
	}
	return text.String()
}

func softdepList(infos []modInfo) string {
	var text strings.Builder
	for _, info := range infos {
		for _, s := range info.softdeps {
			fmt.Fprintf(&text, "softdep %s %s\n", moduleName(info.file), s)
		}
	}
	return text.String()
}
