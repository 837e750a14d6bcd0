package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// shardResource counts the nodes of each shard.
type shardResource struct{ access }

// routes is the shards: how operators spread nodes over services that
// share a conductor.
func (h *shardResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: "/v1/shards", Since: 82, TooOld: tooNew(http.MethodGet, "shards"),
			Doc: "how many nodes each shard has", Handle: h.listShards, Wire: rest.Returns(rest.FormOf(nodeapi.Shards{}))},
	}
}

// listShards answers with every shard that has a node. Ironic calls the absence of one
// "None", and so cannot be distinguished from a shard of that name.
func (h *shardResource) listShards(c *rest.Call) error {
	shards, err := h.conductor.Shards(c.Request().Context())
	if err != nil {
		return err
	}
	answer := nodeapi.Shards{Shards: make([]nodeapi.Shard, len(shards))}
	for i, s := range shards {
		answer.Shards[i] = nodeapi.Shard{Name: rest.Or(s.Name, "None"), Count: s.Count}
	}
	return c.Marshal(http.StatusOK, answer)
}
