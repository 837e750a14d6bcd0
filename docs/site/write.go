package site

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Write writes the site into the folder of its version below a folder, in place of an earlier build of the version.
// index.html and versions.js of the folder list all versions there. Write returns the number of the version's files.
func (s *Site) Write(folder string) (int, error) {
	if s.version == "" || filepath.Base(s.version) != s.version || s.version == ".." {
		return 0, fmt.Errorf("version %q: expected a name that a folder can have", s.version)
	}
	names, err := s.Files()
	if err != nil {
		return 0, err
	}
	s.versioned = true
	to := filepath.Join(folder, s.version)
	if err := os.RemoveAll(to); err != nil {
		return 0, err
	}
	for _, name := range names {
		content, err := s.File(name)
		if err := cmp.Or(err, write(filepath.Join(to, name), content)); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
	}
	return len(names), listVersions(folder)
}

func write(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644) //nolint:gosec // a public page
}

// listVersions writes the page and the script that list the versions in a folder, the newest first.
func listVersions(folder string) error {
	found, err := filepath.Glob(filepath.Join(folder, "*", searchJS))
	if err != nil {
		return err
	}
	for i, file := range found {
		found[i] = filepath.Base(filepath.Dir(file))
	}
	slices.SortFunc(found, func(a, b string) int { return strings.Compare(order(b), order(a)) })
	script, err := json.Marshal(found)
	page, pageErr := execute("versions.html", found)
	script = append([]byte("window.siteVersions = "), script...)
	return cmp.Or(err, pageErr, write(filepath.Join(folder, "versions.js"), script),
		write(filepath.Join(folder, index), page))
}

var number = regexp.MustCompile(`\d+`)

// order sorts versions as texts: 1.9.0 before 1.10.0-rc1, and that before 1.10.0.
func order(version string) string {
	return number.ReplaceAllStringFunc(version, func(n string) string { return fmt.Sprintf("%8s", n) }) + "~"
}
