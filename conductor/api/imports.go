package api

import (
	"context"
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// importResource takes over records of another program.
type importResource struct {
	access
	nodes   *nodeResource
	imports Imports
}

// Imports takes over nodes that another program has kept.
type Imports interface {
	// ImportNode writes a node with all its records, or nothing. The same request again changes nothing. It is called
	// by several requests at once. A fault of the request is a *node.Refusal, and so is a locked node (node.LockedBy).
	ImportNode(ctx context.Context, r node.ImportRequest) (node.ImportResult, error)
}

// NotBuilt is the refusal by a program without a part that a build tag has left out.
func NotBuilt(part, tag string) string {
	return "This conductor was built without " + part + ": take the full program, without the build tag " + tag + "."
}

// noImports is a conductor that was built without imports.
type noImports struct{}

func (noImports) ImportNode(context.Context, node.ImportRequest) (node.ImportResult, error) {
	return node.ImportResult{}, rest.BadRequest("%s", NotBuilt("imports of nodes", "noopenstack"))
}

func (h *importResource) routes() []rest.Route {
	return []rest.Route{{
		Method: http.MethodPost, Path: nodeapi.ImportPath,
		Doc: "take over a node of another program with all its records, in one transaction and without any effect; or a " +
			"chassis, a deploy template or a runbook. The same again changes nothing",
		Handle: h.take, Forcible: forceMachine,
		Wire: rest.Wire{Status: http.StatusOK, Takes: rest.FormOf(nodeapi.Import{}), Gives: rest.FormOf(nodeapi.Imported{}),
			Query: rest.ArgumentsNamed([]string{nodeapi.ImportGroup})},
	}}
}

// importOptions are the members of a body beside its records.
var importOptions = []string{"dry_run", "overwrite", "source"}

type (
	importRequest = node.ImportRequest
	importResult  = node.ImportResult
)

// importedKind is one kind of record that a body can bring, with the members that go along.
type importedKind struct {
	name   string
	beside []string
	take   func(h *importResource, c *rest.Call, body rest.Args, o importRequest) (importResult, error)
}

func importedKinds() []importedKind {
	return []importedKind{
		{"node", []string{"allocation", "connectors", "inventory", "portgroups", "ports", "targets"},
			(*importResource).takeNode},
		{"chassis", nil, func(h *importResource, c *rest.Call, body rest.Args, o importRequest) (importResult, error) {
			return importRecord(c, body, o, "chassis", chassisTable(), h.conductor.Catalogs().Chassis)
		}},
		{"deploy_template", nil,
			func(h *importResource, c *rest.Call, body rest.Args, o importRequest) (importResult, error) {
				return importRecord(c, body, o, "deploy_template", templateTable(), h.conductor.Catalogs().DeployTemplates)
			}},
		{"runbook", nil, func(h *importResource, c *rest.Call, body rest.Args, o importRequest) (importResult, error) {
			return importRecord(c, body, o, "runbook", importedRunbooks(), h.conductor.Catalogs().Runbooks)
		}},
	}
}

func (h *importResource) take(c *rest.Call) error {
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), []string{nodeapi.ImportGroup}); err != nil {
		return err
	}
	v, _, err := c.Body(nodeapi.ProvisionLimit)
	if err != nil {
		return err
	}
	body, ok := v.(map[string]any)
	if !ok {
		return rest.BadRequest("Schema error for import: %s is not of type 'object'", rest.Python(v))
	}
	var kind *importedKind
	for _, k := range importedKinds() {
		if body[k.name] == nil {
			continue
		}
		if kind != nil {
			return rest.BadRequest("An import brings one record at a time: %s or %s, not both.", kind.name, k.name)
		}
		kind = &k
	}
	if kind == nil {
		return rest.BadRequest("An import brings a node, a chassis, a deploy_template or a runbook; the body has none.")
	}
	known := append(append([]string{kind.name}, kind.beside...), importOptions...)
	if err := rest.Unexpected(rest.SortedKeys(body), known); err != nil {
		return err
	}
	args, o := rest.Args(body), node.ImportRequest{}
	if o.Source, err = args.Need("source"); err != nil {
		return err
	}
	if o.Source == "" || len(o.Source) > rest.MaxText {
		return rest.BadRequest("source has %d characters; expected a URL of at most %d.", len(o.Source), rest.MaxText)
	}
	if o.DryRun, err = truth(args, "dry_run"); err != nil {
		return err
	}
	if o.Overwrite, err = truth(args, "overwrite"); err != nil {
		return err
	}
	done, err := kind.take(h, c, args, o)
	if err != nil {
		return h.nodes.nameMachine(c, err)
	}
	return c.Marshal(http.StatusOK, nodeapi.Imported{Outcome: string(done.Outcome), UUID: done.UUID,
		Changes: wireDifferences(done.Changes), Kept: wireDifferences(done.Kept), Conflicts: wireDifferences(done.Conflicts)})
}

// truth is a flag that may be absent.
func truth(a rest.Args, name string) (bool, error) {
	if a[name] == nil {
		return false, nil
	}
	return a.NeedTruth(name)
}

func wireDifferences(all []node.Difference) []nodeapi.Difference {
	out := make([]nodeapi.Difference, len(all))
	for i, d := range all {
		out[i] = nodeapi.Difference(d)
	}
	return out
}

// takeNode imports a node with all its records.
func (h *importResource) takeNode(c *rest.Call, body rest.Args, o node.ImportRequest) (node.ImportResult, error) {
	b, err := readBundle(h.nodes.fields, body)
	if err != nil {
		return node.ImportResult{}, err
	}
	if b.Node.SharesMachine = c.Forced; !c.Forced {
		if err := h.refuseMachine(c, b.Node); err != nil {
			return node.ImportResult{}, err
		}
	}
	o.Bundle = b
	return h.imports.ImportNode(c.Request().Context(), o)
}

// refuseMachine refuses the machine of another node, unless it was this node's already.
func (h *importResource) refuseMachine(c *rest.Call, n node.Node) error {
	old, err := h.conductor.Node(c.Request().Context(), n.UUID)
	if err != nil && !isNotFound(err) {
		return err
	}
	was, _ := old.Machine()
	if is, _ := n.Machine(); err == nil && is == was {
		return nil
	}
	return h.nodes.refuseSameMachine(c, n)
}
