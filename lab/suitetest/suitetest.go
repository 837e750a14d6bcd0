// Package suitetest says which packages of Debian's a suite needs (suites.txt, which make installs from), and which
// programs are in them (programs.txt). A suite that was not started by make says what is missing.
//
// It must not install anything.
package suitetest

import (
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:embed suites.txt
var suites string

//go:embed programs.txt
var programs string

// base is the suite whose packages all of them need.
const base = "base"

// table reads lines of a name and what belongs to it.
func table(text string) map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(text) {
		if name, of, is := strings.Cut(line, ":"); is && !strings.HasPrefix(line, "#") {
			all[name] = strings.Fields(of)
		}
	}
	return all
}

// Need ends a test at its beginning where a program of its suite is missing. The suite is a target of make; "" stands
// for one without packages of its own.
func Need(t testing.TB, suite string) {
	t.Helper()
	if err := check(suite, there); err != nil {
		t.Fatal(err)
	}
}

// check names all that is missing.
func check(suite string, there func(program string) bool) error {
	all, in := table(suites), table(programs)
	packages := slices.Clone(all[base])
	if suite != "" {
		if all[suite] == nil {
			return fmt.Errorf("suite %s has no line in lab/suitetest/suites.txt", suite)
		}
		packages = append(packages, all[suite]...)
	}
	var missing, lack []string
	for _, p := range packages {
		for _, program := range in[p] {
			if !there(program) {
				missing = append(missing, program)
				lack = append(lack, p)
			}
		}
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("%s is missing: install Debian's %s, as `make %s` does", strings.Join(missing, ", "),
		strings.Join(slices.Compact(lack), ", "), cmp.Or(suite, "deps"))
}

// there reports whether a program or a file exists. Root's programs are looked for in any case.
func there(program string) bool {
	if filepath.IsAbs(program) {
		_, err := os.Stat(program)
		return err == nil
	}
	for _, at := range []string{program, "/usr/sbin/" + program, "/sbin/" + program} {
		if _, err := exec.LookPath(at); err == nil {
			return true
		}
	}
	return false
}
