package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// shardRoutes is the shards: how operators spread nodes over services that
// share a conductor.
func (a *API) shardRoutes() []route {
	return []route{
		{method: http.MethodGet, path: "/v1/shards", since: 82, tooOld: tooNew(http.MethodGet, "shards"), doc: "how many nodes each shard has", handle: a.listShards, wire: gives(formOf(nodeapi.Shards{}))},
	}
}

// listShards answers with every shard that has a node. Ironic calls the absence
// of one "None", and so cannot be told from a shard of that name.
func (a *API) listShards(c *call) error {
	shards, err := a.conductor.Shards(c.Request().Context())
	if err != nil {
		return err
	}
	answer := nodeapi.Shards{Shards: make([]nodeapi.Shard, len(shards))}
	for i, s := range shards {
		answer.Shards[i] = nodeapi.Shard{Name: cmpOr(s.Name, "None"), Count: s.Count}
	}
	return c.marshal(http.StatusOK, answer)
}
