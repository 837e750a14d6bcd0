package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// recordResource is the inventory, history and children of a node.
type recordResource struct{ access }

// routes serves a node's inventory, children and history.
func (h *recordResource) routes() []rest.Route {
	unknown := nodeapi.Routing(http.StatusNotFound, "")
	return []rest.Route{
		{Method: http.MethodGet, Path: "/v1/nodes/:node/inventory", Since: 81, TooOld: unknown,
			Doc:    "the inventory from the last inspection",
			Handle: h.showInventory, Wire: rest.Returns(inventoryForm())},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/children", Since: 83, TooOld: unknown,
			Doc: "the nodes that are part of a node", Handle: h.listChildren, Wire: rest.Returns(childrenForm())},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/history", Since: 78, TooOld: unknown,
			Doc: "the history of a node", Handle: h.listHistory,
			Wire: rest.Returns(rest.PageForm("history", historyForm()), historyArgs()...)},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/history/detail", Since: 78, TooOld: unknown,
			Doc: "the same in full, as python-ironicclient asks for it", Handle: h.listHistoryDetail,
			Wire: rest.Returns(rest.PageForm("history", historyForm()), historyArgs()...)},
		{Method: http.MethodGet, Path: "/v1/nodes/:node/history/:entry", Since: 78, TooOld: unknown,
			Doc: "one thing that has happened", Handle: h.showHistory, Wire: rest.Returns(historyForm())},
	}
}

func (h *recordResource) showInventory(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	found, err := h.conductor.Inspected(c.Request().Context(), n.UUID)
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
	return c.Marshal(http.StatusOK, map[string]any{"inventory": inventory, "plugin_data": found.PluginData})
}

// withLists reads an inventory and replaces null lists by empty ones. Clients loop over them, whether a ramdisk or a
// BMC has sent the inventory.
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
func (h *recordResource) listChildren(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	uuids, err := h.conductor.NodeUUIDs(c.Request().Context(),
		node.Query{Equal: map[string]string{"parent_node": n.UUID}, Project: c.Project()})
	if err != nil {
		return err
	}
	return c.Marshal(http.StatusOK, map[string]any{
		"children": append([]string{}, uuids...),
		"links":    nodeapi.Link{Href: c.BaseURL() + "/v1/nodes?parent_node=" + n.UUID, Rel: "children"},
	})
}

// An event's text in the list has at most maxEvent characters. A longer one is cut to cutEvent characters and three
// dots.
const (
	maxEvent = 255
	cutEvent = 251
)

// historyArgs are the query arguments of a list of history.
func historyArgs() []string { return []string{"detail", "limit", "marker", "sort_key", "sort_dir"} }

func (h *recordResource) listHistory(c *rest.Call) error       { return h.answerHistory(c, false) }
func (h *recordResource) listHistoryDetail(c *rest.Call) error { return h.answerHistory(c, true) }

func (h *recordResource) answerHistory(c *rest.Call, detail bool) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), historyArgs()); err != nil {
		return err
	}
	p, err := c.Page(historyKey, 1, 1)
	if err != nil {
		return err
	}
	entries, err := h.conductor.History(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	if of := historyKeys()[p.SortKey]; of != nil {
		slices.SortStableFunc(entries, func(x, y node.HistoryEntry) int { return cmp.Compare(of(&x), of(&y)) })
	}
	if p.Desc {
		slices.Reverse(entries)
	}
	if p.Marker != "" {
		i := indexHistory(entries, p.Marker)
		if i < 0 {
			return noHistory(p.Marker)
		}
		entries = entries[i+1:]
	}
	return rest.AnswerList(h.Server, c, p, "history", rest.Each(entries),
		func(e *node.HistoryEntry) string { return e.UUID },
		func(dst []byte, e *node.HistoryEntry) []byte { return appendEntry(dst, c, e, detail || p.Detail) })
}

// historyKeys are the sort keys of history, besides the order of events.
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
		return "", rest.BadRequest("The sort_key value %q is an invalid field for sorting", name)
	}
	return name, nil
}

func (h *recordResource) showHistory(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	entries, err := h.conductor.History(c.Request().Context(), n.UUID)
	if err != nil {
		return err
	}
	i := indexHistory(entries, c.Param("entry"))
	if i < 0 {
		return noHistory(c.Param("entry"))
	}
	return h.Buffer(c, http.StatusOK, func(dst []byte) []byte { return appendEntry(dst, c, &entries[i], true) })
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
func appendEntry(dst []byte, c *rest.Call, e *node.HistoryEntry, detail bool) []byte {
	event := e.Event
	if runes := []rune(event); !detail && len(runes) > maxEvent {
		event = string(runes[:cutEvent]) + "..."
	}
	dst = rest.AppendString(append(dst, `{"uuid":`...), e.UUID)
	dst = rest.AppendTime(append(dst, `,"created_at":`...), &e.CreatedAt)
	dst = rest.AppendString(append(dst, `,"severity":`...), e.Severity)
	dst = rest.AppendString(append(dst, `,"event":`...), event)
	if detail {
		dst = rest.AppendText(append(dst, `,"event_type":`...), e.EventType)
		dst = rest.AppendText(append(dst, `,"conductor":`...), e.Conductor)
		dst = rest.AppendText(append(dst, `,"user":`...), e.User)
		if c.Minor >= 113 {
			dst = rest.AppendText(append(dst, `,"project":`...), e.Project)
		}
		if c.Minor >= 115 {
			dst = rest.AppendText(append(dst, `,"state":`...), string(e.State))
			dst = rest.AppendText(append(dst, `,"target_provision_state":`...), string(e.Target))
			dst = rest.AppendWhole(append(dst, `,"duration_seconds":`...), e.Duration)
		}
	}
	dst = rest.AppendString(append(dst, `,"links":[{"href":`...), c.BaseURL()+"/v1/nodes/"+e.NodeUUID+"/history/"+e.UUID)
	return append(dst, `,"rel":"self"}]}`...)
}
