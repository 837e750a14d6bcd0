package site

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// AddImage gives the conductor the image in a file under a name.
func (s *Site) AddImage(ctx context.Context, name, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, s.URL+nodeapi.ImagesPath+"/"+name+"/file", f)
	if err != nil {
		return err
	}
	r.ContentLength = info.Size()
	s.access.sign(r)
	res, err := s.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusCreated {
		err = fmt.Errorf("add image %s: %s: %w", name, res.Status, nodeapi.ParseFault(res.StatusCode, answer))
	}
	return err
}

// CachedImages is how many images the conductor has pulled for its agents.
func (s *Site) CachedImages() (int, error) {
	files, err := os.ReadDir(filepath.Join(s.config.Lab.Dir, conductorDir, "images", "cache"))
	return len(files), err
}
