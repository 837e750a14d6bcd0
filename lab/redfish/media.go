package redfish

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"sync"
	"time"
)

// lookTimeout bounds the look at one image.
const lookTimeout = 30 * time.Second

// media is the virtual CD: an image at a URL, in the machine's tray.
type media struct {
	client *http.Client
	tray   Tray

	mu    sync.Mutex
	image string // the URI; empty is an empty drive
}

// inserted is the URI and the name of the image in the drive, if any.
func (m *media) inserted() (image, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.image, path.Base(m.image)
}

// insert looks at the image and puts its URL into the tray: the machine reads it in parts.
func (m *media) insert(ctx context.Context, q insertRequest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.image != "" {
		return problem(resourceInUse).because(errors.New("there is media inserted: eject it first"))
	}
	u, err := m.look(ctx, q)
	if err != nil {
		return problem(couldNotConnect, q.Image).about("#/Image").because(err)
	}
	if err := m.tray.InsertMedia(ctx, u); err != nil {
		return err
	}
	m.image = q.Image
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
	m.image = ""
	return nil
}

// look asks for the image of a request, as BMCs do, and returns its URL with the request's
// credentials. It reads no content.
func (m *media) look(ctx context.Context, q insertRequest) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	u, err := url.Parse(q.Image)
	if err != nil {
		return "", err
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("scheme %q: expected http or https", u.Scheme)
	}
	if q.UserName != "" {
		u.User = url.UserPassword(q.UserName, q.Password)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, u.String(), nil)
	if err != nil {
		return "", err
	}
	response, err := m.client.Do(request)
	if err != nil {
		return "", err
	}
	if err := response.Body.Close(); err != nil {
		return "", err
	}
	switch {
	case response.StatusCode != http.StatusOK:
		return "", fmt.Errorf("expected status 200, found %s", response.Status)
	case response.ContentLength == 0:
		return "", errors.New("the image is empty")
	case response.Header.Get("Accept-Ranges") != "bytes":
		return "", errors.New("the server does not answer ranges, in which a drive reads")
	}
	return u.String(), nil
}
