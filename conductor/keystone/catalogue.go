package keystone

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
)

// interfaces are asked for in this order: what is meant for services first.
var interfaces = []string{"internal", "public"}

// endpoint is the URL of a service by its type, with a slash at its end.
func endpoint(p *gophercloud.ProviderClient, kind string) (string, error) {
	result, ok := p.GetAuthResult().(tokens.CreateResult)
	if !ok {
		return "", errors.New("the login has none")
	}
	catalogue, err := result.ExtractServiceCatalog()
	if err != nil {
		return "", fmt.Errorf("read it: %w", err)
	}
	for _, with := range interfaces {
		for _, entry := range catalogue.Entries {
			if entry.Type != kind {
				continue
			}
			at := slices.IndexFunc(entry.Endpoints, func(e tokens.Endpoint) bool { return e.Interface == with })
			if at < 0 {
				continue
			}
			u, err := url.Parse(entry.Endpoints[at].URL)
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
				return "", fmt.Errorf("the %s endpoint of %s is %q: expected http(s)://HOST", with, kind, entry.Endpoints[at].URL)
			}
			return strings.TrimRight(u.String(), "/") + "/", nil
		}
	}
	return "", fmt.Errorf("it has no service of the type %s", kind)
}
