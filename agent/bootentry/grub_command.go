package bootentry

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// harmless are commands without an effect on the boot, and their exit status if it is known. For most of them it is
// not, since no script asks. save_env writes values that GRUB and the system share over boots; it is not done.
var harmless = []string{"insmod", "loadfont", "font", "terminal_output", "terminal_input", "terminal", "serial",
	"background_image", "background_color", "play", "echo", "save_env", "sleep", "hwmatch", "gettext", "clear", "keymap",
	"videoinfo", "cat", "cpuid", "rmmod", "lsmod", "password", "password_pbkdf2", "fwsetup",
	"terminfo"}

// command runs one command.
func (g *grub) command(s grubStatement) (outcome, error) {
	if len(s.words) == 0 {
		return yes, nil
	}
	if name := s.words[0].bare(); s.menu {
		return g.item(name, s)
	}
	if s.words[0].bare() == "!" {
		s.words = s.words[1:]
		end, err := g.command(s)
		return map[outcome]outcome{yes: no, no: yes, unknown: unknown}[end], err
	}
	words := g.expand(s.words)
	if len(words) == 0 {
		return yes, nil
	}
	name, args := words[0].text, words[1:]
	if variable, value, ok := strings.Cut(name, "="); ok && isVariable(variable) {
		g.assign(variable, grubValue{value, words[0].unknown})
		return yes, nil
	}
	if words[0].unknown {
		return no, fmt.Errorf("a command by variable, %w", errUnknown)
	}
	if f, ok := g.functions[name]; ok {
		return g.call(f, args)
	}
	switch name {
	case "set":
		return yes, g.setAll(args)
	case "unset":
		for _, a := range args {
			g.assign(a.text, grubValue{})
		}
		return yes, nil
	case "export":
		for _, a := range args {
			g.exported[a.text] = true
		}
		return yes, nil
	case "increment", "decrement":
		for _, a := range args {
			g.env[a.text] = grubValue{unknown: true}
		}
		return yes, nil
	case "true", ":":
		return yes, nil
	case "false":
		return no, nil
	case "[", "test":
		return g.test(name, args)
	}
	if slices.Contains(harmless, name) {
		if name == "hwmatch" {
			g.env["match"] = grubValue{unknown: true}
		}
		return g.ended(name, args), nil
	}
	return g.deciding(name, args)
}

// ended is the end of a harmless command, where it is known.
func (g *grub) ended(name string, args []grubValue) outcome {
	if name == "echo" || name == "save_env" || name == "cpuid" && len(args) == 1 && args[0].text == "-l" && g.sys.UEFI {
		return yes
	}
	return unknown
}

// deciding runs a command that decides about the entry. Its arguments must be known.
func (g *grub) deciding(name string, args []grubValue) (outcome, error) {
	if g.unsure > 0 {
		return no, fmt.Errorf("%s, %w", name, errUnknown)
	}
	text, err := known(args)
	if err != nil {
		return no, fmt.Errorf("%s: %w", name, err)
	}
	switch name {
	case "search", "search.fs_uuid", "search.fs_label", "search.file":
		return g.search(name, text)
	case "load_env":
		return g.loadEnv(text)
	case "source", ".", "configfile":
		return g.source(name, text)
	case "normal":
		return yes, g.normalMode(text)
	case "blscfg":
		return yes, g.blscfg(text)
	case "linux", "linuxefi", "linux16":
		return yes, g.linux(text)
	case "initrd", "initrdefi", "initrd16":
		return yes, g.initrd(text)
	}
	return no, fmt.Errorf("the command %s, of unknown effect", name)
}

// known are the texts of values that are all known.
func known(values []grubValue) ([]string, error) {
	texts := make([]string, len(values))
	for i, v := range values {
		if v.unknown {
			return nil, fmt.Errorf("argument %d, %w", i+1, errUnknown)
		}
		texts[i] = v.text
	}
	return texts, nil
}

func isVariable(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool { return !isName(r) }) < 0
}

// call runs a function.
func (g *grub) call(body []grubStatement, args []grubValue) (outcome, error) {
	if g.depth++; g.depth > maxGRUBDepth {
		return no, errors.New("functions that call each other without end")
	}
	before := g.args
	g.args = args
	defer func() { g.args, g.depth = before, g.depth-1 }()
	return g.run(body)
}

func (g *grub) setAll(args []grubValue) error {
	for _, a := range args {
		name, value, ok := strings.Cut(a.text, "=")
		if !ok || !isVariable(name) {
			return fmt.Errorf("set %s: expected name=value", a.text)
		}
		if name == "btrfs_relative_path" && value != "" {
			return errors.New("its paths begin at the default subvolume of btrfs, as SUSE has it")
		}
		g.assign(name, grubValue{value, a.unknown})
	}
	return nil
}

// item is menuentry or submenu: it takes an entry into the menu.
func (g *grub) item(name string, s grubStatement) (outcome, error) {
	if name != "menuentry" && name != "submenu" {
		return no, fmt.Errorf("%s with a block, of unknown effect", name)
	}
	i := grubItem{sub: name == "submenu", unsure: g.unsure > 0, body: s.block, source: sourceGRUB}
	args := g.expand(s.words[1:])
	texts, err := known(args)
	if err != nil {
		return no, fmt.Errorf("%s: %w", name, err)
	}
	var free []string
	for n := 0; n < len(texts); n++ {
		switch word := texts[n]; word {
		case "--class", "--users", "--hotkey", "--source":
			n++
		case "--id":
			if n++; n < len(texts) {
				i.id = texts[n]
			}
		case "--unrestricted":
			i.open = true
		default:
			if v, ok := strings.CutPrefix(word, "--id="); ok {
				i.id = v
			} else if !strings.HasPrefix(word, "--") {
				free = append(free, word)
				i.args = append(i.args, grubValue{text: word})
			}
		}
	}
	if len(free) == 0 {
		return no, fmt.Errorf("%s without a title", name)
	}
	i.title = free[0]
	g.menu = append(g.menu, i)
	return yes, nil
}
