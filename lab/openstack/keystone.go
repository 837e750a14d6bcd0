// Package openstack runs services of OpenStack for tests: Debian's packages, unmodified, each in a folder of its own
// with SQLite, on the loopback.
package openstack

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	gopher "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/endpoints"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/projects"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/regions"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/roles"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/services"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/users"
	_ "modernc.org/sqlite" // the driver
)

// AdminPassword is that of the user admin of a Keystone, of the project admin in the domain Default.
const AdminPassword = "admin-password"

// startTime bounds the start of a service on a busy machine.
const startTime = 3 * time.Minute

// Keystone is Debian's package keystone.
type Keystone struct {
	URL string // with the version
	dir string
	cmd *exec.Cmd
}

// StartKeystone makes a Keystone in a folder, with the roles of its bootstrap (admin, manager, member, reader) and
// service, and starts it. It takes some ten seconds, most of them for the tables.
func StartKeystone(ctx context.Context, dir string) (*Keystone, error) {
	if _, err := os.Stat("/usr/bin/keystone-manage"); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("/usr/bin/keystone-manage is missing: install Debian's package keystone")
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	k := &Keystone{URL: "http://" + address + "/v3", dir: dir}
	if err := k.configure(); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"db_sync"},
		{"fernet_setup", "--keystone-user", "root", "--keystone-group", "root"},
		{"credential_setup", "--keystone-user", "root", "--keystone-group", "root"},
		{"bootstrap", "--bootstrap-password", AdminPassword, "--bootstrap-public-url", k.URL,
			"--bootstrap-region-id", "RegionOne"},
	} {
		cmd := k.command(ctx, "keystone-manage", append([]string{"--config-file", k.config()}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("keystone-manage %s: %w\n%s", args[0], err, out)
		}
	}
	if err := k.writeAhead(ctx); err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(address)
	if err := k.start(ctx, host, port); err != nil {
		return nil, err
	}
	return k, nil
}

func (k *Keystone) config() string { return filepath.Join(k.dir, "keystone.conf") }

func (k *Keystone) configure() error {
	text := fmt.Sprintf(`[DEFAULT]
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
`, k.dir)
	if err := os.WriteFile(k.config(), []byte(text), 0o600); err != nil {
		return fmt.Errorf("configure Keystone: %w", err)
	}
	return nil
}

// writeAhead has SQLite let readers and a writer work side by side: without it Keystone answers 500, "database is
// locked".
func (k *Keystone) writeAhead(ctx context.Context) error {
	db, err := sql.Open("sqlite", filepath.Join(k.dir, "keystone.sqlite"))
	if err != nil {
		return fmt.Errorf("open Keystone's database: %w", err)
	}
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode=WAL")
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("journal of Keystone's database: %w", err)
	}
	return nil
}

// command is a program of Keystone's. It ends when the test is killed.
func (k *Keystone) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join("/usr/bin", name), args...) //nolint:gosec // Keystone's own
	cmd.Dir, cmd.Env = k.dir, []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + k.dir, "LC_ALL=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// start runs Keystone's API with the WSGI server of Python's library.
func (k *Keystone) start(ctx context.Context, host, port string) error {
	log, err := os.Create(filepath.Join(k.dir, "api.log"))
	if err != nil {
		return fmt.Errorf("start Keystone: %w", err)
	}
	defer log.Close()
	k.cmd = k.command(context.WithoutCancel(ctx), "keystone-wsgi-public", "--host", host, "--port", port, "--",
		"--config-file", k.config())
	k.cmd.Stdout, k.cmd.Stderr = log, log
	if err := k.cmd.Start(); err != nil {
		return fmt.Errorf("start Keystone: %w", err)
	}
	for end := time.Now().Add(startTime); ; time.Sleep(100 * time.Millisecond) {
		resp, err := http.Get(k.URL) //nolint:noctx // bounded by the loop
		if err == nil {
			_ = resp.Body.Close()
			return nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			text, _ := os.ReadFile(log.Name())
			return errors.Join(fmt.Errorf("no Keystone answers at %s: %w\n%s", k.URL, err, text), k.Stop())
		}
	}
}

// Stop ends it; its folder stays.
func (k *Keystone) Stop() error {
	if k.cmd == nil || k.cmd.Process == nil {
		return nil
	}
	if err := k.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop Keystone: %w", err)
	}
	_ = k.cmd.Wait() // it was killed
	k.cmd = nil
	return nil
}

