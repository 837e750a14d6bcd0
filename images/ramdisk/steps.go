package ramdisk

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/u-root/mkuimage/cpio"

	"github.com/ferrite-metal/ferrite/proto/sitestep"
)

// addSteps adds site steps: manifests NAME.json, each with its program NAME beside it, or all files of folders.
func (t tree) addSteps(sources []string) error {
	for _, source := range sources {
		info, err := os.Stat(source)
		if err != nil {
			return fmt.Errorf("site step: %w", err)
		}
		var files []string
		program, manifest := strings.CutSuffix(source, ".json")
		switch {
		case info.IsDir():
			if files, err = regular(source); err != nil {
				return fmt.Errorf("site steps: %w", err)
			}
		case manifest:
			files = []string{source, program}
		default:
			return fmt.Errorf("site step %s: expected its manifest %s.json, or a folder of steps", source,
				filepath.Base(source))
		}
		for _, file := range files {
			if err := t.addStepFile(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// regular lists the files of a folder, without its folders' files.
func regular(folder string) (files []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if !e.IsDir() {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: expected manifests and programs, found no file", folder)
	}
	return files, err
}

func (t tree) addStepFile(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("site step: %w", err)
	}
	name := path.Join(sitestep.Folder, filepath.Base(file))
	if _, twice := t[name]; twice {
		return fmt.Errorf("site step %s: the ramdisk has another /%s already: give one another name", file, name)
	}
	t.addFile(name, file, uint32(info.Mode().Perm()))
	return nil
}

// checkSteps refuses site steps that the agent would refuse, and programs that cannot start in this ramdisk.
func (t tree) checkSteps() (err error) {
	files := treeFS{tree: t, open: map[string]cpio.Record{}}
	defer func() { err = errors.Join(err, files.close()) }()
	steps, err := sitestep.Read(files)
	if err != nil {
		return err
	}
	for _, s := range steps {
		place := path.Join(sitestep.Folder, s.Program)
		record, err := files.record(place)
		if err != nil {
			return err
		}
		interpreter, err := sitestep.CheckProgram(record, elf.EM_X86_64)
		if err != nil {
			return fmt.Errorf("program /%s of site step %s.%s: %w", place, s.Interface, s.Step, err)
		}
		if _, have := t[strings.TrimPrefix(path.Clean(interpreter), "/")]; interpreter != "" && !have {
			return fmt.Errorf("script /%s of site step %s.%s: the ramdisk has no %s: make the step a static program, or add "+
				"that file", place, s.Interface, s.Step, interpreter)
		}
	}
	return nil
}

// treeFS reads files of a tree. It keeps them open until close.
type treeFS struct {
	tree tree
	open map[string]cpio.Record
}

func (f treeFS) record(name string) (cpio.Record, error) {
	if r, have := f.open[name]; have {
		return r, nil
	}
	opener, have := f.tree[name]
	if !have {
		return cpio.Record{}, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	r, err := opener()
	if err != nil {
		return cpio.Record{}, fmt.Errorf("/%s: %w", name, err)
	}
	f.open[name] = r
	return r, nil
}

func (f treeFS) close() error {
	var errs []error
	for _, r := range f.open {
		if c, ok := r.ReaderAt.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// Open is fs.FS.
func (f treeFS) Open(name string) (fs.File, error) {
	r, err := f.record(name)
	if err != nil {
		return nil, err
	}
	file := treeFile{treeInfo: treeInfo{path.Base(name), r}}
	if r.ReaderAt != nil {
		file.Reader = io.NewSectionReader(r, 0, int64(r.FileSize))
	}
	return file, nil
}

// ReadDir is fs.ReadDirFS.
func (f treeFS) ReadDir(name string) (entries []fs.DirEntry, err error) {
	below := map[string]bool{} // folders of files that have no record of their own yet
	for file := range f.tree {
		rest, inside := strings.CutPrefix(file, name+"/")
		if !inside {
			continue
		}
		base, _, deeper := strings.Cut(rest, "/")
		if deeper {
			below[base] = true
			continue
		}
		r, err := f.record(file)
		if err != nil {
			return nil, err
		}
		entries = append(entries, fs.FileInfoToDirEntry(treeInfo{base, r}))
	}
	if len(entries)+len(below) == 0 {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	return entries, nil
}
