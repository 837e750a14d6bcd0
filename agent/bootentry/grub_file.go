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

// ourDisk is the name of the disk in scripts that we run. GRUB has hd0, hd1 and so on, in
// an order that only the firmware knows: such a name is not followed.
const ourDisk = "this"

// device is GRUB's name of a partition.
func (s System) device(p *Partition) string {
	kind := "gpt"
	if strings.HasPrefix(p.Type, "0x") {
		kind = "msdos"
	}
	return fmt.Sprintf("%s,%s%d", ourDisk, kind, p.Number)
}

// partitionOf finds the partition of a device's name.
func (s System) partitionOf(device string) (*Partition, error) {
	for _, p := range s.Partitions {
		if s.device(p) == device {
			return p, nil
		}
	}
	if device == "" {
		return nil, errors.New("a file without a device")
	}
	return nil, fmt.Errorf("the device %s, on a disk that only the firmware knows", device)
}

// split parts a path into the name of its device and the rest.
func (g *grub) split(name string) (device, rest string, err error) {
	if after, ok := strings.CutPrefix(name, "("); ok {
		device, rest, ok = strings.Cut(after, ")")
		if !ok {
			return "", "", fmt.Errorf("the path %s", name)
		}
		return device, rest, nil
	}
	root := g.value("root")
	if root.unknown {
		return "", "", fmt.Errorf("the variable root, %w", errUnknown)
	}
	return root.text, name, nil
}

// open opens the file system of a path.
func (g *grub) open(name string) (files fs.FS, rest string, err error) {
	device, rest, err := g.split(name)
	if err != nil {
		return nil, "", err
	}
	if !strings.HasPrefix(rest, "/") {
		return nil, "", fmt.Errorf("%q is no path", name)
	}
	p, err := g.sys.partitionOf(device)
	if err != nil {
		return nil, "", err
	}
	files, err = p.Open()
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", p, err)
	}
	return files, rest, nil
}

// full is a path with its device.
func (g *grub) full(name string) (string, error) {
	device, rest, err := g.split(name)
	return "(" + device + ")" + rest, err
}

// isFile answers -e, -f, -s and -d.
func (g *grub) isFile(question, name string) (bool, error) {
	files, rest, err := g.open(name)
	if err != nil {
		return false, err
	}
	info, err := fs.Stat(files, local(rest))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, plain(err))
	}
	switch question {
	case "-d":
		return info.IsDir(), nil
	case "-f":
		return !info.IsDir(), nil
	case "-s":
		return !info.IsDir() && info.Size() > 0, nil
	}
	return true, nil
}

