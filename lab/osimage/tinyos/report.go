package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

const (
	sendTimeout = 5 * time.Second
	sendRetry   = 500 * time.Millisecond
)

// report is one phone call home: a form posted to the URL of user data's phone_home,
// with the fields cloud-init's module of that name posts (instance_id, hostname, fqdn)
// and those that tell a lab what booted, and what its config drive says.
type report struct {
	URL  string
	Form url.Values
}

// newReport reads the cloud-config. User data of another kind has no phone_home, which
// is no error.
func newReport(d drive, boot, image string) (report, error) {
	sum := sha256.Sum256(d.UserData)
	r := report{Form: url.Values{
		"instance_id":      {d.Meta.UUID},
		"hostname":         {d.shortName()},
		"fqdn":             {d.Meta.Hostname},
		"user_data_sha256": {hex.EncodeToString(sum[:])},
		"boot":             {boot},
		"image":            {image},
		"meta_data":        {string(d.MetaData)},
		"network_data":     {string(d.NetworkData)},
	}}
	if firstLine(d.UserData) != "#cloud-config" {
		return r, nil
	}
	var config struct {
		PhoneHome struct {
			URL string `json:"url"`
		} `json:"phone_home"`
	}
	if err := yaml.Unmarshal(bytes.TrimSpace(d.UserData), &config); err != nil {
		return r, fmt.Errorf("user_data: %w", err)
	}
	r.URL = strings.ReplaceAll(config.PhoneHome.URL, "$INSTANCE_ID", d.Meta.UUID)
	return r, nil
}

// send posts until the server accepts or ctx ends.
func (r report) send(ctx context.Context) error {
	for {
		err := r.post(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("phone home: gave up: %w", err)
		case <-time.After(sendRetry):
		}
	}
}

func (r report) post(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, strings.NewReader(r.Form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s answered %s", r.URL, resp.Status)
	}
	return nil
}
