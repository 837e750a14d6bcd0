package nodes

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/suggest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// SelectorHelp is the help of the flag --selector.
const SelectorHelp = "machines with these `fields`, such as state=available,name=web-*,extra.rack!=7"

// term is one condition on a field of a node.
type term struct {
	field   string // with a key below it after a dot
	pattern string // with * for any characters
	not     bool
}

// Selector are conditions that all must be met.
type Selector []term

// shortNames are words for fields that are short to type.
var shortNames = map[string]string{
	"state": "provision_state", "power": "power_state", "class": "resource_class", "trait": "traits",
	"group": "conductor_group", "instance": "instance_uuid", "error": "last_error",
}

// selectable are the fields that a selector can name.
var selectable = []string{"uuid", "name", "provision_state", "power_state", "resource_class", "driver", "owner",
	"lessee", "maintenance", "fault", "last_error", "conductor_group", "conductor", "shard", "traits", "instance_uuid",
	"retired", "protected", "parent_node", "chassis_uuid", "description"}

// objects are the fields that a selector names with a key.
var objects = []string{"extra", "properties", "driver_info", "instance_info"}

// ParseSelector reads FIELD=PATTERN and FIELD!=PATTERN, with commas between them.
func ParseSelector(text string) (s Selector, err error) {
	for part := range strings.SplitSeq(text, ",") {
		field, pattern, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return nil, exit.Usage(fmt.Errorf("--selector %q: expected FIELD=VALUE or FIELD!=VALUE, such as state=available",
				part))
		}
		field, not := strings.CutSuffix(field, "!")
		t := term{strings.TrimSpace(field), strings.TrimPrefix(pattern, "="), not}
		if err := t.check(); err != nil {
			return nil, exit.Usage(fmt.Errorf("--selector %q: %w", part, err))
		}
		s = append(s, t)
	}
	return s, nil
}

// check resolves the short name of a field, and refuses an unknown one.
func (t *term) check() error {
	if long := shortNames[t.field]; long != "" {
		t.field = long
	}
	if _, err := path.Match(t.pattern, ""); err != nil {
		return errors.New("the pattern has a [ without ]")
	}
	if object, key, isKey := strings.Cut(t.field, "."); isKey && key != "" && slices.Contains(objects, object) {
		return nil
	}
	if t.field == "provision_state" && !strings.ContainsAny(t.pattern, "*?[") {
		if err := CheckState(t.pattern); err != nil {
			return err
		}
	}
	known := append(slices.Clone(selectable), output.Sorted(shortNames)...)
	return suggest.Unknown("the field", t.field, "fields are "+strings.Join(known, ", ")+", and extra.KEY, "+
		"properties.KEY, driver_info.KEY, instance_info.KEY", known)
}

// CheckState refuses a provision state that does not exist.
func CheckState(state string) error {
	return suggest.Unknown("the state", state, "states are "+strings.Join(nodeapi.ProvisionStates(), ", "),
		nodeapi.ProvisionStates())
}

// Fields are the fields of nodes that a selector looks at.
func (s Selector) Fields() (fields []string) {
	for _, t := range s {
		field, _, _ := strings.Cut(t.field, ".")
		fields = append(fields, field)
	}
	return fields
}

// Match reports whether a node meets all conditions.
func (s Selector) Match(node map[string]any) bool {
	return !slices.ContainsFunc(s, func(t term) bool { return t.match(node) == t.not })
}

func (t term) match(node map[string]any) bool {
	value, key, isKey := any(nil), "", false
	if value, isKey = node[t.field]; !isKey {
		var object string
		object, key, _ = strings.Cut(t.field, ".")
		inside, _ := node[object].(map[string]any)
		value = inside[key]
	}
	if list, ok := value.([]any); ok {
		return slices.ContainsFunc(list, func(v any) bool { return fits(t.pattern, output.Cell(v)) })
	}
	return fits(t.pattern, output.Cell(value))
}

// fits compares without regard to case, as people type.
func fits(pattern, text string) bool {
	// path.Match has * stop at a slash, which is no boundary here
	const slash = "\x00"
	ok, err := path.Match(strings.ReplaceAll(strings.ToLower(pattern), "/", slash),
		strings.ReplaceAll(strings.ToLower(text), "/", slash))
	return err == nil && ok
}

// Select lists the nodes that meet all conditions, by name. None is an error.
func Select(ctx context.Context, s *client.Session, text string) (names []string, err error) {
	wanted, err := ParseSelector(text)
	if err != nil {
		return nil, err
	}
	fields := append([]string{"uuid", "name"}, wanted.Fields()...)
	slices.Sort(fields)
	all, err := client.Records[map[string]any](ctx, s, "nodes",
		url.Values{"fields": {strings.Join(slices.Compact(fields), ",")}})
	if err != nil {
		return nil, err
	}
	for _, n := range all {
		if wanted.Match(n) {
			names = append(names, output.Label().Text(n))
		}
	}
	if len(names) == 0 {
		return nil, exit.Is(exit.NotFound, fmt.Errorf("no node fits --selector %s; nothing was asked of any", text))
	}
	return names, nil
}
