package steps

import (
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

// unpackDrive takes base64 of a gzipped image, base64 of an image, or the
// bytes of either, as a server may send them.
func unpackDrive(s string) ([]byte, error) {
	raw, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, strings.NewReader(strings.TrimSpace(s))))
	if err != nil { // not base64, so perhaps the thing itself
		raw = []byte(s)
	}
	packed := base64.StdEncoding.EncodeToString(raw)
	if len(raw) < 2 || raw[0] != 0x1f || raw[1] != 0x8b {
		if packed, err = configdrive.Encode(raw); err != nil {
			return nil, err
		}
	}
	return configdrive.Decode(packed)
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
