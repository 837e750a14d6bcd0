package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// recordRoutes is what has been found out about a node and what happened to it.
func (a *API) recordRoutes() []route {
	unknown := nodeapi.Routing(http.StatusNotFound, "")
	return []route{
		{method: http.MethodGet, path: "/v1/nodes/:node/inventory", since: 81, tooOld: unknown, doc: "what inspection found", handle: a.showInventory, wire: gives(inventoryForm())},
		{method: http.MethodGet, path: "/v1/nodes/:node/children", since: 83, tooOld: unknown, doc: "the nodes that are part of a node", handle: a.listChildren, wire: gives(childrenForm())},
		{method: http.MethodGet, path: "/v1/nodes/:node/history", since: 78, tooOld: unknown, doc: "what has happened to a node", handle: a.listHistory, wire: gives(pageForm("history", historyForm()), historyArgs()...)},
		{method: http.MethodGet, path: "/v1/nodes/:node/history/detail", since: 78, tooOld: unknown, doc: "the same in full, as python-ironicclient asks for it", handle: a.listHistoryDetail, wire: gives(pageForm("history", historyForm()), historyArgs()...)},
		{method: http.MethodGet, path: "/v1/nodes/:node/history/:entry", since: 78, tooOld: unknown, doc: "one thing that has happened", handle: a.showHistory, wire: gives(historyForm())},
	}
}

func (a *API) showInventory(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	found, err := a.conductor.Inspected(c.Request().Context(), n.UUID)
	if errors.Is(err, node.ErrNotFound) {
		return nodeapi.NewFault(http.StatusNotFound, "Node inventory record for node %s could not be found.", n.UUID)
	}
	if err != nil {
		return err
	}
	inventory, err := withLists(found.Inventory)
	if err != nil {
		return fmt.Errorf("inventory of node %s: %w", n.UUID, err)
	}
	if len(found.PluginData) == 0 {
		found.PluginData = json.RawMessage("{}")
	}
	return c.marshal(http.StatusOK, map[string]any{"inventory": inventory, "plugin_data": found.PluginData})
}

