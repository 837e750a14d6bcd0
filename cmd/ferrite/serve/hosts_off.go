//go:build nohosts

package serve

import (
	"context"
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// noHosts refuses the requests of kubectl and `ferrite host apply` by the name of the missing part.
type noHosts struct{ plain }

func newHosts() extra { return &noHosts{} }

func (noHosts) join(_ context.Context, w *work, _ parts) error {
	w.served = append(w.served, func(o *api.Options) {
		for _, prefix := range []string{"/api", "/apis"} {
			o.Mounts[prefix] = func(http.ResponseWriter, *http.Request) error {
				return nodeapi.NewFault(http.StatusBadRequest, "%s", api.NotBuilt("hosts (BareMetalHost)", "nohosts"))
			}
		}
	})
	return nil
}
