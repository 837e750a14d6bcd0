package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Members are the conductors of a cluster.
type Members interface {
	// Members lists them by name.
	Members(ctx context.Context) ([]nodeapi.Conductor, error)
	// Drain sets whether one may lead; a *nodeapi.Fault where it cannot be.
	Drain(ctx context.Context, name string, drained bool) error
}

// conductorResource serves the conductors of a cluster.
type conductorResource struct {
	access
	members Members
}

// alone is a conductor without a cluster.
type alone struct {
	conductor Conductor
	started   time.Time
}

// Members is this conductor.
func (a alone) Members(context.Context) ([]nodeapi.Conductor, error) {
	one := nodeapi.Conductor{Name: a.conductor.ConductorName(), Leader: true, Alive: true, HardwareTypes: []string{},
		CreatedAt: a.started, SeenAt: time.Now()} // this answer is a sign of life
	for _, hw := range a.conductor.HardwareTypes() {
		one.HardwareTypes = append(one.HardwareTypes, hw.Name)
	}
	return []nodeapi.Conductor{one}, nil
}

// Drain refuses, as no other conductor could lead.
func (a alone) Drain(_ context.Context, name string, _ bool) error {
	if name != a.conductor.ConductorName() {
		return noConductor(name)
	}
	return nodeapi.NewFault(http.StatusConflict, "Conductor %s is the only one: expected a cluster, "+
		"see --cluster-key-file of ferrite serve", name)
}

// NewConductors serves the conductors, and the metrics of this one alone, under any leader.
func NewConductors(members Members, o Options) http.Handler {
	h := &conductorResource{members: members}
	h.Server = rest.NewServer(o.server(func(r *http.Request) {
		if rest, old := strings.CutPrefix(r.URL.Path, "/conductors"); old {
			r.URL.Path = "/v1/conductors" + rest
		}
		r.URL.Path = strings.TrimRight(r.URL.Path, "/")
	}))
	h.Handle(append(h.routes(), (&metricsResource{o.Metrics}).routes()...))
	return h
}

// OfConductors reports whether NewConductors serves a request. Under a leader it serves reads alone: the leader drains
// conductors, as it has the audit. Without one, as when all live members are drained, every member drains.
func OfConductors(r *http.Request, led bool) bool {
	if led && r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	for _, root := range []string{"/conductors", "/v1/conductors", nodeapi.ConductorsPath, metricsPath} {
		if r.URL.Path == root || strings.HasPrefix(r.URL.Path, root+"/") {
			return true
		}
	}
	return false
}

func (h *conductorResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: "/v1/conductors", Since: 49, Doc: "the conductors", Handle: h.listConductors,
			Wire: rest.Returns(rest.PageForm("conductors", conductorForm()), rest.PageArgs()...)},
		{Method: http.MethodGet, Path: "/v1/conductors/:host", Since: 49, Doc: "one conductor", Handle: h.showConductor,
			Wire: rest.Returns(conductorForm(), "fields")},
		{Method: http.MethodGet, Path: nodeapi.ConductorsPath, Doc: "the conductors, and which of them lead",
			Handle: h.listMembers, Wire: rest.Returns(rest.FormOf(nodeapi.Conductors{}))},
		{Method: http.MethodPut, Path: nodeapi.ConductorsPath + "/:host/drained",
			Doc: "set whether a conductor may lead its group", Handle: h.drain,
			Wire: rest.Accepts(http.StatusNoContent, rest.FormOf(nodeapi.DrainedConductor{}))},
	}
}

func (h *conductorResource) listMembers(c *rest.Call) error {
	all, err := h.members.Members(c.Request().Context())
	if err != nil {
		return err
	}
	return c.Marshal(http.StatusOK, nodeapi.Conductors{Conductors: all})
}

func (h *conductorResource) drain(c *rest.Call) error {
	args, err := c.Args(nodeapi.BodyLimit, "drained")
	if err != nil {
		return err
	}
	drained, ok := args["drained"].(bool)
	if !ok {
		return rest.BadRequest("drained is %v: expected true or false", args["drained"])
	}
	if err := h.members.Drain(c.Request().Context(), c.Param("host"), drained); err != nil {
		return err
	}
	return c.Empty(http.StatusNoContent)
}

func conductorView(c *rest.Call, m *nodeapi.Conductor, detail bool) map[string]any {
	v := map[string]any{
		"hostname": m.Name, "conductor_group": m.Group, "alive": m.Alive,
		"links": c.Links("conductors/" + m.Name),
	}
	if detail {
		const form = "2006-01-02T15:04:05.000000+00:00"
		v["drivers"] = m.HardwareTypes
		v["created_at"] = m.CreatedAt.UTC().Format(form)
		v["updated_at"] = m.SeenAt.UTC().Format(form) // in Ironic its last sign of life
	}
	return v
}

func (h *conductorResource) listConductors(c *rest.Call) error {
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), rest.PageArgs()); err != nil {
		return err
	}
	anyKey := func(int, string) (string, error) { return "", nil }
	p, err := c.PageAfterAny(anyKey, 49, 49)
	if err != nil {
		return err
	}
	all, err := h.members.Members(c.Request().Context())
	if err != nil {
		return err
	}
	if p.Marker != "" { // which is a host here
		i := slices.IndexFunc(all, func(m nodeapi.Conductor) bool { return m.Name == p.Marker })
		if i < 0 {
			return noConductor(p.Marker)
		}
		all = all[i+1:]
	}
	views := []any{}
	for i := range all[:min(len(all), max(p.Limit, 1))] {
		view := conductorView(c, &all[i], p.Detail || p.Fields != "")
		if p.Fields != "" {
			if view, err = pickKeys(view, p.Fields); err != nil {
				return err
			}
		}
		views = append(views, view)
	}
	return c.Marshal(http.StatusOK, map[string]any{"conductors": views})
}

func noConductor(host string) error {
	return nodeapi.NewFault(http.StatusNotFound, "Conductor %s could not be found.", host)
}

func (h *conductorResource) showConductor(c *rest.Call) error {
	host := c.Param("host")
	all, err := h.members.Members(c.Request().Context())
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(m nodeapi.Conductor) bool { return m.Name == host })
	if i < 0 {
		return noConductor(host)
	}
	v := conductorView(c, &all[i], true)
	if fields := c.QueryParam("fields"); fields != "" {
		if v, err = pickKeys(v, fields); err != nil {
			return err
		}
	}
	return c.Marshal(http.StatusOK, v)
}

// pickKeys keeps the keys that fields names, and links.
func pickKeys(v map[string]any, fields string) (map[string]any, error) {
	picked := map[string]any{"links": v["links"]}
	for name := range strings.SplitSeq(fields, ",") {
		value, ok := v[name]
		if !ok {
			return nil, rest.BadRequest("Field(s) %q are not valid", name)
		}
		picked[name] = value
	}
	return picked, nil
}
