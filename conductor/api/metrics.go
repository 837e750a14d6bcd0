package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const metricsPath = "/metrics"

// metricsResource answers scrapes of Prometheus.
type metricsResource struct{ metrics http.Handler }

func (h *metricsResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: metricsPath, Doc: "the counters of this conductor, for Prometheus", Handle: h.scrape,
			Wire: rest.Wire{Status: http.StatusOK, Gives: rest.Schema{"type": "string"}, Media: "text/plain"}},
	}
}

func (h *metricsResource) scrape(c *rest.Call) error {
	if h.metrics == nil {
		return nodeapi.NewFault(http.StatusNotFound,
			"This conductor serves its metrics on an address of their own: see --metrics-address.")
	}
	h.metrics.ServeHTTP(c.Response(), c.Request())
	return nil
}
