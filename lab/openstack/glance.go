package openstack

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
)

// Glance is Debian's package glance-api, with its images in files.
type Glance struct {
	service
	URL   string // without the version
	admin *gophercloud.ServiceClient
}

// StartGlance makes a Glance in a folder, puts it into the catalogue of a Keystone, and starts it.
func StartGlance(ctx context.Context, at Place, dir string, k *Keystone) (*Glance, error) {
	s, err := newService(at, "glance-api", "glance-api", "glance-api", dir)
	if err != nil {
		return nil, err
	}
	g := &Glance{service: s, URL: "http://" + s.address}
	if _, err := k.Register(ctx, "glance", "image", g.URL); err != nil {
		return nil, err
	}
	identity, err := k.Admin(ctx)
	if err != nil {
		return nil, err
	}
	g.admin = serviceClient(identity.ProviderClient, "image", g.URL+"/v2")
	host, port := g.hostPort()
	if err := g.configure(fmt.Sprintf(glanceConf, dir, host, port, k.tokens("glance"))); err != nil {
		return nil, err
	}
	if err := g.run(ctx, "glance-manage", "db_sync"); err != nil {
		return nil, err
	}
	if err := g.writeAhead(ctx, "glance.sqlite"); err != nil {
		return nil, err
	}
	return g, g.Start(ctx)
}

// glanceConf is its configuration, of a folder, host, port, and tokens.
const glanceConf = `[DEFAULT]
log_file = %[1]s/glance.log
bind_host = %[2]s
bind_port = %[3]s
workers = 0
[database]
connection = sqlite:////%[1]s/glance.sqlite
[paste_deploy]
flavor = keystone
config_file = /usr/share/glance-common/glance-api-paste.ini
[glance_store]
stores = file
default_store = file
filesystem_store_datadir = %[1]s/images
%[4]s`

// Start runs it, again after Stop.
func (g *Glance) Start(ctx context.Context) error {
	return g.start(ctx, "glance-api", "--config-file", g.config())
}

// Create makes an image with fields of Glance's, and uploads its bytes, unless they are nil. It answers with the UUID.
func (g *Glance) Create(ctx context.Context, fields map[string]any, body []byte) (id string, err error) {
	var made struct {
		ID string `json:"id"`
	}
	if _, err = g.admin.Post(ctx, g.admin.ServiceURL("images"), fields, &made, //nolint:bodyclose // gophercloud closes it
		&gophercloud.RequestOpts{OkCodes: []int{http.StatusCreated}}); err != nil {
		return "", fmt.Errorf("make an image: %w", err)
	}
	if body == nil {
		return made.ID, nil
	}
	_, err = g.admin.Put(ctx, g.admin.ServiceURL("images", made.ID, "file"), nil, nil, //nolint:bodyclose // it has none
		&gophercloud.RequestOpts{RawBody: bytes.NewReader(body), OkCodes: []int{http.StatusNoContent},
			MoreHeaders: map[string]string{"Content-Type": "application/octet-stream"}})
	if err != nil {
		return "", fmt.Errorf("upload an image: %w", err)
	}
	return made.ID, nil
}

// Deactivate takes an image out of use.
func (g *Glance) Deactivate(ctx context.Context, id string) error {
	at := g.admin.ServiceURL("images", id, "actions", "deactivate")
	_, err := g.admin.Post(ctx, at, nil, nil, //nolint:bodyclose // it has none
		&gophercloud.RequestOpts{OkCodes: []int{http.StatusNoContent}})
	return err //nolint:wrapcheck // says what it is
}
