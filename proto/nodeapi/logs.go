package nodeapi

import (
	"fmt"
	"net/url"
	"strconv"
)

// LogQuery asks for a machine's log: GET /ferrite/v1/nodes/{node}/logs. The
// answer is plain text, one line each of the kernel or the agent.
type LogQuery struct {
	Boot   int  // 0 is the latest boot, 1 the one before it
	Tail   int  // only the last lines of the present ones; 0: all
	Follow bool // go on with new lines
}

// Values is the query as a URL has it.
func (q LogQuery) Values() url.Values {
	v := url.Values{}
	if q.Boot != 0 {
		v.Set("boot", strconv.Itoa(q.Boot))
	}
	if q.Tail != 0 {
		v.Set("tail", strconv.Itoa(q.Tail))
	}
	if q.Follow {
		v.Set("follow", "true")
	}
	return v
}

// ParseLogQuery reads a URL's query; errors are for the client.
func ParseLogQuery(v url.Values) (q LogQuery, err error) {
	for key, values := range v {
		value := values[0]
		switch key {
		case "boot":
			q.Boot, err = strconv.Atoi(value)
		case "tail":
			q.Tail, err = strconv.Atoi(value)
		case "follow":
			q.Follow, err = strconv.ParseBool(value)
		default:
			return q, fmt.Errorf("unexpected argument %s: expected boot, tail and follow", key)
		}
		if err != nil || len(values) > 1 || q.Boot < 0 || q.Tail < 0 {
			return q, fmt.Errorf("%s=%s: boot and tail are one number each, from 0 on, and follow is true or false", key, value)
		}
	}
	return q, nil
}
