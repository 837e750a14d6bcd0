package imagesource

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// registryTime bounds all that a registry is asked for one image.
const registryTime = 25 * time.Second

// parseOCI reads oci://registry/repository:tag or @digest; without either the tag
// is latest.
func parseOCI(source string) (registry.Reference, error) {
	ref, err := registry.ParseReference(strings.TrimPrefix(source, "oci://"))
	if err != nil {
		return ref, permanent{fmt.Errorf("%q: expected oci://registry/repository:tag or @sha256:digest: %w", source, err)}
	}
	ref.Reference = ref.ReferenceOrDefault()
	return ref, nil
}

func (s *Sources) checkOCI(_ context.Context, n node.Node, source string) (found node.ImageFound, err error) {
	ref, err := parseOCI(source)
	if err == nil {
		_, err = secretFor(n, ref)
	}
	return found, err
}

// locateOCI finds the blob with the disk of n in a container registry (OCI distribution specification 1.1). Its digest
// is the checksum. The agent gets the token that the registry issued for the node's pull secret. The token is for
// reading that repository only, and soon expires.
func (s *Sources) locateOCI(ctx context.Context, n node.Node, info agentapi.ImageInfo) (agentapi.ImageInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, registryTime)
	defer cancel()
	ref, err := parseOCI(info.URLs[0])
	if err != nil {
		return info, err
	}
	secret, err := secretFor(n, ref)
	if err != nil {
		return info, err
	}
	let := &admission{Cache: auth.NewCache()}
	repo := &remote.Repository{Reference: ref, Client: &auth.Client{
		Client: secret.guard(s.client), Cache: let, Credential: auth.StaticCredential(ref.Host(), secret.Credential),
	}}
	disk, err := (&artifact{repo, text(n.Properties, "cpu_arch")}).disk(ctx)
	if err != nil {
		return info, lasting(secret.explain(err, ref))
	}
	algo, sum := disk.layer.Digest.Algorithm().String(), disk.layer.Digest.Encoded()
	if given := info.OSHashValue; given != "" && (info.OSHashAlgo != algo || !strings.EqualFold(given, sum)) {
		return info, permanent{fmt.Errorf("the registry has %s, image_os_hash_value says %s:%s", disk.layer.Digest,
			info.OSHashAlgo, given)}
	}
	info.OSHashAlgo, info.OSHashValue = algo, sum
	info.URLs = []string{fmt.Sprintf("https://%s/v2/%s/blobs/%s", ref.Host(), ref.Repository, disk.layer.Digest)}
	if info.DiskFormat == "" {
		info.DiskFormat = disk.format
	}
	if let.header != "" {
		info.RequestAuthorize = base64.StdEncoding.EncodeToString([]byte(let.header))
	}
	return info, nil
}

// lasting marks answers that a registry will repeat: the image does not exist, or the caller may not read it.
func lasting(err error) error {
	var answer *errcode.ErrorResponse
	refused := errors.As(err, &answer) && answer.StatusCode < 500 && answer.StatusCode != http.StatusTooManyRequests
	if refused || errors.Is(err, errdef.ErrNotFound) || errors.Is(err, errdef.ErrSizeExceedsLimit) {
		return permanent{err}
	}
	return err
}

// admission notes the Authorization header by which a registry let us in.
type admission struct {
	auth.Cache
	header string // "" where none was asked for
}

// Set learns how to get a token, and passes it on.
func (a *admission) Set(ctx context.Context, host string, scheme auth.Scheme, key string,
	fetch func(context.Context) (string, error)) (string, error) {
	token, err := a.Cache.Set(ctx, host, scheme, key, fetch)
	if err == nil {
		a.header = scheme.String() + " " + token
	}
	return token, err
}

func text(m map[string]any, key string) string {
	v, _ := m[key].(string)
	return v
}

// Bounds of a manifest or index. In Podman's machine images they have some kilobytes.
const (
	maxManifest = 512 << 10
	maxValues   = 20_000 // values and keys
)

// read fetches a manifest or index into a document; its digest is verified.
func read(ctx context.Context, repo *remote.Repository, reference string, into any) (ocispec.Descriptor, error) {
	desc, raw, err := oras.FetchBytes(ctx, repo, reference, oras.FetchBytesOptions{MaxBytes: maxManifest})
	if err != nil {
		return desc, err
	}
	if err := nodeapi.DecodePeer(raw, maxValues, into); err != nil {
		return desc, permanent{fmt.Errorf("manifest %s: %w", desc.Digest, err)}
	}
	return desc, nil
}
