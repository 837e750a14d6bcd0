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

// syslinux is a configuration of syslinux or extlinux
// (https://wiki.syslinux.org/wiki/index.php?title=Config).
type syslinux struct {
	fallback string // DEFAULT
	menu     bool   // a menu program shows the labels
	prompt   bool
	timeout  int // tenths of a second; 0 waits for ever
	append   *string
	labels   []*syslinuxLabel
}

// syslinuxLabel is a LABEL.
type syslinuxLabel struct {
	name, title, kernel, initrd string
	append                      *string // nil: the configuration's
	menuDefault                 bool
}

// silent are keywords without an effect on the boot.
var silent = []string{"serial", "console", "font", "kbdmap", "display", "say", "f1", "f2", "f3", "f4", "f5", "f6", "f7",
	"f8", "f9", "f10", "f11", "f12", "noescape", "nocomplete", "allowoptions", "implicit", "onerror", "text", "endtext",
	"path", "nohalt", "easteregg"}

// silentMenu are the keywords of menus likewise, behind MENU.
var silentMenu = []string{"title", "label", "background", "color", "colour", "msgcolor", "msgcolour", "width", "margin",
	"rows", "tabmsg", "tabmsgrow", "cmdlinerow", "endrow", "passwordrow", "passwordmargin", "timeoutrow", "helpmsgrow",
	"helpmsgendrow", "hshift", "vshift", "hidden", "hiddenrow", "clear", "shiftkey", "resolution", "separator", "indent",
	"disabled", "autoboot", "notabmsg", "immediate", "noimmediate"}

// parseSyslinux reads a configuration, and refuses the keywords that it does not know.
func parseSyslinux(text string) (syslinux, error) {
	var c syslinux
	inText := false
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(line), "\t", " "), " ")
		key, value = strings.ToLower(key), strings.TrimSpace(value)
		if inText || key == "text" {
			inText = key != "endtext"
			continue
		}
		if key == "" || strings.HasPrefix(key, "#") || slices.Contains(silent, key) {
			continue
		}
		if err := c.set(key, value); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *syslinux) set(key, value string) error {
	switch key {
	case "default":
		c.fallback = value
	case "ui":
		c.menu = true
		return onlyMenu(value)
	case "prompt":
		c.prompt = value != "0"
	case "timeout":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return fmt.Errorf("TIMEOUT %q: expected tenths of a second", value)
		}
		c.timeout = n
	case "menu":
		return c.setMenu(value)
	case "label":
		for _, l := range c.labels {
			if l.name == value {
				return fmt.Errorf("it has two labels %s", value)
			}
		}
		c.labels = append(c.labels, &syslinuxLabel{name: value, title: value})
	case "append":
		c.setAppend(value)
	case "kernel", "linux", "initrd":
		if len(c.labels) == 0 {
			return fmt.Errorf("%s before the first LABEL", strings.ToUpper(key))
		}
		l := c.labels[len(c.labels)-1]
		if key == "initrd" {
			l.initrd = value
			return nil
		}
		l.kernel = value
		if key == "kernel" && isOtherKind(value) {
			l.kernel = "" // no Linux: refused if chosen
		}
	case "localboot", "com32", "config", "boot", "bss", "pxe", "fdimage", "comboot":
		if len(c.labels) == 0 {
			return fmt.Errorf("%s before the first LABEL", strings.ToUpper(key))
		}
	default:
		return fmt.Errorf("the keyword %s, of unknown effect", strings.ToUpper(key))
	}
	return nil
}

func (c *syslinux) setAppend(value string) {
	if len(c.labels) == 0 {
		c.append = &value
		return
	}
	if value == "-" {
		value = ""
	}
	c.labels[len(c.labels)-1].append = &value
}

func (c *syslinux) setMenu(value string) error {
	word, rest, _ := strings.Cut(value, " ")
	switch word = strings.ToLower(word); {
	case word == "default" && rest == "" && len(c.labels) > 0:
		c.labels[len(c.labels)-1].menuDefault = true
	case word == "label" && len(c.labels) > 0:
		c.labels[len(c.labels)-1].title = strings.ReplaceAll(rest, "^", "")
	case !slices.Contains(silentMenu, word):
		return fmt.Errorf("the keyword MENU %s, of unknown effect", strings.ToUpper(word))
	}
	return nil
}

// isOtherKind reports whether KERNEL names something other than Linux, by its extension.
func isOtherKind(name string) bool {
	return slices.Contains([]string{".c32", ".com", ".cbt", ".0", ".bin", ".bs", ".bss", ".img"},
		strings.ToLower(path.Ext(name)))
}

// onlyMenu refuses programs other than the two menus.
func onlyMenu(program string) error {
	if name := path.Base(program); name != "menu.c32" && name != "vesamenu.c32" {
		return fmt.Errorf("its entry is chosen by the program %s", program)
	}
	return nil
}

// choose is the label that boots without input from a keyboard.
func (c syslinux) choose() (*syslinuxLabel, error) {
	menu := c.menu
	if strings.EqualFold(path.Ext(c.fallback), ".c32") {
		if err := onlyMenu(c.fallback); err != nil {
			return nil, err
		}
		menu = true
	}
	if (menu || c.prompt) && c.timeout == 0 {
		return nil, errors.New("it waits for a choice at the keyboard: it has no TIMEOUT")
	}
	var found []*syslinuxLabel
	for _, l := range c.labels {
		if menu && l.menuDefault || !menu && l.name == c.fallback {
			found = append(found, l)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if menu {
		return nil, fmt.Errorf("expected one label with MENU DEFAULT, found %d", len(found))
	}
	return nil, fmt.Errorf("DEFAULT %q: expected the name of a label", c.fallback)
}

// entry resolves a label with its files in a folder. The command line is the one by syslinux, with initrd= at its end
// where the label has it as a keyword.
func (l *syslinuxLabel) entry(files fs.FS, folder string) (e Entry, err error) {
	if l.kernel == "" {
		return e, errors.New("it boots no Linux")
	}
	line := ""
	if l.append != nil {
		line = *l.append
	}
	initrd := l.initrd
	words := strings.Fields(line)
	for _, word := range words {
		value, is := strings.CutPrefix(word, "initrd=")
		if is && initrd != "" {
			return e, errors.New("it names an initial ramdisk twice")
		}
		if is {
			initrd = value
		}
	}
	if l.initrd != "" {
		words = append(words, "initrd="+l.initrd)
	}
	e = Entry{Source: sourceSyslinux, Title: l.title,
		CommandLine: strings.Join(append([]string{"BOOT_IMAGE=" + l.kernel}, words...), " ")}
	at := func(name string) (Blob, error) {
		if strings.Contains(name, ":") {
			return Blob{}, fmt.Errorf("%s is on another partition", name)
		}
		if !path.IsAbs(name) {
			name = path.Join(folder, name)
		}
		return wholeFile(files, name)
	}
	if e.Kernel, err = at(l.kernel); err != nil || initrd == "" {
		return e, err
	}
	for name := range strings.SplitSeq(initrd, ",") {
		b, err := at(name)
		if err != nil {
			return e, err
		}
		e.Initrd = append(e.Initrd, b)
	}
	return e, nil
}
