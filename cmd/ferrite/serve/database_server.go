package serve

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
)

// server is the database of the flags, which checkDatabase has accepted.
func (c *Config) server() datafolder.Server {
	server, _ := datafolder.ReadServer(c.Database, c.PasswordFile)
	return server
}

func (c *Config) checkDatabase() error {
	if _, err := datafolder.ReadServer(c.Database, c.PasswordFile); err != nil {
		return err
	}
	return c.checkCluster()
}

// groupName matches the names that Ironic allows for a conductor group.
var groupName = regexp.MustCompile(`^[a-z0-9_.-]{0,255}$`)

// checkCluster refuses settings of a cluster without one.
func (c *Config) checkCluster() error {
	switch {
	case !groupName.MatchString(c.Group):
		return fmt.Errorf("--group %q: expected letters, digits, _, . and -", c.Group)
	case c.ClusterKey != "" && c.Database == "":
		return errors.New("--cluster-key-file needs --database: conductors share a PostgreSQL database")
	case c.ClusterKey == "" && (c.Group != "" || c.ClusterAddress != ""):
		return errors.New("--group and --cluster-address are of use in a cluster: say --cluster-key-file, too")
	}
	return nil
}

// readiness is how a database says that it cannot be used at the moment.
func readiness(db Database) func() error {
	if r, ok := db.(interface{ Ready() error }); ok {
		return r.Ready
	}
	return nil
}
