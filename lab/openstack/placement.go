package openstack

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
)

// Placement is Debian's package placement-api.
type Placement struct {
	service
	URL string
}

// StartPlacement makes a Placement in a folder and a database, puts it into the catalogue of a Keystone, and
// starts it.
func StartPlacement(ctx context.Context, at Place, dir string, database *MariaDB, k *Keystone) (*Placement, error) {
	s, err := newService(at, "placement", "placement-api", "placement-api", dir)
	if err != nil {
		return nil, err
	}
	p := &Placement{service: s, URL: "http://" + s.address}
	if _, err := k.Register(ctx, "placement", "placement", p.URL); err != nil {
		return nil, err
	}
	url, err := database.Database(ctx, "placement", "placement", servicePassword)
	if err != nil {
		return nil, err
	}
	// The program looks for placement.conf by this variable.
	p.env = []string{"OS_PLACEMENT_CONFIG_DIR=" + dir}
	if err := p.configure(fmt.Sprintf(placementConf, url, k.tokens("placement"))); err != nil {
		return nil, err
	}
	if err := p.run(ctx, "placement-manage", "db", "sync"); err != nil {
		return nil, err
	}
	host, port := p.hostPort()
	return p, p.start(ctx, "placement-api", "--host", host, "--port", port)
}

// placementConf is its configuration, of a database and tokens.
const placementConf = `[DEFAULT]
debug = false
[api]
auth_strategy = keystone
[placement_database]
connection = %[1]s
%[2]s`

// candidates is how many providers have a unit of a resource class to give.
func (p *Placement) candidates(ctx context.Context, admin *gophercloud.ProviderClient, class string) (int, error) {
	c := serviceClient(admin, "placement", p.URL)
	var all struct {
		Providers map[string]any `json:"provider_summaries"`
	}
	_, err := c.Get(ctx, c.ServiceURL("allocation_candidates")+"?resources="+class+":1", &all, //nolint:bodyclose // closed
		&gophercloud.RequestOpts{OkCodes: []int{http.StatusOK},
			MoreHeaders: map[string]string{"OpenStack-API-Version": "placement 1.10"}})
	if err != nil && !gophercloud.ResponseCodeIs(err, http.StatusBadRequest) { // a class that it does not know yet
		return 0, fmt.Errorf("candidates of Placement: %w", err)
	}
	return len(all.Providers), nil
}