// search finds a file system by its UUID. A missing one may be on another disk, and so may labels and files be.
func (g *grub) search(name string, args []string) (outcome, error) {
	variable, kind, wanted := "root", strings.TrimPrefix(name, "search."), []string{}
	for n := 0; n < len(args); n++ {
		word := args[n]
		switch {
		case word == "--fs-uuid" || word == "-u":
			kind = "fs_uuid"
		case word == "--label" || word == "-l" || word == "--file" || word == "-f":
			kind = word
		case word == "--set" || word == "-s": // of root
		case strings.HasPrefix(word, "--set="):
			variable = strings.TrimPrefix(word, "--set=")
		case word == "--hint" || word == "-h":
			n++
		case word == "--no-floppy" || word == "-n" || word == "--root-dev-only" || strings.HasPrefix(word, "--hint"):
		case strings.HasPrefix(word, "-"):
			return no, fmt.Errorf("search %s, of unknown effect", word)
		default:
			wanted = append(wanted, word)
		}
	}
	if name != "search" && len(wanted) > 1 {
		variable, wanted = wanted[1], wanted[:1] // hints follow
	}
	if len(wanted) != 1 {
		return no, fmt.Errorf("search for %q: expected one name", wanted)
	}
	if kind != "fs_uuid" {
		return no, fmt.Errorf("search by %s, which another disk may have as well", strings.TrimLeft(kind, "-"))
	}
	var found []*Partition
	for _, p := range g.sys.Partitions {
		if p.UUID != "" && strings.EqualFold(p.UUID, wanted[0]) {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		return no, fmt.Errorf("search for the file system %s: expected one on this disk, found %d", wanted[0], len(found))
	}
	g.set(variable, g.sys.device(found[0]))
	return yes, nil
}

// grubEnvMagic begins an environment block.
const grubEnvMagic = "# GRUB Environment Block\n"

// oneShot are the variables by which a system asks for one boot of something else. A
// kexec would not use them up.
var oneShot = []string{"next_entry", "prev_saved_entry", "initrdfail"}

// loadEnv reads an environment block into variables.
func (g *grub) loadEnv(args []string) (outcome, error) {
	prefix := g.value("prefix")
	name := prefix.text + "/grubenv"
	for n := 0; n < len(args); n++ {
		after, is := strings.CutPrefix(args[n], "--file=")
		switch {
		case is:
			name = after
		case (args[n] == "-f" || args[n] == "--file") && n+1 < len(args):
			n++
			name = args[n]
		default:
			return no, fmt.Errorf("load_env %s, of unknown effect", args[n])
		}
	}
	files, rest, err := g.open(name)
	if err != nil {
		return no, fmt.Errorf("load_env: %w", err)
	}
	text, err := g.read(files, rest)
	if errors.Is(err, fs.ErrNotExist) {
		return no, nil
	}
	if err != nil {
		return no, fmt.Errorf("load_env: %w", err)
	}
	vars, err := grubEnv(text)
	if err != nil {
		return no, fmt.Errorf("%s: %w", name, err)
	}
	for key, value := range vars {
		if slices.Contains(oneShot, key) && value != "" {
			return no, fmt.Errorf("%s asks for one boot of another entry: %s=%s", name, key, value)
		}
		g.set(key, value)
	}
	return yes, nil
}

// grubEnv reads an environment block.
func grubEnv(text string) (map[string]string, error) {
	rest, ok := strings.CutPrefix(text, grubEnvMagic)
	if !ok {
		return nil, errors.New("expected a GRUB environment block")
	}
	vars := map[string]string{}
	var value strings.Builder
	for len(rest) > 0 {
		if rest[0] == '#' { // padding, or a comment of an editor
			_, rest, _ = strings.Cut(rest, "\n")
			continue
		}
		name, after, ok := strings.Cut(rest, "=")
		if !ok {
			break
		}
		value.Reset()
		at := 0
		for ; at < len(after) && after[at] != '\n'; at++ {
			if after[at] == '\\' && at+1 < len(after) {
				at++
			}
			value.WriteByte(after[at])
		}
		vars[name] = value.String()
		rest = after[min(at+1, len(after)):]
	}
	return vars, nil
}

// source runs another script: in place, or for configfile with a menu of its own, which
// is booted from.
func (g *grub) source(how string, args []string) (outcome, error) {
	if len(args) != 1 {
		return no, fmt.Errorf("%s with %d arguments", how, len(args))
	}
	if g.depth++; g.depth > maxGRUBDepth {
		return no, errors.New("files that read each other without end")
	}
	defer func() { g.depth-- }()
	name, err := g.full(args[0])
	if err != nil {
		return no, err
	}
	if how == "configfile" {
		own := g.fork()
		return yes, own.boot(name)
	}
	return g.script(name)
}

// read reads a file, of which there may be some only.
func (g *grub) read(files fs.FS, name string) (string, error) {
	if g.spent.files++; g.spent.files > maxGRUBFiles {
		return "", fmt.Errorf("it reads over %d files", maxGRUBFiles)
	}
	return readText(files, name)
}

// script runs a file.
func (g *grub) script(name string) (outcome, error) {
	files, rest, err := g.open(name)
	if err != nil {
		return no, err
	}
	text, err := g.read(files, rest)
	if errors.Is(err, fs.ErrNotExist) {
		return no, nil // as GRUB goes on
	}
	if err != nil {
		return no, err
	}
	list, err := parseGRUB(text)
	if err != nil {
		return no, fmt.Errorf("%s: %w", path.Base(name), err)
	}
	before := g.config
	g.config = name
	defer func() { g.config = before }()
	end, err := g.run(list)
	var c chosen
	if err != nil && !errors.As(err, &c) {
		err = fmt.Errorf("%s: %w", strings.Replace(rest, "//", "/", 1), err)
	}
	return end, err
}

// asNumber is a number as GRUB's default has it.
func asNumber(text string) (int, bool) {
	n, err := strconv.ParseUint(text, 0, 16)
	return int(n), err == nil
}
