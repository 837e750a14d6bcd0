package ramdisk

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Site lists one site's additions to the profile.
type Site struct {
	Modules     []string // kernel modules by name, loaded at start in this order
	Firmware    string   // FirmwareAuto, a folder laid out as /lib/firmware, or FirmwareNone, which "" is too
	Authorities []string // PEM files with certificates that the agent trusts; SystemAuthorities for this machine's
	SSHKeys     []string // files with public keys that log in to the machine as root while the agent runs
	RescueTools bool     // Debian's programs to mend an installed system: fsck, lvm, cryptsetup and others
	Overlay     string   // folder or cpio archive (newc) of files to add, or to replace ours
	Files       []File   // single files, which replace the overlay's
	Steps       []string // manifests of site steps (NAME.json, with NAME beside it), or folders of them
}

// classes are the profile's modules and the site's.
func (r Recipe) classes() []Class {
	classes := slices.Clone(r.Profile.Modules)
	if r.Site.RescueTools { // lvm and cryptsetup call the device mapper, and the ramdisk has no modprobe
		classes = append(classes, Class{Name: "rescue tools", Modules: []string{"dm_mod", "dm_crypt"}, Load: true})
	}
	if len(r.Site.Modules) > 0 {
		classes = append(classes, Class{Name: "this site", Modules: r.Site.Modules, Required: true, Load: true})
	}
	return classes
}

// addTo adds the site's files to a tree, its firmware apart. The closer is closed once the tree is packed.
func (s Site) addTo(t tree) (closer io.Closer, err error) {
	bundle, err := readAuthorities(s.Authorities, time.Now())
	if err != nil {
		return nil, err
	}
	if bundle != "" {
		t.addText(authoritiesFile, bundle)
	}
	if err := t.addSSHKeys(s.SSHKeys); err != nil {
		return nil, err
	}
	if closer, err = t.addOverlay(s.Overlay); err != nil {
		return nil, err
	}
	for _, f := range s.Files {
		t.addFile(f.Path, f.Source, f.Mode)
	}
	if err := errors.Join(t.addSteps(s.Steps), t.checkSteps()); err != nil {
		return nil, errors.Join(err, closer.Close())
	}
	return closer, nil
}

// checkPath refuses places that a site may not have: outside of the ramdisk, or /init, without which no machine boots.
func checkPath(name string) error {
	if name == "" || name == "." || name != path.Clean(name) || path.IsAbs(name) ||
		slices.Contains(strings.Split(name, "/"), "..") {
		return fmt.Errorf("path %q in the ramdisk: expected a clean path below /", name)
	}
	if name == "init" {
		return errors.New("path /init in the ramdisk is the agent's: give another agent with --agent")
	}
	return nil
}

// ParseFile reads a file to be added, as SRC:DST[:MODE]. MODE is octal; 0644 when it is left out.
func ParseFile(text string) (File, error) {
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 3 || parts[0] == "" || parts[1] == "" {
		return File{}, fmt.Errorf("file %q: expected SRC:DST or SRC:DST:MODE, as in site.conf:/etc/site.conf:0600", text)
	}
	f := File{Source: parts[0], Path: strings.TrimPrefix(parts[1], "/"), Mode: 0o644}
	if len(parts) == 3 {
		mode, err := strconv.ParseUint(parts[2], 8, 32)
		if err != nil || mode > 0o7777 {
			return File{}, fmt.Errorf("file %q: mode %q: expected permission bits in octal, as in 0755", text, parts[2])
		}
		f.Mode = uint32(mode)
	}
	if err := checkPath(f.Path); err != nil {
		return File{}, fmt.Errorf("file %q: %w", text, err)
	}
	return f, nil
}
