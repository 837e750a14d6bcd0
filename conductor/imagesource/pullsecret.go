package imagesource

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// The keys of driver_info that hold a secret and the registry it is for.
const (
	pullSecretKey   = "image_pull_secret"
	pullRegistryKey = "image_pull_registry"
)

// pullSecret is what a registry is shown.
type pullSecret struct {
	auth.Credential
	hosts []string // that may be sent it; nil where the registry itself says
}

// secretFor is instance_info/image_pull_secret, which belongs to whoever chose the
// image, or else the one of driver_info. That belongs to the owner of the machine,
// while a lessee may choose the image: it is for the registry named beside it alone.
func secretFor(n node.Node, ref registry.Reference) (pullSecret, error) {
	if secret := text(n.InstanceInfo, pullSecretKey); secret != "" {
		return pullSecret{Credential: credentialOf(secret)}, nil
	}
	secret := text(n.DriverInfo, pullSecretKey)
	if secret == "" {
		return pullSecret{}, nil
	}
	hosts := strings.FieldsFunc(text(n.DriverInfo, pullRegistryKey), func(r rune) bool { return r == ',' || r == ' ' })
	if len(hosts) == 0 {
		return pullSecret{}, permanent{fmt.Errorf("driver_info/%s is of no known registry: set driver_info/%s to the host[:port] it is for, or instance_info/%s to a secret for %s",
			pullSecretKey, pullRegistryKey, pullSecretKey, ref.Registry)}
	}
	if !slices.Contains(hosts, ref.Registry) {
		return pullSecret{}, nil
	}
	return pullSecret{Credential: credentialOf(secret), hosts: append(hosts, ref.Host())}, nil
}

// credentialOf reads a secret: "user:password", base64 of that as in Ironic and the
// files of container tools, or a registry's token, which goes without a user's name.
func credentialOf(secret string) auth.Credential {
	if plain, err := base64.StdEncoding.DecodeString(secret); err == nil && strings.Contains(string(plain), ":") {
		secret = string(plain)
	}
	user, password, ok := strings.Cut(secret, ":")
	if !ok {
		user, password = "", secret
	}
	return auth.Credential{Username: user, Password: password}
}

// guard is a client that sends the secret to its own hosts alone: the realm where a
// registry has its tokens given out may be on another (RFC 6750, section 3).
func (s pullSecret) guard(c *http.Client) *http.Client {
	if s.hosts == nil {
		return c
	}
	if c == nil {
		c = http.DefaultClient
	}
	guarded := *c
	guarded.Transport = ownHosts{c.Transport, s.hosts}
	return &guarded
}

// ownHosts refuses to send a secret elsewhere.
type ownHosts struct {
	next  http.RoundTripper // nil for the default
	hosts []string
}

// RoundTrip is of http.RoundTripper.
func (o ownHosts) RoundTrip(r *http.Request) (*http.Response, error) {
	secret := r.Header.Get("Authorization") != "" || r.Body != nil && r.Body != http.NoBody
	if secret && (r.URL.Scheme != "https" || !slices.Contains(o.hosts, r.URL.Host)) {
		return nil, permanent{fmt.Errorf("driver_info/%s is not sent to %s, where the registry has its tokens given out: if it is right, add that host to driver_info/%s, separated by a comma",
			pullSecretKey, r.URL.Host, pullRegistryKey)}
	}
	next := o.next
	if next == nil {
		next = http.DefaultTransport
	}
	return next.RoundTrip(r)
}
