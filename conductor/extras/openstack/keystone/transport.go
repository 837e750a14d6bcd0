package keystone

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// maxBody bounds an answer: the catalogue of a large cloud is some hundred KiB.
const maxBody = 4 << 20

// Bounded is a transport to a service of OpenStack. Its answers end with an error after 4 MiB.
type Bounded struct{ http.RoundTripper }

// RoundTrip sends a request.
func (b Bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err //nolint:wrapcheck // the transport's own
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: maxBody}
	return resp, nil
}

type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, fmt.Errorf("the answer is longer than %d MiB", maxBody>>20)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err //nolint:wrapcheck // io.EOF must stay io.EOF
}

// refuseRedirect follows none: the request holds a token in a header of its own, which net/http would take along to
// another host.
func refuseRedirect(r *http.Request, _ []*http.Request) error {
	return errors.New("it sends requests on to " + r.URL.Host + ": give the URL that answers itself")
}
