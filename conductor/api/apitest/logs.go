package apitest

import (
	"context"
	"fmt"
	"net/http"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// logs has two boots of every node. Each line repeats the query.
type logs struct{}

// Stream gives one line, whether it is to be followed or not.
func (logs) Stream(_ context.Context, _ string, q nodeapi.LogQuery, emit func([]byte) error) error {
	if q.Boot > 1 {
		return nodeapi.NewFault(http.StatusNotFound,
			"There is no log of boot %d: logs of 2 boots are kept, and 0 is the latest.", q.Boot)
	}
	return emit(fmt.Appendf(nil, "boot %d tail %d follow %v\n", q.Boot, q.Tail, q.Follow))
}
