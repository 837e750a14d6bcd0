package nodeapi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// EventQuery selects events.
type EventQuery struct {
	After  string        // a cursor, or "0"; "" for new events alone
	Node   string        // a name or a UUID; "" for all
	Types  []string      // "node" stands for all that begin with "node."; empty for all
	Follow bool          // go on for ever
	Wait   time.Duration // for the first event, where Follow is false
	NoWait bool          // wait=0: answer at once with the present events
}

// Wants reports whether a type of event is asked for.
func (q EventQuery) Wants(kind string) bool {
	return len(q.Types) == 0 || slices.ContainsFunc(q.Types, func(t string) bool {
		return kind == t || strings.HasPrefix(kind, t+".")
	})
}

// ParseEventQuery reads the arguments of a request.
func ParseEventQuery(values url.Values) (q EventQuery, err error) {
	for key, all := range values {
		if len(all) != 1 {
			return q, fmt.Errorf("expected one value for %s, found %d", key, len(all))
		}
		value := all[0]
		switch key {
		case "after":
			q.After = value
		case "node":
			q.Node = value
		case "type":
			q.Types = strings.Split(value, ",")
		case "follow":
			if value != "true" && value != "false" {
				return q, fmt.Errorf("follow is %.40q: expected true or false", value)
			}
			q.Follow = value == "true"
		case "wait":
			if q.Wait, err = time.ParseDuration(value); err != nil || q.Wait < 0 {
				if value != "0" {
					return q, fmt.Errorf("wait is %.40q: expected a time as 30s", value)
				}
			}
			q.NoWait = q.Wait == 0
		default:
			return q, fmt.Errorf("there is no argument %.40q: expected after, node, type, follow or wait", key)
		}
	}
	return q, nil
}

// Values is the query as arguments of a request.
func (q EventQuery) Values() url.Values {
	v := url.Values{}
	for key, value := range map[string]string{"after": q.After, "node": q.Node, "type": strings.Join(q.Types, ",")} {
		if value != "" {
			v.Set(key, value)
		}
	}
	if q.Follow {
		v.Set("follow", "true")
	}
	if q.NoWait || q.Wait > 0 {
		v.Set("wait", q.Wait.String())
	}
	return v
}
