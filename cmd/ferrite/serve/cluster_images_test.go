package serve

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// sendImage uploads an image by a conductor.
func sendImage(t testing.TB, c *conductor, name string, body []byte) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPut, c.URL+nodeapi.ImagesPath+"/"+name+"/file", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("image %s: %d %s, %v\n%s", name, resp.StatusCode, text, err, c.Log)
	}
}

// stranger: a client that is no member gets none of the bytes that members exchange, neither from the forwarding member
// nor from the leader.
func stranger(t *testing.T, forwards, leads *conductor, image []byte) {
	t.Helper()
	for _, c := range []*conductor{forwards, leads} {
		for _, path := range []string{"/cluster/images/", "/%63luster/images/"} {
			resp, err := http.Get(fmt.Sprintf("%s%s%x", c.URL, path, sha256.Sum256(image)))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			if closed := resp.Body.Close(); err != nil || closed != nil || resp.StatusCode != http.StatusNotFound {
				t.Errorf("a stranger is answered %d, %d bytes (%v)", resp.StatusCode, len(text), err)
			}
		}
	}
}

// TestClusterImages: an image is uploaded by any member and kept by the leader. The next leader fetches it from that
// member, keeps it, and says so where the member is no more.
func TestClusterImages(t *testing.T) {
	t.Parallel()
	database, key := postgrestest.URL(t), clusterKey(t, "0123456789")
	first := startMember(t, "first", database, key)
	ready(t, first)
	second := startMember(t, "second", database, key)
	t.Cleanup(func() { second.End(t) })
	ready(t, second)
	image := bytes.Repeat([]byte{0, 1, 2, 3}, 1<<19)
	sendImage(t, second, "os", image) // the leader has it
	other := append(bytes.Clone(image), 0, 0, 0, 0)
	sendImage(t, first, "lost", other)
	first.Call(t, "PUT", "/ferrite/v1/conductors/first/drained", map[string]any{"drained": true}, http.StatusNoContent)
	checkLeader(t, second, "second")
	ready(t, first)
	ready(t, second)
	for _, c := range []*conductor{first, second} {
		got := c.Call(t, "GET", nodeapi.ImagesPath+"/os", nil, http.StatusOK)
		if got["conductor"] != "first" || got["state"] != nodeapi.ImageReady {
			t.Errorf("the image is %v", got)
		}
		status, body, err := c.Send(http.MethodGet, nodeapi.ImagesPath+"/os/file", nil)
		if err != nil || status != http.StatusOK || !bytes.Equal(body, image) {
			t.Errorf("%d, %d bytes, %v", status, len(body), err)
		}
	}
	stranger(t, first, second, image)
	first.End(t)
	if status, body, err := second.Send(http.MethodGet, nodeapi.ImagesPath+"/os/file", nil); err != nil ||
		status != http.StatusOK || !bytes.Equal(body, image) {
		t.Errorf("without the member that was given it: %d, %d bytes, %v", status, len(body), err)
	}
	status, text, err := second.Send(http.MethodGet, nodeapi.ImagesPath+"/lost/file", nil)
	if err != nil || status != http.StatusServiceUnavailable ||
		!strings.Contains(string(text), "conductor first has them") {
		t.Errorf("an image that nobody has: %d %s, %v", status, text, err)
	}
}
