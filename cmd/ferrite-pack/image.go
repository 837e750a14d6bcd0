package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// image is an OCI image layout (https://github.com/opencontainers/image-spec), one manifest an architecture. The
// layer has the program, its documents and an empty data folder; there is no shell and no other program.
type image struct {
	at      time.Time
	version string
	index   v1.Index
	blobs   []entry
}

// imageUser runs the conductor. For the boot service a container needs root and three capabilities (docs/install.md).
const imageUser = 65532

func newImage(at time.Time, version string) *image {
	return &image{at: at, version: version,
		index: v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex}}
}

// add adds an architecture.
func (i *image) add(arch string, t []entry) error {
	layer, err := tarred(t, i.at, entry{path: "var/lib/ferrite/", mode: fs.ModeDir | 0o700, owner: imageUser},
		entry{path: "tmp/", mode: fs.ModeDir | 0o777})
	if err != nil {
		return err
	}
	plain := digest.FromBytes(layer)
	if layer, err = gzipped(layer); err != nil {
		return err
	}
	conf := v1.Image{Created: &i.at, Platform: v1.Platform{OS: "linux", Architecture: arch},
		Config: v1.ImageConfig{User: fmt.Sprintf("%d:%d", imageUser, imageUser), Entrypoint: []string{programPath},
			Cmd: []string{"serve"}, Env: []string{"FERRITE_DATA_DIR=/var/lib/ferrite"}, StopSignal: "SIGTERM",
			ExposedPorts: map[string]struct{}{"6385/tcp": {}}, Volumes: map[string]struct{}{"/var/lib/ferrite": {}}},
		RootFS:  v1.RootFS{Type: "layers", DiffIDs: []digest.Digest{plain}},
		History: []v1.History{{Created: &i.at, CreatedBy: "ferrite-pack"}},
	}
	config, err := i.blobOf(v1.MediaTypeImageConfig, conf)
	if err != nil {
		return err
	}
	manifest, err := i.blobOf(v1.MediaTypeImageManifest, v1.Manifest{Versioned: specs.Versioned{SchemaVersion: 2},
		MediaType: v1.MediaTypeImageManifest, Config: config,
		Layers: []v1.Descriptor{i.blob(v1.MediaTypeImageLayerGzip, layer)},
		Annotations: map[string]string{v1.AnnotationVersion: i.version, v1.AnnotationTitle: "ferrite",
			v1.AnnotationLicenses: "Apache-2.0"}})
	if err != nil {
		return err
	}
	manifest.Platform = &v1.Platform{OS: "linux", Architecture: arch}
	i.index.Manifests = append(i.index.Manifests, manifest)
	return nil
}

func (i *image) blob(mediaType string, text []byte) v1.Descriptor {
	i.blobs = append(i.blobs, entry{path: fmt.Sprintf("blobs/sha256/%x", sha256.Sum256(text)), text: text, mode: 0o644})
	return v1.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(text), Size: int64(len(text))}
}

func (i *image) blobOf(mediaType string, what any) (v1.Descriptor, error) {
	text, err := json.Marshal(what)
	if err != nil {
		return v1.Descriptor{}, err
	}
	return i.blob(mediaType, text), nil
}

// write writes the layout as one tar. An index of both architectures has the version as its name.
func (i *image) write(to string) error {
	both, err := i.blobOf(v1.MediaTypeImageIndex, i.index)
	if err != nil {
		return err
	}
	both.Annotations = map[string]string{v1.AnnotationRefName: i.version}
	top, err := json.Marshal(v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex,
		Manifests: []v1.Descriptor{both}})
	if err != nil {
		return err
	}
	layout, err := json.Marshal(v1.ImageLayout{Version: v1.ImageLayoutVersion})
	if err != nil {
		return err
	}
	text, err := tarred(append(i.blobs, entry{path: v1.ImageIndexFile, text: top, mode: 0o644},
		entry{path: v1.ImageLayoutFile, text: layout, mode: 0o644}), i.at)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}
