package openstack

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	gopher "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/endpoints"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/regions"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/roles"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/services"
)

// AdminPassword is the password of a Keystone's user admin, of the project admin in the domain Default.
const AdminPassword = "admin-password"

// Keystone is Debian's package keystone.
type Keystone struct {
	service
	URL string // with the version
}

// StartKeystone makes a Keystone in a folder, with the roles of its bootstrap (admin, manager, member, reader) and
// service, and starts it. It takes some ten seconds, most of them for the tables.
func StartKeystone(ctx context.Context, at Place, dir string) (*Keystone, error) {
	s, err := newService(at, "keystone", "keystone", "keystone-manage", dir)
	if err != nil {
		return nil, err
	}
	k := &Keystone{service: s, URL: "http://" + s.address + "/v3"}
	if err := k.set(nil); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"db_sync"},
		{"fernet_setup", "--keystone-user", "root", "--keystone-group", "root"},
		{"credential_setup", "--keystone-user", "root", "--keystone-group", "root"},
		{"bootstrap", "--bootstrap-password", AdminPassword, "--bootstrap-public-url", k.URL,
			"--bootstrap-internal-url", k.URL, "--bootstrap-region-id", "RegionOne"},
	} {
		if err := k.run(ctx, "keystone-manage", args...); err != nil {
			return nil, err
		}
	}
	if err := k.writeAhead(ctx, "keystone.sqlite"); err != nil {
		return nil, err
	}
	return k, k.serve(ctx)
}

// set writes the configuration, with more lines at its end.
func (k *Keystone) set(more []string) error {
	return k.configure(fmt.Sprintf(keystoneConf, k.dir) + strings.Join(more, "\n") + "\n")
}

// serve runs the WSGI server of Python's library, which needs no other program.
func (k *Keystone) serve(ctx context.Context) error {
	host, port := k.hostPort()
	return k.start(ctx, "keystone-wsgi-public", "--host", host, "--port", port, "--", "--config-file", k.config())
}

// Restart ends it, and starts it with more lines in its configuration.
func (k *Keystone) Restart(ctx context.Context, more ...string) error {
	if err := k.Stop(); err != nil {
		return err
	}
	if err := k.set(more); err != nil {
		return err
	}
	return k.serve(ctx)
}

// keystoneConf is its configuration, of a folder.
const keystoneConf = `[DEFAULT]
log_file = %[1]s/keystone.log
[database]
connection = sqlite:////%[1]s/keystone.sqlite
[fernet_tokens]
key_repository = %[1]s/fernet
[credential]
key_repository = %[1]s/credential
[cache]
enabled = false
[identity]
password_hash_rounds = 4
`

// Admin is a client of the identity API, as admin of the project admin.
func (k *Keystone) Admin(ctx context.Context) (*gophercloud.ServiceClient, error) {
	p, err := k.LogIn(ctx, "admin", AdminPassword, "admin")
	if err != nil {
		return nil, err
	}
	return gopher.NewIdentityV3(p, gophercloud.EndpointOpts{}) //nolint:wrapcheck // says what it is
}

// LogIn logs a user of the domain Default in, for a project of it.
func (k *Keystone) LogIn(ctx context.Context, user, password, project string) (*gophercloud.ProviderClient, error) {
	p, err := gopher.NewClient(k.URL)
	if err != nil {
		return nil, fmt.Errorf("log in as %s: %w", user, err)
	}
	p.HTTPClient = *client(k.at)
	err = gopher.Authenticate(ctx, p, gophercloud.AuthOptions{
		IdentityEndpoint: k.URL, Username: user, Password: password, DomainName: "Default", AllowReauth: true,
		Scope: &gophercloud.AuthScope{ProjectName: project, DomainName: "Default"},
	})
	if err != nil {
		return nil, fmt.Errorf("log in as %s: %w", user, err)
	}
	return p, nil
}

// Grant makes a user, a project and a role in the domain Default unless they are there, and gives the user the role in
// the project; "" is the system. It answers with the project's UUID.
func (k *Keystone) Grant(ctx context.Context, admin *gophercloud.ServiceClient, user, password, project, role string,
) (id string, err error) {
	roleID, err := k.makeOnce(ctx, admin, "role", role, nil)
	if err != nil {
		return "", err
	}
	userID, err := k.makeOnce(ctx, admin, "user", user, map[string]any{"domain_id": "default", "password": password})
	if err != nil {
		return "", err
	}
	if project == "" {
		at := admin.ServiceURL("system", "users", userID, "roles", roleID)
		_, err = admin.Put(ctx, at, nil, nil, //nolint:bodyclose // it has none
			&gophercloud.RequestOpts{OkCodes: []int{http.StatusNoContent}})
		return "", err //nolint:wrapcheck // says what it is
	}
	if id, err = k.makeOnce(ctx, admin, "project", project, map[string]any{"domain_id": "default"}); err != nil {
		return "", err
	}
	return id, roles.Assign(ctx, admin, roleID, roles.AssignOpts{UserID: userID, ProjectID: id}).ExtractErr()
}

