package steps

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/url"
	"path"
	"strings"
)

// injection is one file to be written to the installed system, or removed from it: an
// entry of inject_files as Ironic has it. Owner and group may be names too.
type injection struct {
	Path      string  `json:"path"`
	Partition any     `json:"partition"` // a number or a text; absent: where the path's first folder is
	Content   *string `json:"content"`   // base64, or a URL
	Mode      *uint32 `json:"mode"`      // decimal, as JSON has no octal numbers
	DirMode   *uint32 `json:"dirmode"`   // of the file's folder, if that is made
	Owner     any     `json:"owner"`     // a number, or a name of the image's own /etc/passwd
	Group     any     `json:"group"`
	Deleted   bool    `json:"deleted"`

	bytes []byte // the content, unless it is a URL
	url   string
}

// injections gathers the files of a request: of the node, of its instance and of the
// step, in this order, so that the most specific is written last. All are checked
// before any is written.
func injections(r Request) ([]injection, error) {
	var all []injection
	var errs []error
	for _, place := range []struct {
		name  string
		value any
	}{
		{"properties.inject_files", r.Node.Properties["inject_files"]},
		{"instance_info.inject_files", r.Node.InstanceInfo["inject_files"]},
		{"files", r.Step.Args["files"]},
	} {
		if place.value == nil {
			continue
		}
		list, ok := place.value.([]any)
		if !ok {
			errs = append(errs, fmt.Errorf("%s: expected a list of objects, found %T", place.name, place.value))
			continue
		}
		for i, item := range list {
			f, err := newInjection(item, r.Facts)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s[%d]: %w", place.name, i, err))
			}
			all = append(all, f)
		}
	}
	if verify, given := r.Step.Args["verify_ca"]; given && verify != nil && verify != true {
		errs = append(errs, fmt.Errorf("verify_ca is %v: this agent trusts as its kernel line says (ipa-insecure), "+
			"leave the argument out", verify))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, invalidStep("%v", err)
	}
	return all, nil
}

// newInjection reads and checks one entry.
func newInjection(item any, facts map[string]any) (injection, error) {
	var f injection
	if err := decodeStrictly(item, &f); err != nil {
		return f, err
	}
	if err := f.check(); err != nil {
		return f, err
	}
	if f.Content == nil {
		return f, nil
	}
	var err error
	if !strings.Contains(*f.Content, "://") {
		f.bytes, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(*f.Content), ""))
		if err != nil {
			return f, fmt.Errorf("content of %s is neither base64 nor a URL: %w", f.Path, err)
		}
		return f, nil
	}
	if f.url, err = fillIn(*f.Content, facts); err != nil {
		return f, fmt.Errorf("content of %s: %w", f.Path, err)
	}
	if u, err := url.Parse(f.url); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return f, fmt.Errorf("content of %s: %q is not an http(s) URL", f.Path, f.url)
	}
	return f, nil
}

// check applies ironic-python-agent's rules to an entry, and refuses entries that would fail half way there.
func (f injection) check() error {
	switch {
	case f.Path == "":
		return errors.New("path is missing")
	case strings.HasSuffix(f.Path, "/") || strings.ContainsRune(f.Path, 0):
		return fmt.Errorf("path %q does not name a file", f.Path)
	case f.Partition == nil && path.Dir(path.Clean("/"+f.Path)) == "/":
		return fmt.Errorf("%s lies in the root folder, which every file system has: say which by partition", f.Path)
	case f.Content != nil && f.Deleted:
		return fmt.Errorf("%s cannot both be deleted and have content", f.Path)
	case f.Content == nil && !f.Deleted:
		return fmt.Errorf("%s has no content; to remove it, set deleted", f.Path)
	}
	for name, mode := range map[string]*uint32{"mode": f.Mode, "dirmode": f.DirMode} {
		if mode != nil && *mode > 0o7777 {
			return fmt.Errorf("%s of %s is %d, expected at most %d: modes are decimal here, 420 is 0644", name, f.Path,
				*mode, 0o7777)
		}
	}
	for name, id := range map[string]any{"owner": f.Owner, "group": f.Group} {
		switch v := id.(type) {
		case nil:
		case string:
			if v == "" || strings.ContainsAny(v, ":\n") {
				return fmt.Errorf("%s of %s: %q is no name", name, f.Path, v)
			}
		case float64:
			if v < 0 || v > math.MaxUint32-1 || v != math.Trunc(v) {
				return fmt.Errorf("%s of %s: %v is no id", name, f.Path, v)
			}
		default:
			return fmt.Errorf("%s of %s: expected a number or a name, found %T", name, f.Path, id)
		}
	}
	return nil
}
