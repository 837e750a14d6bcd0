package steps

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/agent/contact"
	image "github.com/ferrite-metal/ferrite/images/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// openImage opens the first of an image's URLs that answers, the others being
// mirrors of it, and finds out the checksum to expect.
func (m *Machine) openImage(ctx context.Context, info agentapi.ImageInfo) (*image.Mirrors, image.Checksum, error) {
	opts := image.HTTPOptions{Retries: max(m.Download.Retries, 1), Backoff: m.Download.RetryInterval,
		Retrying: m.reportRetry, OfDisk: true}
	if info.RequestAuthorize != "" {
		value, err := base64.StdEncoding.DecodeString(info.RequestAuthorize)
		if err != nil {
			return nil, image.Checksum{}, fmt.Errorf("%w: image_request_authorization is not base64: %w", image.ErrSource, err)
		}
		opts.Header = http.Header{"Authorization": {string(value)}}
	}
	ctx, err := contact.WithProxies(ctx, info)
	if err != nil {
		return nil, image.Checksum{}, fmt.Errorf("%w: %w", image.ErrSource, err)
	}
	sum, err := m.checksum(ctx, info, opts)
	if err != nil {
		return nil, sum, err
	}
	src, err := image.OpenMirrors(ctx, m.Client, info.URLs, opts, func(why error) {
		m.Log.Warn("image continues from its next mirror", "image", info.ID, "err", why)
	})
	if err != nil {
		return nil, sum, err
	}
	if err := m.permit(image.Uncoded(src).Head()); err != nil {
		return nil, sum, errors.Join(err, src.Close())
	}
	return src, sum, nil
}

// reportRetry shows operators why a download does not begin or go on.
func (m *Machine) reportRetry(try, tries int, err error) {
	m.Log.Warn("image is requested again", "try", try, "of", tries, "err", err)
	const most = 200
	text := []rune(err.Error())
	var dns *net.DNSError
	if hint := nameHint(err); hint != "" && errors.As(err, &dns) { // the remedy, rather than the sockets of the look-up
		text = []rune("lookup " + dns.Name + hint)
	}
	m.Progress(agentapi.Progress{Step: "write_image",
		Stage: fmt.Sprintf("try %d of %d failed: %s", try, tries, string(text[:min(len(text), most)]))})
}

// nameHint explains a failed look-up of a name on a machine without a name server: Go's resolver then asks the
// loopback.
func nameHint(err error) string {
	var dns *net.DNSError
	if !errors.As(err, &dns) {
		return ""
	}
	host, _, splitErr := net.SplitHostPort(dns.Server)
	if splitErr != nil || !net.ParseIP(host).IsLoopback() {
		return ""
	}
	return ": the machine has no name server; set --boot-dns of the conductor, or have the URL name an address"
}

// checksum prefers os_hash_value over checksum, as the stronger of the two. In a
// checksum file the image has the name of its first URL.
func (m *Machine) checksum(
	ctx context.Context, info agentapi.ImageInfo, opts image.HTTPOptions,
) (image.Checksum, error) {
	if info.OSHashValue != "" {
		return image.FetchHash(ctx, m.Client, info.OSHashAlgo, info.OSHashValue, info.URLs[0], opts)
	}
	return image.FetchChecksum(ctx, m.Client, info.Checksum, info.URLs[0], opts)
}

// permit compares an image with the formats that the conductor allows, by its content
// and not by its declared format. Compressed streams contain raw images.
func (m *Machine) permit(head []byte) error {
	allowed := m.Config().PermittedImageFormats
	if len(allowed) == 0 {
		return nil
	}
	format, err := image.Detect(head)
	if err != nil {
		return err
	}
	if format != image.QCOW2 {
		format = image.Raw
	}
	if !slices.Contains(allowed, string(format)) {
		return fmt.Errorf("%w: it is %s, the conductor permits %s", image.ErrFormat, format, strings.Join(allowed, ", "))
	}
	return nil
}

// invalidImage is a request that cannot be carried out.
func invalidImage(err error) error {
	return agentapi.NewCommandError("InvalidImage", "Image cannot be deployed", err.Error())
}

// imageFailure names a failure as ironic-python-agent does.
func imageFailure(err error) error {
	var status *image.HTTPStatusError
	if hint := nameHint(err); hint != "" {
		err = fmt.Errorf("%w%s", err, hint)
	}
	switch {
	case errors.Is(err, image.ErrChecksum):
		return agentapi.NewCommandError("ImageChecksumError", "Error verifying image checksum", err.Error())
	case errors.Is(err, image.ErrFormat):
		return invalidImage(err)
	case errors.As(err, &status), errors.Is(err, image.ErrSource):
		return agentapi.NewCommandError("ImageDownloadError", "Error downloading image", err.Error())
	default:
		return agentapi.NewCommandError("ImageWriteError", "Error writing image to device", err.Error())
	}
}
