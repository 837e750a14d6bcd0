package imagesource

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// The keys of instance_info and driver_info that hold a secret and the hosts it is for.
const (
	pullSecretKey   = "image_pull_secret"
	pullRegistryKey = "image_pull_registry"
)

// tokenServices are the hosts where well-known registries have their tokens given
// out, if not by themselves.
var tokenServices = map[string]string{"docker.io": "auth.docker.io"}

// pullSecret is a credential for a registry.
type pullSecret struct {
	auth.Credential
	in    string   // instance_info or driver_info
	hosts []string // that may be sent it, each as host[:port]
}

// secretFor is instance_info/image_pull_secret, which is for the registry of the
// image, or else the one of driver_info. That belongs to the owner of the machine,
// while a lessee may choose the image: it is for the registries named beside it alone.
func secretFor(n node.Node, ref registry.Reference) (pullSecret, error) {
	if secret := text(n.InstanceInfo, pullSecretKey); secret != "" {
		return secretOf(secret, "instance_info", ref, hostsIn(n.InstanceInfo)), nil
	}
	secret := text(n.DriverInfo, pullSecretKey)
	if secret == "" {
		return pullSecret{}, nil
	}
	hosts := hostsIn(n.DriverInfo)
	if len(hosts) == 0 {
		return pullSecret{},
			permanent{fmt.Errorf("driver_info/%s is of no known registry: set driver_info/%s to the host[:port] it is for, or "+
				"instance_info/%s to a secret for %s",
				pullSecretKey, pullRegistryKey, pullSecretKey, ref.Registry)}
	}
	if !slices.Contains(hosts, ref.Registry) {
		return pullSecret{}, nil
	}
	return secretOf(secret, "driver_info", ref, hosts), nil
}

func secretOf(secret, in string, ref registry.Reference, hosts []string) pullSecret {
	hosts = slices.Compact(append(hosts, ref.Registry, ref.Host()))
	if service := tokenServices[ref.Registry]; service != "" {
		hosts = append(hosts, service)
	}
	return pullSecret{Credential: credentialOf(secret), in: in, hosts: hosts}
}

// explain adds to a registry's refusal the secret that it refuses, or that there was none. A registry answers both with
// no more than "authentication required" (apple/container#1538).
func (s pullSecret) explain(err error, ref registry.Reference) error {
	var answer *errcode.ErrorResponse
	if !errors.As(err, &answer) ||
		answer.StatusCode != http.StatusUnauthorized && answer.StatusCode != http.StatusForbidden {
		return err
	}
	if s.Credential == auth.EmptyCredential {
		return fmt.Errorf("%w; no secret is sent to %s: set instance_info/%s to user:password or a token", err, ref.Registry,
			pullSecretKey)
	}
	return fmt.Errorf("%w; %s refuses %s/%s: check user and password, and that they may read %s", err, ref.Registry, s.in,
		pullSecretKey, ref.Repository)
}

// hostsIn reads a list of hosts, separated by commas or spaces.
func hostsIn(info map[string]any) []string {
	return strings.FieldsFunc(text(info, pullRegistryKey), func(r rune) bool { return r == ',' || r == ' ' })
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
	if s.Credential == auth.EmptyCredential {
		return c
	}
	if c == nil {
		c = http.DefaultClient
	}
	guarded := *c
	guarded.Transport = ownHosts{c.Transport, s}
	return &guarded
}

// ownHosts refuses to send a secret elsewhere.
type ownHosts struct {
	next   http.RoundTripper // nil for the default
	secret pullSecret
}

// RoundTrip is of http.RoundTripper.
func (o ownHosts) RoundTrip(r *http.Request) (*http.Response, error) {
	secret := r.Header.Get("Authorization") != "" || r.Body != nil && r.Body != http.NoBody
	if secret && (r.URL.Scheme != "https" || !slices.Contains(o.secret.hosts, r.URL.Host)) {
		return nil,
			permanent{fmt.Errorf("%[1]s/%[2]s is not sent to %[4]s://%[5]s, where the registry has its tokens given out: "+
				"expected https and one of %[6]s; if it is right, add that host to %[1]s/%[3]s, separated by a comma",
				o.secret.in, pullSecretKey, pullRegistryKey, r.URL.Scheme, r.URL.Host, strings.Join(o.secret.hosts, ", "))}
	}
	next := o.next
	if next == nil {
		next = http.DefaultTransport
	}
	return next.RoundTrip(r)
}
