package node

import (
	"context"
	"fmt"
	"net/url"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// checkDriverInfo refuses keys of --driver-info that look like misspelt keys of the driver, else of the first node's
// driver. The conductor accepts any key, since a vendor's driver has keys of its own. With --force the check is left
// out.
func checkDriverInfo(ctx context.Context, s *client.Session, given map[string]any, driver string,
	names ...string) error {
	if len(given) == 0 || client.Forced(ctx) {
		return nil
	}
	if driver == "" && len(names) > 0 {
		var n struct{ Driver string }
		if s.Client.Do(ctx, "GET", client.NodePath(names[0])+"?fields=driver", nil, &n) != nil {
			return nil // the request itself reports the error
		}
		driver = n.Driver
	}
	var meanings map[string]string
	path := nodeapi.Root + "/drivers/" + url.PathEscape(driver) + "/properties"
	if s.Client.Do(ctx, "GET", path, nil, &meanings) != nil {
		return nil
	}
	known := output.Sorted(meanings)
	for _, key := range output.Sorted(given) {
		if _, ok := meanings[key]; ok {
			continue
		}
		if near := nodeapi.Closest(key, known); near != "" {
			return exit.Usage(fmt.Errorf("--driver-info %s: the driver %s has no such key, and nothing was changed\n"+
				"  did you mean %s? --force takes it as it is", key, driver, near))
		}
	}
	return nil
}
