package e2e

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
)

// The image in the registry, and the account that reads it.
const (
	repository  = "lab/os"
	registryTag = "first"
	pullSecret  = "puller:hunter2"
	pullToken   = "for-reading-lab-os-alone"
)

// openFiles is where the registry's server has files for everybody.
const openFiles = "/files/"

// registry is a container registry of one image with a disk as its only layer (OCI distribution specification 1.1). It
// gives a token to a client that knows the secret. All else needs the token.
type registry struct {
	host     string
	disk     string // path of the layer's file
	files    string // folder of openFiles
	digest   string // its digest
	manifest []byte

	mu   sync.Mutex
	read map[string]int // requests that were answered, by path
}

// newRegistry makes one of a file that is packed with gzip and has this SHA-256.
func newRegistry(host, disk, sum string) (*registry, error) {
	st, err := os.Stat(disk)
	if err != nil {
		return nil, err
	}
	type object = map[string]any
	r := &registry{host: host, disk: disk, digest: "sha256:" + sum, read: map[string]int{}}
	r.manifest, err = json.Marshal(object{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"layers": []object{{
			"mediaType": "application/gzip", "digest": r.digest, "size": st.Size(),
			"annotations": object{"org.opencontainers.image.title": filepath.Base(disk)},
		}},
	})
	return r, err
}

// source is the image's URL as operators give it.
func (r *registry) source() string {
	return fmt.Sprintf("oci://%s/%s:%s", r.host, repository, registryTag)
}

// file is the https URL of an image's file.
func (r *registry) file(id, file string) string {
	return "https://" + r.host + openFiles + id + "/" + filepath.Base(file)
}

func (r *registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if strings.HasPrefix(q.URL.Path, openFiles) {
		http.StripPrefix(openFiles, http.FileServer(http.Dir(r.files))).ServeHTTP(w, q)
		return
	}
	given := q.Header.Get("Authorization")
	if q.URL.Path == "/token" {
		if given != "Basic "+base64.StdEncoding.EncodeToString([]byte(pullSecret)) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"token": pullToken}) // the client may be gone
		return
	}
	if given != "Bearer "+pullToken {
		w.Header().Set("WWW-Authenticate",
			fmt.Sprintf(`Bearer realm="https://%s/token",service="lab",scope="repository:%s:pull"`, r.host, repository))
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	r.mu.Lock()
	r.read[q.URL.Path]++
	r.mu.Unlock()
	sum := sha256.Sum256(r.manifest)
	named := "sha256:" + hex.EncodeToString(sum[:])
	switch q.URL.Path {
	case r.path("manifests", registryTag), r.path("manifests", named):
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		w.Header().Set("Docker-Content-Digest", named)
		_, _ = w.Write(r.manifest)
	case r.path("blobs", r.digest):
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeFile(w, q, r.disk)
	default:
		http.NotFound(w, q)
	}
}

// path is where the registry has something of its repository.
func (r *registry) path(kind, reference string) string {
	return fmt.Sprintf("/v2/%s/%s/%s", repository, kind, reference)
}

// handedOut reports whether the disk was read.
func (r *registry) handedOut() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.read[r.path("blobs", r.digest)] > 0
}

// serve serves it over TLS until stop is called.
func (r *registry) serve(l net.Listener, by *certtest.Authority) (stop func() error, err error) {
	host, _, err := net.SplitHostPort(r.host)
	if err != nil {
		return nil, err
	}
	chain, key, err := by.Issue(host)
	if err != nil {
		return nil, err
	}
	own, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, err
	}
	server := &http.Server{
		Handler: r, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12},
	}
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(l, "", "") }()
	return func() error {
		err := server.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}, nil
}