// makeOnce makes a role, user or project of a name, unless it is there, and answers with its UUID. More are its other
// fields.
func (k *Keystone) makeOnce(ctx context.Context, admin *gophercloud.ServiceClient, kind, name string,
	more map[string]any) (id string, err error) {
	type record struct {
		ID string `json:"id"`
	}
	fields, at := map[string]any{"name": name}, admin.ServiceURL(kind+"s")
	maps.Copy(fields, more)
	var made map[string]record
	_, err = admin.Post(ctx, at, map[string]any{kind: fields}, &made, nil) //nolint:bodyclose // gophercloud closes it
	switch {
	case err == nil:
		return made[kind].ID, nil
	case !gophercloud.ResponseCodeIs(err, http.StatusConflict):
		return "", fmt.Errorf("make the %s %s: %w", kind, name, err)
	}
	var answer map[string]json.RawMessage
	_, err = admin.Get(ctx, at+"?name="+url.QueryEscape(name), &answer, nil) //nolint:bodyclose // as above
	if err != nil {
		return "", fmt.Errorf("find the %s %s: %w", kind, name, err)
	}
	var found []record
	if err := json.Unmarshal(answer[kind+"s"], &found); err != nil {
		return "", fmt.Errorf("find the %s %s: %w", kind, name, err)
	}
	if len(found) != 1 {
		return "", fmt.Errorf("find the %s %s: Keystone has %d of that name, expected 1", kind, name, len(found))
	}
	return found[0].ID, nil
}

// Endpoint puts the URL of a service into the catalogue, as the public one of a region.
func (k *Keystone) Endpoint(ctx context.Context, admin *gophercloud.ServiceClient, kind, region, url string) error {
	if _, err := regions.Create(ctx, admin, regions.CreateOpts{ID: region}).Extract(); err != nil &&
		!gophercloud.ResponseCodeIs(err, http.StatusConflict) {
		return fmt.Errorf("region %s: %w", region, err)
	}
	id, err := k.serviceOf(ctx, admin, kind)
	if err != nil {
		return err
	}
	_, err = endpoints.Create(ctx, admin, endpoints.CreateOpts{
		Name: kind, Availability: gophercloud.AvailabilityPublic, Region: region, URL: url, ServiceID: id,
	}).Extract()
	if err != nil {
		return fmt.Errorf("endpoint %s of %s: %w", url, kind, err)
	}
	return nil
}

// serviceOf finds a service by its type, or makes it.
func (k *Keystone) serviceOf(ctx context.Context, admin *gophercloud.ServiceClient, kind string) (string, error) {
	pages, err := services.List(admin, services.ListOpts{ServiceType: kind}).AllPages(ctx)
	if err != nil {
		return "", fmt.Errorf("service %s: %w", kind, err)
	}
	all, err := services.ExtractServices(pages)
	if err != nil {
		return "", fmt.Errorf("service %s: %w", kind, err)
	}
	if len(all) > 0 {
		return all[0].ID, nil
	}
	made, err := services.Create(ctx, admin, services.CreateOpts{Type: kind, Extra: map[string]any{"name": kind}}).
		Extract()
	if err != nil {
		return "", fmt.Errorf("service %s: %w", kind, err)
	}
	return made.ID, nil
}

// servicePassword is the password of the services' users in a Keystone of ours.
const servicePassword = "service-password"

// Register makes the user of a service, with the roles service and admin in the project service, and puts the service's
// URL into the catalogue. It answers with the user's password.
func (k *Keystone) Register(ctx context.Context, user, kind, url string) (password string, err error) {
	if err := k.makeServiceUser(ctx, user); err != nil {
		return "", err
	}
	admin, err := k.Admin(ctx)
	if err != nil {
		return "", err
	}
	return servicePassword, k.Endpoint(ctx, admin, kind, "RegionOne", url)
}

// makeServiceUser makes the user of a service, with the roles service and admin in the project service.
func (k *Keystone) makeServiceUser(ctx context.Context, user string) error {
	admin, err := k.Admin(ctx)
	if err != nil {
		return err
	}
	for _, role := range []string{"service", "admin"} {
		if _, err := k.Grant(ctx, admin, user, servicePassword, "service", role); err != nil {
			return err
		}
	}
	return nil
}

// login is the part of a service's configuration by which it speaks to another one, as its user.
func (k *Keystone) login(section, user string) string {
	return fmt.Sprintf(`[%[3]s]
auth_url = %[1]s
auth_type = password
project_domain_name = Default
user_domain_name = Default
project_name = service
username = %[2]s
password = %[4]s
region_name = RegionOne
`, k.URL, user, section, servicePassword)
}

// tokens is the part of a service's configuration by which it checks tokens, as a user in the project service.
func (k *Keystone) tokens(user string) string {
	return k.login("keystone_authtoken", user) + fmt.Sprintf(`www_authenticate_uri = %s
service_token_roles = service
service_token_roles_required = true
`, k.URL)
}
