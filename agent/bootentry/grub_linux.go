package bootentry

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// linux is the command that loads a kernel.
func (g *grub) linux(args []string) error {
	switch {
	case !g.booting:
		return errors.New("linux outside of an entry")
	case len(args) == 0 || strings.HasPrefix(args[0], "-"):
		return errors.New("linux without a kernel")
	case g.entry.Kernel.Path != "":
		return errors.New("a second kernel")
	}
	b, err := g.blob(args[0])
	if err != nil {
		return fmt.Errorf("linux: %w", err)
	}
	g.entry.Kernel = b
	line := make([]string, len(args))
	for i, a := range args {
		line[i] = grubQuoted(a)
	}
	// GRUB nearly always gives the disk this name. Nothing boots by it.
	g.entry.CommandLine = "BOOT_IMAGE=" + strings.Replace(strings.Join(line, " "), "("+ourDisk+",", "(hd0,", 1)
	return nil
}

// initrd is the command that loads initial ramdisks.
func (g *grub) initrd(args []string) error {
	if !g.booting || g.entry.Kernel.Path == "" || len(g.entry.Initrd) > 0 {
		return errors.New("initrd without a kernel, or for the second time")
	}
	for _, a := range args {
		if strings.HasPrefix(a, "newc:") || strings.HasPrefix(a, "-") {
			return fmt.Errorf("initrd %s, of unknown effect", a)
		}
		b, err := g.blob(a)
		if err != nil {
			return fmt.Errorf("initrd: %w", err)
		}
		g.entry.Initrd = append(g.entry.Initrd, b)
	}
	return nil
}

// blob is a file of the disk.
func (g *grub) blob(name string) (Blob, error) {
	files, rest, err := g.open(name)
	if err != nil {
		return Blob{}, err
	}
	return wholeFile(files, rest)
}

// grubQuoted is an argument as GRUB puts it onto a command line (lib/cmdline.c).
func grubQuoted(arg string) string {
	var b strings.Builder
	for _, c := range []byte(arg) {
		if c == '\\' || c == '\'' || c == '"' {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	if strings.Contains(arg, " ") {
		return `"` + b.String() + `"`
	}
	return b.String()
}

// blscfg takes the entries of the Boot Loader Specification into the menu, as GRUB of
// Fedora, RHEL and their kin does (its patch blscfg.c).
func (g *grub) blscfg(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("blscfg %s, of unknown effect", strings.Join(args, " "))
	}
	if slices.ContainsFunc(g.menu, func(i grubItem) bool { return i.bls != nil }) {
		return errors.New("blscfg for the second time")
	}
	for _, name := range []string{"blsdir", "early_initrd", "bootprefix", "blsuki"} {
		if v := g.value(name); v.unknown || v.text != "" {
			return fmt.Errorf("blscfg with the variable %s, of unknown effect", name)
		}
	}
	at := g.value("boot")
	if at.text == "" && !at.unknown {
		at = g.value("root")
	}
	if at.unknown {
		return fmt.Errorf("the variable boot, %w", errUnknown)
	}
	p, err := g.sys.partitionOf(at.text)
	if err != nil {
		return err
	}
	files, err := p.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	n := 0
	for _, folder := range []string{"/loader/entries", "/boot/loader/entries"} {
		entries, err := listed(files, folder)
		if err != nil {
			return err
		}
		before := len(g.menu)
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".conf") {
				continue
			}
			text, err := readText(files, path.Join(folder, e.Name()))
			if err != nil {
				return err
			}
			b := parseBLS(strings.TrimSuffix(e.Name(), ".conf"), text)
			g.menu = append(g.menu, grubItem{title: b.name(), id: b.file, source: sourceBLS, bls: &b,
				open: b.open, args: []grubValue{{text: b.name()}}})
		}
		if len(g.menu) > before {
			n++
		}
	}
	if n != 1 {
		return fmt.Errorf("%s: expected boot entries in /loader/entries or else in /boot/loader/entries, found %d folders "+
			"with some", p, n)
	}
	return nil
}

// startBLS boots an entry of the Boot Loader Specification. Its values are words of a
// script: $kernelopts and $tuned_params are variables.
func (g *grub) startBLS(e blsEntry) error {
	if err := e.check(); err != nil {
		return err
	}
	if len(e.options) == 0 {
		return errors.New("it has no options")
	}
	words := func(text string) ([]string, error) {
		tokens, err := lexGRUB(text)
		if err != nil {
			return nil, err
		}
		var list []grubWord
		for _, t := range tokens {
			if t.kind != 'w' {
				return nil, fmt.Errorf("found %q in %q", t.kind, text)
			}
			list = append(list, t.word)
		}
		return known(g.expand(list))
	}
	line, err := words(e.linux + " " + strings.Join(e.options, " "))
	if err != nil {
		return err
	}
	if err := g.linux(line); err != nil {
		return err
	}
	images, err := words(strings.Join(e.initrd, " "))
	if err != nil || len(images) == 0 {
		return err
	}
	return g.initrd(images)
}
