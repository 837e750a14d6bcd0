package imagesource

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"
)

// artifact is the object under one reference of a registry: a disk, or an index of disks for several architectures and
// in several formats.
type artifact struct {
	repo *remote.Repository
	arch string // of the machine, "" when not known
}

// found is a disk in a registry.
type found struct {
	layer  ocispec.Descriptor
	format string // raw or qcow2; "" when it is compressed or unknown
}

// diskType is a value of the annotation "disktype" in an index, which Podman's
// machine images brought up.
type diskType struct {
	rank   int // the lower the better: raw is written as it comes
	format string
}

var diskTypes = map[string]diskType{
	"raw": {1, "raw"}, "applehv": {2, "raw"}, "qcow2": {3, "qcow2"}, "qemu": {4, "qcow2"}, "": {100, ""},
}

// architectures are other names of the architectures in properties/cpu_arch.
var architectures = map[string]string{"x86_64": "amd64", "amd64": "x86_64", "aarch64": "arm64", "arm64": "aarch64"}

// disk finds the disk for the machine.
func (a *artifact) disk(ctx context.Context) (found, error) {
	var doc struct {
		Manifests []ocispec.Descriptor `json:"manifests"`
		Layers    []ocispec.Descriptor `json:"layers"`
	}
	desc, err := read(ctx, a.repo, a.repo.Reference.Reference, &doc)
	if err != nil {
		return found{}, err
	}
	if len(doc.Manifests) == 0 {
		return onlyLayer(doc.Layers, desc, "")
	}
	var why error
	fit := a.fitting(doc.Manifests)
	for _, m := range fit {
		var manifest ocispec.Manifest
		if _, err := read(ctx, a.repo, m.Digest.String(), &manifest); err != nil {
			return found{}, err
		}
		disk, err := onlyLayer(manifest.Layers, m, diskTypes[m.Annotations["disktype"]].format)
		if err == nil {
			return disk, nil
		}
		why = err
	}
	if why == nil {
		why = permanent{fmt.Errorf("none of the %d images in %s is a raw or qcow2 disk for cpu_arch %q", len(doc.Manifests),
			desc.Digest, a.arch)}
	}
	return found{}, why
}

// fitting is the disks of an index that the machine can boot, the best first.
func (a *artifact) fitting(all []ocispec.Descriptor) []ocispec.Descriptor {
	fit := slices.DeleteFunc(slices.Clone(all), func(m ocispec.Descriptor) bool {
		_, known := diskTypes[m.Annotations["disktype"]]
		return !known || !a.fits(m.Platform)
	})
	slices.SortStableFunc(fit, func(x, y ocispec.Descriptor) int {
		return cmp.Compare(diskTypes[x.Annotations["disktype"]].rank, diskTypes[y.Annotations["disktype"]].rank)
	})
	return fit
}

// fits compares architectures, where both are known.
func (a *artifact) fits(p *ocispec.Platform) bool {
	if p == nil || p.Architecture == "" || a.arch == "" {
		return true
	}
	return p.Architecture == a.arch || p.Architecture == architectures[a.arch]
}

// onlyLayer returns the disk of a manifest. A manifest with several layers, or with an archive of files as its layer,
// is a container image. Nothing here makes a disk of it.
func onlyLayer(layers []ocispec.Descriptor, of ocispec.Descriptor, format string) (found, error) {
	if len(layers) != 1 {
		return found{}, permanent{fmt.Errorf("manifest %s has %d layers, expected one, the disk", of.Digest,
			len(layers))}
	}
	layer := layers[0]
	if err := layer.Digest.Validate(); err != nil {
		return found{}, permanent{fmt.Errorf("manifest %s: digest of its layer %q: %w", of.Digest, layer.Digest, err)}
	}
	// vnd.oci.image.layer.v1.tar+gzip, vnd.docker.image.rootfs.diff.tar.gzip
	if strings.Contains(layer.MediaType, ".tar") {
		return found{}, permanent{fmt.Errorf("manifest %s is a container image: its layer is %s, expected a disk", of.Digest,
			layer.MediaType)}
	}
	name := layer.Annotations[ocispec.AnnotationTitle]
	for _, packed := range []string{"zstd", "gzip", "zst", "gz", "xz"} {
		if strings.HasSuffix(layer.MediaType, packed) || strings.HasSuffix(name, "."+packed) {
			format = ""
		}
	}
	return found{layer, format}, nil
}
