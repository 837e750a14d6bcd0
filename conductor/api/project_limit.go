package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// ProjectLimits bound the records of one project. The store counts them at the project's first request and once a
// minute after that. Requests in between are added. Before a refusal the store counts again.
type ProjectLimits struct {
	Most  node.Usage // by kind, as in Usage; nothing for no limit
	Usage func(ctx context.Context, project string) (node.Usage, error)

	mu    sync.Mutex
	known map[string]*projectUse
}

// projectUse is an upper bound of a project's use.
type projectUse struct {
	mu   sync.Mutex
	at   time.Time
	used node.Usage
}

// How long a count is good, how long it is good for a refusal, and how many projects are remembered.
const (
	usageGood   = time.Minute
	usageExact  = time.Second
	usageKept   = 1000
	usageStream = 4 << 10  // bytes of the record of an image
	usageUnsaid = 64 << 10 // bytes of a body without a Content-Length
	usageAct    = 4 << 10  // bytes of a body that stores nothing: power off, undeploy
)

// limitedKinds are the records that a request adds, by its route.
var limitedKinds = map[string]string{
	"POST /v1/nodes": "nodes", "POST /v1/ports": "ports", "POST /v1/portgroups": "portgroups",
	"POST /v1/allocations": "allocations", "POST /v1/runbooks": "runbooks",
	"POST /v1/volume/connectors": "volume_connectors", "POST /v1/volume/targets": "volume_targets",
	"POST " + nodeapi.ImagesPath: "images", "PUT " + nodeapi.ImagesPath + "/:image/file": "images",
}

// admit refuses a request of a project's user that would exceed a limit of the project. Patches are left to grow. A
// request that adds nothing, or frees room, is never refused, even if the project is above its limit.
func (l *ProjectLimits) admit(c *rest.Call) error {
	r := c.Request()
	kind, size := limitedKinds[r.Method+" "+c.Path()], r.ContentLength
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodDelete, http.MethodPatch:
		return nil
	}
	switch {
	case kind == "images":
		size = usageStream
	case size < 0:
		size = usageUnsaid
	case kind == "" && size <= usageAct:
		size = 0
	}
	return l.hold(c, kind, size)
}

// grow refuses a patch that makes a record longer by so many bytes than the project may.
func (l *ProjectLimits) grow(c *rest.Call, size int64) error { return l.hold(c, "", size) }

// hold refuses a request beyond the limit, and adds its size to the project's use once it has succeeded. Callers of the
// system are not limited.
func (l *ProjectLimits) hold(c *rest.Call, kind string, size int64) error {
	if l == nil || c.Project() == "" || kind == "" && size <= 0 {
		return nil
	}
	if err := l.take(c.Request().Context(), c.Project(), kind, size); err != nil {
		return err
	}
	c.Response().Before(func() { // a request that is refused may have announced more than it sent
		if c.Response().Status < http.StatusBadRequest {
			l.stored(c.Project(), size)
		}
	})
	return nil
}

// stored counts the bytes of a request that was done.
func (l *ProjectLimits) stored(project string, size int64) {
	u := l.of(project)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.used[node.UsageBytes] += size
}

// take counts one record of a kind, "" for none, and refuses it or its bytes where there would be too many.
func (l *ProjectLimits) take(ctx context.Context, project, kind string, size int64) error {
	u := l.of(project)
	u.mu.Lock()
	defer u.mu.Unlock()
	for good := usageGood; ; good = usageExact {
		if time.Since(u.at) >= good {
			used, err := l.Usage(ctx, project)
			if err != nil {
				return err
			}
			u.used, u.at = used, time.Now()
		}
		over := ""
		for what, more := range map[string]int64{kind: 1, node.UsageBytes: size} {
			if most, limited := l.Most[what]; limited && more > 0 && u.used[what]+more > most {
				over = what
			}
		}
		switch {
		case over == "":
			u.used[kind]++
			return nil
		case good == usageExact:
			return nodeapi.NewFault(http.StatusForbidden, "Quota exceeded: project %s has %d %s of at most %d (--project-limit "+
				"%s=%d). Delete some, or have the limit raised.", project, u.used[over], over, l.Most[over], over, l.Most[over])
		}
	}
}

// of is the known use of a project.
func (l *ProjectLimits) of(project string) *projectUse {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil || len(l.known) >= usageKept && l.known[project] == nil {
		l.known = map[string]*projectUse{} // each is counted again
	}
	if l.known[project] == nil {
		l.known[project] = &projectUse{used: node.Usage{}}
	}
	return l.known[project]
}
