package node

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/flags"
)

// maxDrive is the largest config drive: it has to fit a partition of 64 MiB.
const maxDrive = 64 << 20

// readConfigDrive converts the value of --config-drive for the API: to a URL, to base64 text, or to an object with the
// documents of a drive.
func readConfigDrive(what string) (any, error) {
	if strings.HasPrefix(what, "http://") || strings.HasPrefix(what, "https://") {
		return what, nil
	}
	if strings.HasPrefix(strings.TrimSpace(what), "{") {
		return driveObject([]byte(what))
	}
	info, err := os.Stat(what)
	if err != nil {
		return nil, fmt.Errorf("%q is no file, no folder, no URL and no JSON object: %w", what, err)
	}
	if info.IsDir() {
		return driveFolder(what)
	}
	if info.Size() > maxDrive {
		return nil, fmt.Errorf("%s has %d bytes, a config drive at most %d", what, info.Size(), maxDrive)
	}
	data, err := os.ReadFile(what)
	if err != nil {
		return nil, err
	}
	return driveFile(what, data)
}

// driveObject checks the keys a config drive can be made of.
func driveObject(data []byte) (any, error) {
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	for key := range object {
		switch key {
		case "meta_data", "user_data", "network_data", "vendor_data":
		default:
			return nil, fmt.Errorf("key %q is unknown: expected meta_data, user_data, network_data, vendor_data", key)
		}
	}
	return object, nil
}

// driveFolder reads the documents of a folder, laid out as on a drive
// (openstack/latest/...) or flat.
func driveFolder(dir string) (any, error) {
	if sub := filepath.Join(dir, "openstack", "latest"); flags.IsDir(sub) {
		dir = sub
	}
	object := map[string]any{}
	for _, doc := range []struct {
		file, key string
		text      bool
	}{
		{"meta_data.json", "meta_data", false},
		{"network_data.json", "network_data", false},
		{"vendor_data.json", "vendor_data", false},
		{"user_data", "user_data", true},
	} {
		data, err := os.ReadFile(filepath.Join(dir, doc.file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if doc.text {
			object[doc.key] = string(data)
			continue
		}
		var v map[string]any
		if err := json.Unmarshal(data, &v); err != nil {
			return nil, fmt.Errorf("%s: not a JSON object: %w", filepath.Join(dir, doc.file), err)
		}
		object[doc.key] = v
	}
	if len(object) == 0 {
		return nil, fmt.Errorf("folder %s has none of meta_data.json, user_data, network_data.json, vendor_data.json", dir)
	}
	return object, nil
}

// isoMark stands at the 32769th byte of every ISO 9660 file system.
const (
	isoMark   = "CD001"
	isoMarkAt = 32769
)

// driveFile takes an ISO, a gzipped one, the base64 of a gzipped one, or a
// JSON object.
func driveFile(name string, data []byte) (any, error) {
	trimmed := bytes.TrimSpace(data)
	switch {
	case len(data) > isoMarkAt+len(isoMark) && string(data[isoMarkAt:isoMarkAt+len(isoMark)]) == isoMark:
		var packed bytes.Buffer
		zip := gzip.NewWriter(&packed)
		if _, err := zip.Write(data); err != nil {
			return nil, fmt.Errorf("pack %s: %w", name, err)
		}
		if err := zip.Close(); err != nil {
			return nil, fmt.Errorf("pack %s: %w", name, err)
		}
		return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}): // gzip
		return base64.StdEncoding.EncodeToString(data), nil
	case bytes.HasPrefix(trimmed, []byte("{")):
		return driveObject(trimmed)
	}
	if _, err := base64.StdEncoding.DecodeString(string(trimmed)); err != nil || len(trimmed) == 0 {
		return nil, fmt.Errorf("%s is no ISO, no gzipped ISO, no base64 of one, and no JSON object", name)
	}
	return string(trimmed), nil
}
