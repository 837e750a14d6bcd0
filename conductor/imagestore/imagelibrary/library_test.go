package imagelibrary_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagelibrary"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// records are the records of a store in memory.
type records struct{ node.Catalog[node.Image] }

func (r records) Create(ctx context.Context, i node.Image) (node.Image, error) {
	if i.UUID == "" {
		i.UUID = uuid.NewString()
	}
	return r.Insert(ctx, i)
}

// rig is a library and its folder.
type rig struct {
	*imagelibrary.Library
	dir string
}

func newRig(t *testing.T, dir string) *rig {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	store, err := imagestore.Open(imagestore.Config{Dir: dir, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &rig{imagelibrary.New(ctx, imagelibrary.Config{Records: records{mem.New().Catalogs().Images}, Bytes: store,
		Client: http.DefaultClient, Conductor: "c1", MaxSize: 64 << 20, MaxOwned: 3 << 10,
		Log: log}), dir}
	t.Cleanup(func() {
		stop()
		r.Wait()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// files are all files of images in the folder.
func (r *rig) files(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"stored/*", "partial/*", "cache/*"} {
		found, err := filepath.Glob(filepath.Join(r.dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	return names
}

func (r *rig) add(t *testing.T, name string, body []byte) (nodeapi.Image, error) {
	t.Helper()
	return r.Upload(t.Context(), nodeapi.NewImage{Name: name}, "ada", bytes.NewReader(body), int64(len(body)))
}

// status is the HTTP status of an error.
func status(err error) int {
	var f *nodeapi.Fault
	if errors.As(err, &f) {
		return f.Status
	}
	return 0
}

// TestDeleteWhileRead: an image that a machine reads is not deleted, unless another image has the same bytes. A user's
// reading does not block it. The bytes of an unread image are deleted with it.
func TestDeleteWhileRead(t *testing.T) {
	r := newRig(t, t.TempDir())
	i, err := r.add(t, "os", make([]byte, 1<<20))
	if err != nil || i.CreatedBy != "ada" {
		t.Fatal(i, err)
	}
	record, err := r.Find(t.Context(), "os")
	if err != nil {
		t.Fatal(err)
	}
	content, err := r.Open(t.Context(), record)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Delete(t.Context(), "os"); status(err) != http.StatusConflict {
		t.Errorf("deleted while it is read: %v", err)
	}
	if _, err := r.add(t, "same", make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := r.Delete(t.Context(), "same"); err != nil {
		t.Errorf("another's reader keeps the name: %v", err)
	}
	content.Unheld()
	user, err := r.Open(t.Context(), record)
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	user.Unheld()
	if err := r.Delete(t.Context(), i.UUID); err != nil || len(r.files(t)) > 0 {
		t.Errorf("a user's reader keeps it: %v, files %q", err, r.files(t))
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		t.Error(err)
	}
	if err := content.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestMissing: an image without its bytes is shown as missing, and cannot be read.
func TestMissing(t *testing.T) {
	r := newRig(t, t.TempDir())
	if _, err := r.add(t, "os", make([]byte, 1<<10)); err != nil {
		t.Fatal(err)
	}
	for _, path := range r.files(t) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	i, err := r.Show(t.Context(), "os", "")
	if err != nil || i.State != nodeapi.ImageMissing {
		t.Errorf("shown as %+v, %v", i, err)
	}
	record, err := r.Find(t.Context(), "os")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Open(t.Context(), record); status(err) != http.StatusServiceUnavailable ||
		!strings.Contains(err.Error(), "--image-folder") {
		t.Errorf("opened: %v", err)
	}
	if err := r.Delete(t.Context(), "os"); err != nil {
		t.Error(err)
	}
}

// TestTakenName: a name is taken in its own project, and one of all in every project, for which other bytes would come
// to stand under it.
func TestTakenName(t *testing.T) {
	r := newRig(t, t.TempDir())
	digests := map[string]string{}
	for i, c := range []struct{ owner, taken string }{ // the owner of the image that has the name
		{"blue", "none"}, {"blue", "blue"}, {"red", "none"}, {"", "none"}, {"", ""}, {"red", "red"}, {"green", ""},
	} {
		body := bytes.Repeat([]byte{0, byte(i)}, 256)
		image, err := r.Upload(t.Context(), nodeapi.NewImage{Name: "os", Owner: c.owner}, "ada", bytes.NewReader(body), 512)
		if c.taken == "none" {
			digests[c.owner] = image.Digest
			if err != nil {
				t.Errorf("project %q: %v", c.owner, err)
			}
		} else if status(err) != http.StatusConflict || !strings.Contains(err.Error(), digests[c.taken]) {
			t.Errorf("project %q: %v; expected that the image of %q is told of", c.owner, err, c.taken)
		}
	}
}

// TestTransfersOfProjects: a name may be on its way for several projects, each of which sees its own.
func TestTransfersOfProjects(t *testing.T) {
	r := newRig(t, t.TempDir())
	origin := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer origin.Close()
	fetch := func(owner string) (nodeapi.Image, error) {
		return r.Fetch(t.Context(), nodeapi.NewImage{Name: "os", Owner: owner, URL: origin.URL}, "ada")
	}
	blue, err := fetch("blue")
	red, rerr := fetch("red")
	if err != nil || rerr != nil {
		t.Fatal(err, rerr)
	}
	if _, err := fetch("red"); status(err) != http.StatusConflict {
		t.Errorf("twice at a time: %v", err)
	}
	for project, want := range map[string]nodeapi.Image{"blue": blue, "red": red} {
		if got, err := r.Show(t.Context(), "os", project); err != nil || got.UUID != want.UUID {
			t.Errorf("%s sees %+v, %v", project, got, err)
		}
	}
	if _, err := r.Show(t.Context(), "os", ""); !errors.Is(err, node.ErrConflict) {
		t.Errorf("one of two: %v", err)
	}
	if _, err := r.Show(t.Context(), blue.UUID, "red"); !errors.Is(err, node.ErrNotFound) {
		t.Errorf("another project's: %v", err)
	}
	if err := r.Delete(t.Context(), red.UUID); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Show(t.Context(), "os", ""); err != nil || got.UUID != blue.UUID {
		t.Errorf("the other transfer is %+v, %v", got, err)
	}
}

// TestProjectLimit: the images of a project take no more than its limit, regardless of the size that an upload
// announces. Images of other projects, and images for all, do not count.
func TestProjectLimit(t *testing.T) {
	r := newRig(t, t.TempDir())
	origin := httptest.NewServer(http.FileServerFS(fstest.MapFS{"large.raw": {Data: make([]byte, 2<<10)}}))
	defer origin.Close()
	for i, tc := range []struct {
		owner     string
		announced bool
		url       string
		size      int
		taken     bool
	}{
		{"blue", true, "", 2 << 10, true},
		{"blue", true, "", 2 << 10, false},
		{"blue", false, "", 2 << 10, false},
		{"blue", true, origin.URL + "/large.raw", 0, false},
		{"red", true, "", 2 << 10, true},
		{"", true, "", 8 << 10, true},
		{"blue", false, "", 1 << 10, true},
		{"blue", true, "", 1, false},
	} {
		w := nodeapi.NewImage{Name: fmt.Sprint("image-", i), Owner: tc.owner, URL: tc.url}
		var err error
		if tc.url == "" {
			body := bytes.Repeat([]byte{byte(i), 1}, tc.size)[:tc.size]
			size := int64(tc.size)
			if !tc.announced {
				size = -1
			}
			_, err = r.Upload(t.Context(), w, "ada", bytes.NewReader(body), size)
		} else {
			err = r.fetched(t, w)
		}
		refused := err != nil && strings.Contains(err.Error(), "--image-project-limit")
		if refused == tc.taken || err != nil && !refused {
			t.Errorf("image %d of %q: taken %v: %v", i, tc.owner, tc.taken, err)
		}
	}
	if n := len(r.files(t)); n != 4 {
		t.Errorf("%d files, expected the 4 that were taken", n)
	}
}

// fetched adds an image from a URL, to its end.
func (r *rig) fetched(t *testing.T, w nodeapi.NewImage) error {
	t.Helper()
	i, err := r.Fetch(t.Context(), w, "ada")
	for end := time.Now().Add(20 * time.Second); err == nil && i.State == nodeapi.ImageAdding &&
		time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		i, err = r.Show(t.Context(), w.Name, w.Owner)
	}
	if err == nil && i.State != nodeapi.ImageReady {
		err = errors.New(i.Error)
	}
	return err
}
