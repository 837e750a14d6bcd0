package redfish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"sync"
	"time"
)

// fetchTimeout bounds copying one image; a lab's images are local.
const fetchTimeout = 5 * time.Minute

// media is the virtual CD: a local copy of an image, in the machine's tray.
type media struct {
	client *http.Client
	dir    string
	tray   Tray

	mu    sync.Mutex
	image string // the URI; empty is an empty drive
	file  string
}

// inserted is the URI and the name of the image in the drive, if any.
func (m *media) inserted() (image, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.image, path.Base(m.image)
}

// insert copies the image and puts it into the tray.
func (m *media) insert(ctx context.Context, q insertRequest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.image != "" {
		return problem(resourceInUse).because(errors.New("there is media inserted: eject it first"))
	}
	file, err := m.fetch(ctx, q)
	if err != nil {
		return problem(couldNotConnect, q.Image).about("#/Image").because(err)
	}
	if err := m.tray.InsertMedia(ctx, file); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	m.image, m.file = q.Image, file
	return nil
}

// eject empties the drive; an empty drive stays empty.
func (m *media) eject(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.image == "" {
		return nil
	}
	if err := m.tray.EjectMedia(ctx); err != nil {
		return err
	}
	file := m.file
	m.image, m.file = "", ""
	return os.Remove(file)
}

// fetch copies the image of a request to a file of its own.
func (m *media) fetch(ctx context.Context, q insertRequest) (file string, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	u, err := url.Parse(q.Image)
	if err != nil {
		return "", err
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("scheme %q: expected http or https", u.Scheme)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, q.Image, nil)
	if err != nil {
		return "", err
	}
	if q.UserName != "" {
		request.SetBasicAuth(q.UserName, q.Password)
	}
	response, err := m.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("expected status 200, found %s", response.Status)
	}
	out, err := os.CreateTemp(m.dir, "media-*.iso")
	if err != nil {
		return "", err
	}
	n, err := io.Copy(out, response.Body)
	if err == nil && n == 0 {
		err = errors.New("the image is empty")
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return "", errors.Join(err, os.Remove(out.Name()))
	}
	return out.Name(), nil
}
