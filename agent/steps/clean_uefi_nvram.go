package steps

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/agent/disk"
)

// matchPatterns is the argument of clean_uefi_nvram that says which entries go.
const matchPatterns = "match_patterns"

// bootPatterns are ironic-python-agent's: entries of disks, and of the boot loaders
// that operating systems install. Entries of network cards and of the firmware itself
// stay.
func bootPatterns() []string { return []string{`^HD\(`, `shim.*\.efi`, `grub.*\.efi`} }

func matchPatternsArg() map[string]any {
	return map[string]any{matchPatterns: map[string]any{
		"description": "A list of regular expressions: UEFI boot entries with a matching device path " +
			"are deleted. Case does not matter. " +
			`Default is ["` + strings.Join(bootPatterns(), `", "`) + `"].`,
		"required": false,
	}}
}

// cleanNVRAM deletes boot entries that earlier owners of the machine have left
// in its firmware.
func cleanNVRAM(_ context.Context, m *Machine, r Request) (any, error) {
	patterns, err := patternsOf(r.Step.Args[matchPatterns])
	if err != nil {
		return nil, err
	}
	vars := m.notedVars()
	if vars == nil {
		m.Log.Info("no boot entries to clean: the machine was not started by UEFI")
		return nil, nil
	}
	deleted, err := disk.CleanBootEntries(vars, func(path string) bool {
		return slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(path) })
	})
	for _, d := range deleted {
		m.Log.Info("boot entry deleted", "entry", d)
	}
	return nil, err
}

// patternsOf reads the argument. If part of it is wrong, nothing is deleted.
func patternsOf(arg any) ([]*regexp.Regexp, error) {
	list := []any{}
	for _, p := range bootPatterns() {
		list = append(list, p)
	}
	if arg != nil {
		var ok bool
		if list, ok = arg.([]any); !ok {
			return nil, invalidStep("%s: expected a list of regular expressions, found %v", matchPatterns, arg)
		}
	}
	var patterns []*regexp.Regexp
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			return nil, invalidStep("%s: expected regular expressions, found %v", matchPatterns, item)
		}
		p, err := regexp.Compile("(?i)" + text)
		if err != nil {
			return nil, invalidStep("%s: %v (the syntax is RE2's)", matchPatterns, err)
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}
