package bootentry

import (
	"errors"
	"fmt"
	"maps"
	"strings"
)

// outcome is how a command ends.
type outcome int

const (
	yes     outcome = iota // exit status 0
	no                     // any other
	unknown                // it depends on the machine, or on a person at the keyboard
)

// grubValue is a variable's value, which may be unknown.
type grubValue struct {
	text    string
	unknown bool
}

// grub runs scripts as GRUB would, as far as they choose and make a boot entry. A value that depends on the machine or
// on its firmware stays unknown. It is refused where it would decide about the entry. See
// docs/decisions/0071-kexec-after-deploy.md.
type grub struct {
	sys       System
	env       map[string]grubValue
	exported  map[string]bool
	functions map[string][]grubStatement
	args      []grubValue // of the function that runs
	last      outcome
	menu      []grubItem
	unsure    int    // in how many branches that may not be taken
	config    string // the script that runs, as ($device)/path
	spent     *grubSpent
	memdisk   string // grub.cfg of the disk in memory
	depth     int

	booting bool // an entry runs
	entry   Entry
}

// grubItem is an entry of a menu.
type grubItem struct {
	title, id string
	sub       bool // a submenu
	unsure    bool // it may not be there
	open      bool // --unrestricted
	source    string
	body      []grubStatement
	bls       *blsEntry
	args      []grubValue
}

const (
	maxGRUBSteps = 20000    // statements
	maxGRUBFiles = 50       // read as scripts or for variables
	maxGRUBDepth = 30       // functions and files within each other
	maxGRUBWords = 64 << 10 // bytes of a command
	maxGRUBBytes = 4 << 20  // of all commands together, which variables, menus and functions may keep
)

// errUnknown means that an unknown value would decide about the entry.
type grubSpent struct{ steps, files, bytes int }

// errUnknown says that something decides about the entry that cannot be known here.
var errUnknown = errors.New("which cannot be known before GRUB runs")

// chosen ends all scripts: an entry was found.
type chosen struct{ entry Entry }

func (chosen) Error() string { return "an entry was chosen" }

// newGRUB is a GRUB as it starts, with its own variables (grub-core/kern/main.c and
// normal/main.c).
func newGRUB(s System) *grub {
	g := &grub{sys: s, env: map[string]grubValue{}, exported: map[string]bool{}, functions: map[string][]grubStatement{},
		spent: &grubSpent{}}
	platform, cpu := "pc", "i386"
	if s.UEFI {
		platform, cpu = "efi", map[string]string{"amd64": "x86_64", "arm64": "arm64"}[s.Arch]
	}
	for name, value := range map[string]string{"grub_platform": platform, "grub_cpu": cpu,
		"feature_chainloader_bpb": "y", "feature_ntldr": "y", "feature_platform_search_hint": "y",
		"feature_default_font_path": "y", "feature_all_video_module": "y", "feature_menuentry_id": "y",
		"feature_menuentry_options": "y", "feature_200_final": "y", "feature_nativedisk_cmd": "y",
		"feature_timeout_style": "y", "pager": ""} {
		g.set(name, value)
		g.exported[name] = true
	}
	for _, name := range []string{"root", "prefix", "cmdpath", "default_kernelopts"} {
		g.exported[name] = true
	}
	return g
}

func (g *grub) set(name, value string) { g.assign(name, grubValue{text: value}) }

// assign sets a variable; in a branch that may not be taken it becomes unknown.
func (g *grub) assign(name string, v grubValue) {
	if old, was := g.env[name]; g.unsure > 0 && (!was || old != v) {
		v.unknown = true
	}
	g.env[name] = v
}

// machineOwned are the variables that GRUB sets by the machine.
var machineOwned = []string{"net_", "pxe_", "lockdown", "shim_lock", "check_signatures", "fw_path",
	"secureboot", "chosen",
	"boothost", "next_server"}

// value is a variable's.
func (g *grub) value(name string) grubValue {
	if name == "?" {
		return map[outcome]grubValue{yes: {text: "0"}, no: {text: "1"}, unknown: {unknown: true}}[g.last]
	}
	if len(name) == 1 && name[0] >= '1' && name[0] <= '9' {
		if n := int(name[0] - '1'); n < len(g.args) {
			return g.args[n]
		}
		return grubValue{}
	}
	if v, ok := g.env[name]; ok {
		return v
	}
	if name == "config_directory" { // as Fedora and its kin have it
		return grubValue{text: g.config[:max(0, strings.LastIndexByte(g.config, '/'))]}
	}
	for _, prefix := range machineOwned {
		if strings.HasPrefix(name, prefix) || strings.ContainsAny(name, "#*@0") && len(name) == 1 {
			return grubValue{unknown: true}
		}
	}
	return grubValue{}
}

