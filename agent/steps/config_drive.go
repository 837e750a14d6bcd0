package steps

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/images/configdrive"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Bounds of fetching a config drive: base64 takes four bytes for three.
const (
	driveTimeout  = 2 * time.Minute
	maxDriveBytes = configdrive.MaxSize/3*4 + 4096
)

// configDrive finds and unpacks the config drive; nil when there is none. It
// may be beside the image or within its description, where Ironic puts it
// too.
func (m *Machine) configDrive(ctx context.Context, p agentapi.PrepareImageParams) ([]byte, error) {
	drive := p.ConfigDrive
	if drive == "" && p.ImageInfo.ConfigDrive != nil {
		s, ok := p.ImageInfo.ConfigDrive.(string)
		if !ok {
			return nil, fmt.Errorf("image_info.configdrive: expected base64 or a URL, found an object of kind %T",
				p.ImageInfo.ConfigDrive)
		}
		drive = s
	}
	if drive == "" {
		return nil, nil
	}
	if strings.HasPrefix(drive, "http://") || strings.HasPrefix(drive, "https://") {
		b, err := m.fetchDrive(ctx, drive)
		if err != nil {
			return nil, err
		}
		drive = string(b)
	}
	return unpackDrive(drive)
}

// unpackDrive takes base64 of an image, gzipped or not, the bytes of either, as a server may
// send them, or any of these as a server compresses them unasked.
func unpackDrive(s string) ([]byte, error) {
	image, err := configdrive.Decode(s)
	if err == nil {
		return image, nil
	}
	if image, err := configdrive.Decode(base64.StdEncoding.EncodeToString([]byte(s))); err == nil {
		return image, nil
	}
	if z, zipErr := gzip.NewReader(strings.NewReader(s)); zipErr == nil {
		text, zipErr := io.ReadAll(io.LimitReader(z, maxDriveBytes))
		if zipErr == nil && !strings.HasPrefix(string(text), "\x1f\x8b") {
			return configdrive.Decode(string(text))
		}
	}
	return nil, err
}

// fetchDrive downloads a config drive.
func (m *Machine) fetchDrive(ctx context.Context, u string) (b []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, driveTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, fmt.Errorf("config drive: %w", err)
	}
	resp, err := m.Client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("config drive: %w", err)
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("config drive %s: server answered %s", u, resp.Status)
	}
	b, err = io.ReadAll(io.LimitReader(resp.Body, maxDriveBytes+1))
	if err != nil {
		return nil, fmt.Errorf("config drive %s: %w", u, err)
	}
	if len(b) > maxDriveBytes {
		return nil, fmt.Errorf("config drive %s: larger than %d bytes", u, maxDriveBytes)
	}
	return b, nil
}
