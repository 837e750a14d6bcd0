package keystone

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
)

// interfaces are the kinds of endpoints in order of preference: the kind for services first.
var interfaces = []string{"internal", "public"}

// endpoint is the URL of a service by its type, with a slash at its end. With a region, only endpoints of that region
// count. An endpoint with an unusable URL is passed over where there is another.
func endpoint(p *gophercloud.ProviderClient, kind, region string) (string, error) {
	result, ok := p.GetAuthResult().(tokens.CreateResult)
	if !ok {
		return "", errors.New("the login has none")
	}
	catalogue, err := result.ExtractServiceCatalog()
	if err != nil {
		return "", fmt.Errorf("read it: %w", err)
	}
	var (
		elsewhere []string // the regions with such a service
		odd       error
	)
	for _, with := range interfaces {
		for _, e := range endpointsOf(catalogue, kind, with) {
			if in := cmp.Or(e.RegionID, e.Region); region != "" && in != region {
				elsewhere = append(elsewhere, in)
				continue
			}
			u, err := url.Parse(e.URL)
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
				odd = fmt.Errorf("the %s endpoint of %s is %q: expected http(s)://HOST", with, kind, e.URL)
				continue
			}
			return strings.TrimRight(u.String(), "/") + "/", nil
		}
	}
	switch {
	case odd != nil:
		return "", odd
	case len(elsewhere) > 0:
		slices.Sort(elsewhere)
		return "", fmt.Errorf("it has no service of the type %s in the region %q: correct --keystone-region; "+
			"there are %q", kind, region, slices.Compact(elsewhere))
	}
	return "", fmt.Errorf("it has no service of the type %s", kind)
}

// endpointsOf are a service's endpoints by its type, for callers of a kind, in the catalogue's order.
func endpointsOf(catalogue *tokens.ServiceCatalog, kind, with string) (all []tokens.Endpoint) {
	for _, entry := range catalogue.Entries {
		for _, e := range entry.Endpoints {
			if entry.Type == kind && e.Interface == with {
				all = append(all, e)
			}
		}
	}
	return all
}
