package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Limits of an act. Its leader gives it up before its caller does, and answers so: only a leader that does not answer
// at all is silent. A later answer is lost: the next look at the host finds the result.
const (
	// actTime is the caller's, for a write to the database. A leader loses its lease after 5 s without a write.
	actTime    = 10 * time.Second
	answerTime = 2 * time.Second // of it, for the way of the answer

	// imageTime is added where the leader looks at an image first: 6 s for its URL or its name, 10 s for each question
	// to Glance and Keystone, of the image, the kernel and the ramdisk.
	imageTime = 40 * time.Second
	// networkTime is added where the leader takes the node's ports out of Neutron's networks first. A request there may
	// take a minute.
	networkTime = 3 * time.Minute
	// bmcTime is added where the leader asks a BMC before it answers, some questions one after the other.
	bmcTime = time.Minute
)

// askingTime is for how long an act may ask others before it writes.
func askingTime(a host.Action) time.Duration {
	switch a := a.(type) {
	case host.Provision:
		if a.Request.Verb == node.Deploy || a.Request.Verb == node.Rebuild {
			return imageTime
		}
	case host.DeleteNode:
		return networkTime
	case host.Subscribe, host.Unsubscribe:
		return bmcTime
	}
	return 0
}

// answeredWithin is how long the answer to an act is awaited.
func answeredWithin(a host.Action) time.Duration { return askingTime(a) + actTime }

// inTime carries an act out within the time that its caller awaits the answer.
func inTime(ctx context.Context, a host.Action, act func(ctx context.Context) (string, error)) (uuid string,
	err error) {
	limit := answeredWithin(a) - answerTime
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	uuid, err = act(within)
	var refused *node.Refusal
	if err != nil && ctx.Err() == nil && within.Err() != nil && !errors.As(err, &refused) {
		err = fmt.Errorf("not done within %s: %w", limit, err)
	}
	return uuid, err
}
