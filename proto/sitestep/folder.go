package sitestep

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// suffix is how names of manifests end.
const suffix = ".json"

// Read reads all site steps of a ramdisk, by interface and name; none without the
// folder. One bad manifest is an error, which names it: a step that is left out without a
// word would be missed late. Files that neither are manifests nor can be executed belong
// to the programs.
func Read(root fs.FS) ([]Step, error) {
	entries, err := fs.ReadDir(root, Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("site steps: %w", err)
	}
	var all []Step
	var errs []error
	for _, e := range entries {
		switch base, manifest := strings.CutSuffix(e.Name(), suffix); {
		case e.IsDir():
		case manifest:
			s, err := read(root, e.Name(), base)
			if err != nil {
				errs = append(errs, fmt.Errorf("site step /%s: %w", path.Join(Folder, e.Name()), err))
				continue
			}
			all = append(all, s)
		default:
			errs = append(errs, alone(root, e.Name()))
		}
	}
	if len(all) > maxSteps {
		errs = append(errs, fmt.Errorf("site steps: expected at most %d, found %d in /%s", maxSteps, len(all), Folder))
	}
	slices.SortFunc(all, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.Interface, b.Interface), cmp.Compare(a.Step, b.Step), cmp.Compare(a.File, b.File))
	})
	for i := 1; i < len(all); i++ {
		if a, b := all[i-1], all[i]; a.Interface == b.Interface && a.Step == b.Step {
			errs = append(errs, fmt.Errorf("site steps /%s/%s and %s both are %s.%s: give one another name", Folder, a.File,
				b.File, a.Interface, a.Step))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return all, nil
}

// read reads one manifest and looks for its program.
func read(root fs.FS, file, base string) (Step, error) {
	f, err := root.Open(path.Join(Folder, file))
	if err != nil {
		return Step{}, err
	}
	defer f.Close() //nolint:errcheck // only read from
	raw, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return Step{}, err
	}
	m, limit, err := Parse(raw)
	if err != nil {
		return Step{}, err
	}
	info, err := fs.Stat(root, path.Join(Folder, base))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Step{}, fmt.Errorf("expected its program %s beside it, found none", base)
	case err != nil:
		return Step{}, err
	case !info.Mode().IsRegular():
		return Step{}, fmt.Errorf("its program %s is a %s: expected a file", base, info.Mode().Type())
	case info.Mode()&0o111 == 0:
		return Step{}, fmt.Errorf("its program %s has mode %04o and cannot be executed: set it to 0755", base,
			info.Mode().Perm())
	}
	return Step{Manifest: m, File: file, Program: base, Limit: limit}, nil
}

// alone refuses a program without a manifest.
func alone(root fs.FS, base string) error {
	info, err := fs.Stat(root, path.Join(Folder, base))
	if err != nil {
		return fmt.Errorf("site step /%s: %w", path.Join(Folder, base), err)
	}
	if info.Mode()&0o111 == 0 || !info.Mode().IsRegular() {
		return nil
	}
	_, err = fs.Stat(root, path.Join(Folder, base+suffix))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("site step /%s: expected its manifest %s%s beside it, found none", path.Join(Folder, base), base,
			suffix)
	}
	return err
}
