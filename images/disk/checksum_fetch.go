package disk

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// maxChecksumFile bounds the download of a checksum file, bytes.
const maxChecksumFile = 1 << 20

// FetchHash returns the sum in os_hash_algo and os_hash_value. As in Ironic the value may also be the URL of a
// checksum file, which Metal3's checksumType beside a URL leads to. Then the file's algorithm counts.
func FetchHash(ctx context.Context, client *http.Client, algorithm, value, imageURL string, opts HTTPOptions,
) (Checksum, error) {
	if isChecksumURL(value) {
		return FetchChecksum(ctx, client, value, imageURL, opts)
	}
	return NewChecksum(algorithm, value)
}

// FetchChecksum turns an operator's checksum into a sum. value is a sum, or the URL of a checksum file, which is
// fetched and searched for the name of the image at imageURL.
func FetchChecksum(
	ctx context.Context, client *http.Client, value, imageURL string, opts HTTPOptions,
) (Checksum, error) {
	if !isChecksumURL(value) {
		return parseChecksum(value)
	}
	src, err := OpenHTTPSource(ctx, client, value, opts)
	if err != nil {
		return Checksum{}, fmt.Errorf("checksum file: %w", err)
	}
	defer src.Close() //nolint:errcheck // only read from: nothing to lose
	body, err := src.Body(ctx)
	if err != nil {
		return Checksum{}, fmt.Errorf("checksum file %s: %w", src.Name(), err)
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxChecksumFile+1))
	if z, isPacked := Decoder(bytes.NewReader(text)); err == nil && isPacked == nil { // by the server, unasked
		text, err = io.ReadAll(io.LimitReader(z, maxChecksumFile+1))
	}
	if err != nil {
		return Checksum{}, fmt.Errorf("checksum file %s: %w", src.Name(), err)
	}
	if len(text) > maxChecksumFile {
		return Checksum{}, fmt.Errorf("%w: file %s is larger than %d bytes", ErrChecksum, src.Name(), maxChecksumFile)
	}
	image, err := url.Parse(imageURL)
	if err != nil {
		return Checksum{}, fmt.Errorf("image URL %q: %w", clip(imageURL), err)
	}
	sum, err := parseChecksumFile(text, image.Path)
	if err != nil {
		return Checksum{}, fmt.Errorf("checksum file %s: %w", src.Name(), err)
	}
	return sum, nil
}
