package glance_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/glance"
)

// saying is a transport that answers every question with a body.
type saying []byte

func (s saying) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r,
		Body: io.NopCloser(bytes.NewReader(s))}, nil
}

// FuzzImage: any answer of Glance is the requested image, or an error of one line.
func FuzzImage(f *testing.F) {
	for _, seed := range []string{described, strings.Replace(described, "100000", `"100000"`, 1), `{"id":7}`,
		`{"id":"other"}`, `[`, "", `{"id":"` + id + `","size":-1,"tags":{}}`, `{"id":"a\nb"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		c, err := glance.New(glance.Options{URL: "http://glance:9292", Transport: saying(answer)})
		if err != nil {
			t.Fatal(err)
		}
		switch i, err := c.Image(t.Context(), id); {
		case err == nil && !strings.EqualFold(i.ID, id):
			t.Errorf("%s is taken for the image", answer)
		case err != nil && strings.ContainsAny(err.Error(), "\n\x1b"):
			t.Errorf("an error with lines of the answer's own: %q", err)
		}
	})
}