// Admin is a client of the identity API, as admin of the project admin.
func (k *Keystone) Admin(ctx context.Context) (*gophercloud.ServiceClient, error) {
	p, err := gopher.AuthenticatedClient(ctx, gophercloud.AuthOptions{
		IdentityEndpoint: k.URL, Username: "admin", Password: AdminPassword, DomainName: "Default", AllowReauth: true,
		Scope: &gophercloud.AuthScope{ProjectName: "admin", DomainName: "Default"},
	})
	if err != nil {
		return nil, fmt.Errorf("log in as admin: %w", err)
	}
	return gopher.NewIdentityV3(p, gophercloud.EndpointOpts{}) //nolint:wrapcheck // says what it is
}

// Grant makes a user, a project and a role in the domain Default unless they are there, and gives the user the role in
// the project; "" is the system. It answers with the project's UUID.
func (k *Keystone) Grant(ctx context.Context, admin *gophercloud.ServiceClient, user, password, project, role string,
) (id string, err error) {
	roleID, err := k.role(ctx, admin, role)
	if err != nil {
		return "", err
	}
	userID, err := k.user(ctx, admin, user, password)
	if err != nil {
		return "", err
	}
	if project == "" {
		at := admin.ServiceURL("system", "users", userID, "roles", roleID)
		_, err = admin.Put(ctx, at, nil, nil, //nolint:bodyclose // it has none
			&gophercloud.RequestOpts{OkCodes: []int{http.StatusNoContent}})
		return "", err //nolint:wrapcheck // says what it is
	}
	if id, err = k.project(ctx, admin, project); err != nil {
		return "", err
	}
	return id, roles.Assign(ctx, admin, roleID, roles.AssignOpts{UserID: userID, ProjectID: id}).ExtractErr()
}

func (k *Keystone) role(ctx context.Context, admin *gophercloud.ServiceClient, name string) (string, error) {
	made, err := roles.Create(ctx, admin, roles.CreateOpts{Name: name}).Extract()
	switch {
	case err == nil:
		return made.ID, nil
	case !gophercloud.ResponseCodeIs(err, http.StatusConflict):
		return "", fmt.Errorf("make the role %s: %w", name, err)
	}
	pages, err := roles.List(admin, roles.ListOpts{Name: name}).AllPages(ctx)
	if err != nil {
		return "", fmt.Errorf("role %s: %w", name, err)
	}
	all, err := roles.ExtractRoles(pages)
	if err != nil || len(all) != 1 {
		return "", fmt.Errorf("role %s: %d found, %w", name, len(all), err)
	}
	return all[0].ID, nil
}

func (k *Keystone) user(ctx context.Context, admin *gophercloud.ServiceClient, name, password string) (string, error) {
	made, err := users.Create(ctx, admin, users.CreateOpts{Name: name, Password: password, DomainID: "default"}).Extract()
	switch {
	case err == nil:
		return made.ID, nil
	case !gophercloud.ResponseCodeIs(err, http.StatusConflict):
		return "", fmt.Errorf("make the user %s: %w", name, err)
	}
	pages, err := users.List(admin, users.ListOpts{Name: name}).AllPages(ctx)
	if err != nil {
		return "", fmt.Errorf("user %s: %w", name, err)
	}
	all, err := users.ExtractUsers(pages)
	if err != nil || len(all) != 1 {
		return "", fmt.Errorf("user %s: %d found, %w", name, len(all), err)
	}
	return all[0].ID, nil
}

func (k *Keystone) project(ctx context.Context, admin *gophercloud.ServiceClient, name string) (string, error) {
	made, err := projects.Create(ctx, admin, projects.CreateOpts{Name: name, DomainID: "default"}).Extract()
	switch {
	case err == nil:
		return made.ID, nil
	case !gophercloud.ResponseCodeIs(err, http.StatusConflict):
		return "", fmt.Errorf("make the project %s: %w", name, err)
	}
	pages, err := projects.List(admin, projects.ListOpts{Name: name}).AllPages(ctx)
	if err != nil {
		return "", fmt.Errorf("project %s: %w", name, err)
	}
	all, err := projects.ExtractProjects(pages)
	if err != nil || len(all) != 1 {
		return "", fmt.Errorf("project %s: %d found, %w", name, len(all), err)
	}
	return all[0].ID, nil
}

// Endpoint puts the URL of a service into the catalogue, as the public one of a region of its own.
func (k *Keystone) Endpoint(ctx context.Context, admin *gophercloud.ServiceClient, kind, region, url string) error {
	if _, err := regions.Create(ctx, admin, regions.CreateOpts{ID: region}).Extract(); err != nil {
		return fmt.Errorf("region %s: %w", region, err)
	}
	id, err := k.service(ctx, admin, kind)
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

// service finds a service by its type, or makes it.
func (k *Keystone) service(ctx context.Context, admin *gophercloud.ServiceClient, kind string) (string, error) {
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

// freeAddress is one of the loopback that nobody listens at.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}
