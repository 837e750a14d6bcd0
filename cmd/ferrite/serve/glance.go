//go:build !noopenstack

package serve

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/glance"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagesource"
)

// glanceConfig is where images of OpenStack are.
type glanceConfig struct {
	URL string
	CA  string
}

func (c *glanceConfig) settings(s *settings) {
	s.StringVar(&c.URL, "glance-url", "",
		"`URL` of Glance, as in https://glance:9292, for images by UUID (default: from the catalogue, with --auth "+
			"keystone); without --auth keystone it is shown no token")
	s.StringVar(&c.CA, "glance-ca-file", "",
		"PEM `file` of the authorities of Glance's certificate (default: as --keystone-ca-file)")
}

// checkGlance refuses settings with which no image could be found.
func (o *openstack) checkGlance(c *Config) error {
	if o.Glance.URL == "" && o.Glance.CA != "" && !c.inCloud() {
		return errors.New("--glance-ca-file is of no use without --glance-url or --auth keystone")
	}
	_, err := o.glance(c, nil)
	return err
}

// glance is the cloud's catalogue of images; nil for a conductor that is in no cloud.
func (o *openstack) glance(c *Config, log *slog.Logger) (imagesource.Glance, error) {
	conf := glance.Options{URL: o.Glance.URL, Log: log}
	if conf.URL == "" && !c.inCloud() {
		return nil, nil
	}
	ca, flag := o.Glance.CA, "glance-ca-file"
	if c.inCloud() {
		cloud, err := o.Keystone.client(nil)
		if err != nil {
			return nil, err
		}
		conf.Cloud = cloud
		if ca == "" {
			ca, flag = o.Keystone.CA, "keystone-ca-file"
		}
	}
	transport, err := transportTo(flag, ca)
	if err != nil {
		return nil, err
	}
	conf.Transport = transport
	g, err := glance.New(conf)
	if err != nil {
		return nil, fmt.Errorf("--glance-url: %w", err)
	}
	return g, nil
}

// transportTo sends requests to a server and verifies its certificate by the authorities in a file; "" for this host's.
func transportTo(flag, file string) (*http.Transport, error) {
	transport, _ := http.DefaultTransport.(*http.Transport)
	transport = transport.Clone()
	if file == "" {
		return transport, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("--%s %s holds no certificate: expected PEM", flag, file)
	}
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return transport, nil
}
