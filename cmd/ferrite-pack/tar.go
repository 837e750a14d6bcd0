package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// tar writes the archive for hosts without a package manager: the files of /usr, below one folder.
func (p *packer) tar(arch string, t []entry) error {
	top := fmt.Sprintf("ferrite-%s-linux-%s", p.version, arch)
	var moved []entry
	for _, e := range t {
		e.path = path.Join(top, strings.TrimPrefix(e.path, "/usr"))
		moved = append(moved, e)
	}
	text, err := tarred(moved, p.at)
	if err != nil {
		return err
	}
	if text, err = gzipped(text); err != nil {
		return err
	}
	return os.WriteFile(p.path("%s.tar.gz", top), text, 0o644)
}

// tarred is a tar of files and the folders above them, all root's and of one time, in the order of their paths.
func tarred(t []entry, at time.Time, folders ...entry) ([]byte, error) {
	all := map[string]entry{}
	for _, f := range folders {
		all[f.path] = f
	}
	for _, e := range t {
		e.path = strings.TrimPrefix(e.path, "/")
		all[e.path] = e
		for dir := path.Dir(e.path); dir != "."; dir = path.Dir(dir) {
			if _, ok := all[dir+"/"]; !ok {
				all[dir+"/"] = entry{path: dir + "/", mode: fs.ModeDir | 0o755}
			}
		}
	}
	sorted := make([]entry, 0, len(all))
	for _, e := range all {
		sorted = append(sorted, e)
	}
	slices.SortFunc(sorted, func(a, b entry) int { return cmp.Compare(a.path, b.path) })
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range sorted {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.path, Mode: int64(e.mode.Perm()), Size: int64(len(e.text)),
			ModTime: at, Uid: e.owner, Gid: e.owner, Format: tar.FormatPAX}
		if e.mode.IsDir() {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.text); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// summed is a file of the packages' folder with its SHA-256 in hex.
type summed struct {
	name, sum string
	size      int
}

// files are all files of the packages' folder, but for the sums and their signature.
func (p *packer) files() (all []summed, err error) {
	entries, err := os.ReadDir(p.out)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() || e.Name() == sumsFile || e.Name() == signatureFile {
			continue
		}
		text, err := os.ReadFile(p.path("%s", e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, summed{e.Name(), fmt.Sprintf("%x", sha256.Sum256(text)), len(text)})
	}
	return all, nil
}

// sums lists the SHA-256 of every package, as sha256sum does.
func (p *packer) sums() error {
	files, err := p.files()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("nothing was packed")
	}
	var lines bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&lines, "%s  %s\n", f.sum, f.name)
		fmt.Printf("packages: %s %.1f MB\n", f.name, float64(f.size)/1e6)
	}
	return os.WriteFile(p.path(sumsFile), lines.Bytes(), 0o644)
}

const sumsFile = "SHA256SUMS"
