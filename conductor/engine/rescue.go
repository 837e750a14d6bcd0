package engine

import (
	"context"
	"fmt"

	"github.com/GehirnInc/crypt/sha512_crypt"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// maxPassword is the longest rescue password, in bytes. SHA-512 crypt goes over
// a password five thousand times and more: one of megabytes keeps a core busy
// for minutes.
const maxPassword = 512

// hashPassword makes of a password what /etc/shadow holds ($6$): the password
// itself is stored nowhere.
func hashPassword(password string) (string, error) {
	if len(password) > maxPassword {
		return "", node.Refuse(node.Invalid, "rescue_password has %d bytes; give it at most %d", len(password), maxPassword)
	}
	hash, err := sha512_crypt.New().Generate([]byte(password), nil)
	if err != nil {
		return "", fmt.Errorf("hash the rescue password: %w", err)
	}
	return hash, nil
}

// finalizeRescue gives the password to the agent, which opens the machine to
// user rescue. The agent says no more after it.
func (j *job) finalizeRescue(ctx context.Context) (any, error) {
	hash, _ := j.n.InstanceInfo["hashed_rescue_password"].(string)
	if hash == "" {
		return nil, node.Refuse(node.Conflict, "node %s has no rescue password any more: ask for the rescue again", j.n.UUID)
	}
	res, err := j.send(ctx, "rescue.finalize_rescue", map[string]any{"rescue_password": hash, "hashed": true}, true)
	if err != nil {
		return nil, err
	}
	if res.Status == agentapi.Running {
		return nil, fmt.Errorf("the agent has not finished finalize_rescue, which it answers at once otherwise")
	}
	return res, nil
}