// withLists reads an inventory and makes empty lists of those that are null:
// clients loop over them, and whose ramdisk or BMC sent it, is all one to them.
func withLists(raw json.RawMessage) (map[string]any, error) {
	inventory := map[string]any{}
	if len(raw) == 0 {
		return inventory, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // a size in bytes is as it was sent
	if err := decoder.Decode(&inventory); err != nil {
		return nil, err
	}
	if inventory == nil {
		return map[string]any{}, nil
	}
	fill := func(in map[string]any, key string) []any {
		if value, ok := in[key]; ok && value == nil {
			in[key] = []any{}
		}
		list, _ := in[key].([]any)
		return list
	}
	fill(inventory, "disks")
	for _, i := range fill(inventory, "interfaces") {
		if nic, ok := i.(map[string]any); ok {
			fill(nic, "lldp")
		}
	}
	if cpu, ok := inventory["cpu"].(map[string]any); ok {
		fill(cpu, "flags")
	}
	return inventory, nil
}

// listChildren answers the UUIDs of the child nodes, and where to read them.
func (a *API) listChildren(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	children, err := a.conductor.Nodes(c.Request().Context(), node.Query{ParentNode: n.UUID, Project: c.project()})
	if err != nil {
		return err
	}
	uuids := make([]string, len(children))
	for i := range children {
		uuids[i] = children[i].UUID
	}
	return c.marshal(http.StatusOK, map[string]any{
		"children": uuids,
		"links":    nodeapi.Link{Href: c.base() + "/v1/nodes?parent_node=" + n.UUID, Rel: "children"},
	})
}

// An event's text in the list has at most maxEvent characters; one that has
// more is cut to the first few and three dots.
const (
	maxEvent = 255
	cutEvent = 251
)

// historyArgs are what a list of history can be asked with.
func historyArgs() []string { return []string{"detail", "limit", "marker", "sort_key", "sort_dir"} }

func (a *API) listHistory(c *call) error       { return a.answerHistory(c, false) }
func (a *API) listHistoryDetail(c *call) error { return a.answerHistory(c, true) }

func (a *API) answerHistory(c *call, detail bool) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	if err := unexpected(sortedKeys(c.QueryParams()), historyArgs()); err != nil {
		return err
	}
	p, err := c.page(historyKey, 1, 1)
	if err != nil {
		return err
	}
	entries, err := a.conductor.History(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	if of := historyKeys()[p.sortKey]; of != nil {
		slices.SortStableFunc(entries, func(x, y node.HistoryEntry) int { return cmp.Compare(of(&x), of(&y)) })
	}
	if p.desc {
		slices.Reverse(entries)
	}
	if p.marker != "" {
		i := indexHistory(entries, p.marker)
		if i < 0 {
			return noHistory(p.marker)
		}
		entries = entries[i+1:]
	}
	return a.buffer(c, http.StatusOK, func(dst []byte) []byte {
		return appendList(dst, c, p, "history", entries, func(e *node.HistoryEntry) string { return e.UUID }, func(dst []byte, e *node.HistoryEntry) []byte {
			return appendEntry(dst, c, e, detail || p.detail)
		})
	})
}

// historyKeys are what history can be sorted by, besides the order in which
// things happened.
func historyKeys() map[string]func(*node.HistoryEntry) string {
	return map[string]func(*node.HistoryEntry) string{
		"uuid":       func(e *node.HistoryEntry) string { return e.UUID },
		"severity":   func(e *node.HistoryEntry) string { return e.Severity },
		"event_type": func(e *node.HistoryEntry) string { return e.EventType },
		"event":      func(e *node.HistoryEntry) string { return e.Event },
		"conductor":  func(e *node.HistoryEntry) string { return e.Conductor },
		"user":       func(e *node.HistoryEntry) string { return e.User },
	}
}

func historyKey(_ int, name string) (string, error) {
	if name == "" || name == "id" || name == "created_at" {
		return "", nil
	}
	if historyKeys()[name] == nil {
		return "", badRequest("The sort_key value %q is an invalid field for sorting", name)
	}
	return name, nil
}

func (a *API) showHistory(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	entries, err := a.conductor.History(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	i := indexHistory(entries, c.Param("entry"))
	if i < 0 {
		return noHistory(c.Param("entry"))
	}
	return a.buffer(c, http.StatusOK, func(dst []byte) []byte { return appendEntry(dst, c, &entries[i], true) })
}

func noHistory(id string) error {
	return nodeapi.NewFault(http.StatusNotFound, "Node history record %s could not be found.", id)
}

func indexHistory(entries []node.HistoryEntry, id string) int {
	for i := range entries {
		if entries[i].UUID == id {
			return i
		}
	}
	return -1
}

// appendEntry writes one line of history; without detail its text is cut short.
func appendEntry(dst []byte, c *call, e *node.HistoryEntry, detail bool) []byte {
	event := e.Event
	if runes := []rune(event); !detail && len(runes) > maxEvent {
		event = string(runes[:cutEvent]) + "..."
	}
	dst = appendString(append(dst, `{"uuid":`...), e.UUID)
	dst = appendTime(append(dst, `,"created_at":`...), &e.CreatedAt)
	dst = appendString(append(dst, `,"severity":`...), e.Severity)
	dst = appendString(append(dst, `,"event":`...), event)
	if detail {
		dst = appendText(append(dst, `,"event_type":`...), e.EventType)
		dst = appendText(append(dst, `,"conductor":`...), e.Conductor)
		dst = appendText(append(dst, `,"user":`...), e.User)
		if c.minor >= 113 {
			dst = appendText(append(dst, `,"project":`...), e.Project)
		}
		if c.minor >= 115 {
			dst = appendText(append(dst, `,"state":`...), string(e.State))
			dst = appendText(append(dst, `,"target_provision_state":`...), string(e.Target))
			dst = appendWhole(append(dst, `,"duration_seconds":`...), e.Duration)
		}
	}
	dst = appendString(append(dst, `,"links":[{"href":`...), c.base()+"/v1/nodes/"+e.NodeUUID+"/history/"+e.UUID)
	return append(dst, `,"rel":"self"}]}`...)
}
