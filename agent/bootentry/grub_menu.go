package bootentry

import (
	"errors"
	"fmt"
	"strings"
)

// boot runs a script, and boots from its menu if it has one. The error is a chosen one
// then; without a menu it is nil.
func (g *grub) boot(name string) error {
	files, rest, err := g.open(name)
	if err != nil {
		return err
	}
	is, err := exists(files, rest)
	if err != nil || !is {
		return errors.Join(err, fmt.Errorf("there is no %s", rest))
	}
	if _, err := g.script(name); err != nil || len(g.menu) == 0 {
		return err
	}
	if err := g.choose(); err != nil {
		var c chosen
		if errors.As(err, &c) {
			return err
		}
		return fmt.Errorf("%s: %w", rest, err)
	}
	return nil
}

// choose boots the default entry, as without input from a keyboard.
func (g *grub) choose() error {
	if t := g.value("timeout"); !t.unknown && (t.text == "" || strings.HasPrefix(t.text, "-")) {
		return errors.New("GRUB waits for a choice at the keyboard: it has no timeout")
	}
	wish := g.value("default")
	if wish.unknown {
		return fmt.Errorf("the default entry, %w", errUnknown)
	}
	return g.start(g.menu, wish.text, 0)
}

// start boots an entry of a menu: its number, id or title, and behind > the entry of its submenu.
func (g *grub) start(menu []grubItem, wish string, depth int) error {
	i, rest, err := pick(menu, wish)
	switch {
	case err != nil:
		return err
	case depth > maxNested:
		return fmt.Errorf("submenus nest deeper than %d", maxNested)
	case i.unsure:
		return fmt.Errorf("the default entry %q may not be there, %w", i.title, errUnknown)
	case !i.open && g.value("superusers").text != "":
		return fmt.Errorf("entry %q asks for a password", i.title)
	}
	g.args = i.args
	if i.sub {
		if rest == "" {
			return fmt.Errorf("the default entry %q is a submenu", i.title)
		}
		g.menu = nil
		if _, err := g.run(i.body); err != nil {
			return err
		}
		return g.start(g.menu, rest, depth+1)
	}
	g.booting, g.entry = true, Entry{Source: i.source, Title: i.title}
	g.env["chosen"] = grubValue{unknown: true}
	if i.bls != nil {
		err = g.startBLS(*i.bls)
	} else {
		_, err = g.run(i.body)
	}
	if err == nil && g.entry.Kernel.Path == "" {
		err = errors.New("it boots no Linux")
	}
	if err != nil {
		return fmt.Errorf("entry %q: %w", i.title, err)
	}
	return chosen{g.entry}
}

// pick is the menu entry that a default names, and the rest of the name, for its submenu. Where none fits, GRUB takes
// the first (normal/menu.c, get_entry_number).
func pick(menu []grubItem, wish string) (i grubItem, rest string, err error) {
	if len(menu) == 0 {
		return i, "", errors.New("a menu without entries")
	}
	if strings.Contains(wish, `\`) {
		return i, "", fmt.Errorf("the default %q, of unknown effect", wish)
	}
	at := -1
	first, rest, _ := strings.Cut(wish, ">")
	if n, is := asNumber(strings.TrimSpace(first)); is {
		at = n
	} else {
		for n, m := range menu {
			if m.title == wish || m.id == wish { // a title may have a > of its own
				first, rest = wish, ""
			}
			if m.title == first || m.id != "" && m.id == first {
				at = n
				break
			}
		}
	}
	if at < 0 || at >= len(menu) {
		at, rest = 0, ""
	}
	if err := settled(menu, at, wish); err != nil {
		return i, "", err
	}
	return menu[at], rest, nil
}

// settled refuses a choice by place in a menu with uncertain entries or order.
func settled(menu []grubItem, at int, wish string) error {
	named := wish != "" && (menu[at].id == wish || menu[at].title == wish)
	bls := 0
	for n, m := range menu {
		if m.unsure && n < at && !named {
			return fmt.Errorf("the default %q: the entry %q before it may not be there, %w", wish, m.title, errUnknown)
		}
		if m.bls != nil {
			bls++
		}
	}
	if bls > 1 && !named {
		return fmt.Errorf("the default %q names none of the %d entries of the Boot Loader Specification: "+
			"how GRUB sorts them depends on its build", wish, bls)
	}
	return nil
}