// expand makes words of words with variables. Too many become a single unknown word.
func (g *grub) expand(words []grubWord) []grubValue {
	var out []grubValue
	size := 0
	for _, w := range words {
		for _, v := range g.expandWord(w) {
			out = append(out, v)
			size += len(v.text) + 1
		}
		if size > maxGRUBWords {
			return []grubValue{{unknown: true}}
		}
	}
	return out
}

func (g *grub) expandWord(w grubWord) []grubValue {
	var out []grubValue
	var v grubValue
	open := false
	for _, p := range w {
		if len(v.text) > maxGRUBWords || g.spent.bytes > maxGRUBBytes {
			return []grubValue{{unknown: true}}
		}
		if !p.variable {
			g.spent.bytes += len(p.text)
			v.text += p.text
			open = true
			continue
		}
		val := g.value(p.text)
		g.spent.bytes += len(val.text)
		v.unknown = v.unknown || val.unknown
		if p.quoted || val.unknown {
			v.text += val.text
			open = true
			continue
		}
		for i, part := range splitKeep(val.text) {
			if i > 0 && open {
				out = append(out, v)
				v, open = grubValue{unknown: v.unknown}, false
			}
			v.text += part
			open = open || part != ""
		}
	}
	if open {
		out = append(out, v)
	}
	return out
}

// splitKeep parts text at blanks; blanks at an end leave an empty part there.
func splitKeep(text string) []string {
	parts := strings.Fields(text)
	if text == "" || len(parts) == 0 && text == "" {
		return nil
	}
	if text[0] == ' ' || text[0] == '\t' {
		parts = append([]string{""}, parts...)
	}
	if last := text[len(text)-1]; last == ' ' || last == '\t' {
		parts = append(parts, "")
	}
	return parts
}

// run runs statements, and ends as the last of them did.
func (g *grub) run(list []grubStatement) (outcome, error) {
	end := yes
	for _, s := range list {
		if g.spent.steps++; g.spent.steps > maxGRUBSteps {
			return no, fmt.Errorf("it has over %d steps", maxGRUBSteps)
		}
		if g.spent.bytes > maxGRUBBytes {
			return no, fmt.Errorf("its commands have over %d bytes with their variables", maxGRUBBytes)
		}
		var err error
		if end, err = g.statement(s); err != nil {
			var c chosen
			if errors.As(err, &c) || strings.HasPrefix(err.Error(), "line ") || s.line == 0 {
				return no, err
			}
			return no, fmt.Errorf("line %d: %w", s.line, err)
		}
		g.last = end
	}
	return end, nil
}

func (g *grub) statement(s grubStatement) (outcome, error) {
	switch s.kind {
	case grubIf:
		return g.condition(s.arms)
	case grubFunction:
		if g.unsure > 0 {
			return no, fmt.Errorf("function %s, %w", s.words[0].bare(), errUnknown)
		}
		g.functions[s.words[0].bare()] = s.block
		return yes, nil
	case grubLoop:
		return no, errors.New("a loop, of unknown effect")
	case grubCommand:
	}
	return g.command(s)
}

// condition runs the arm with a true test. If a test is unknown all arms run, as branches that may not be taken.
func (g *grub) condition(arms []grubArm) (outcome, error) {
	before := g.unsure
	defer func() { g.unsure = before }()
	maybe := false
	for _, a := range arms {
		test := yes
		if a.test != nil {
			var err error
			if test, err = g.run(a.test); err != nil {
				return no, err
			}
		}
		if test == no {
			continue
		}
		if test == unknown && !maybe {
			maybe = true
			g.unsure++
		}
		end, err := g.run(a.do)
		if err != nil {
			return no, err
		}
		if test == yes && !maybe {
			return end, nil
		}
		if test == yes {
			break
		}
	}
	if maybe {
		return unknown, nil
	}
	return yes, nil
}

// fork is a GRUB that runs another file on its own: with the exported variables.
func (g *grub) fork() *grub {
	n := *g
	n.env, n.menu = map[string]grubValue{}, nil
	n.exported, n.functions = maps.Clone(g.exported), maps.Clone(g.functions)
	for name := range g.exported {
		if v, ok := g.env[name]; ok {
			n.env[name] = v
		}
	}
	return &n
}
