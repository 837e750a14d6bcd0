package jobs

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// silentImages ask a server that never says how long its image is.
type silentImages struct{ core.Images }

func (silentImages) Through(ctx context.Context, _ node.Node, info agentapi.ImageInfo) (agentapi.ImageInfo, error) {
	<-ctx.Done()
	return info, ctx.Err()
}

// TestLocateImageEnds: a server of images locks no node for longer than a minute.
func TestLocateImageEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &job{Jobs: &Jobs{Core: &core.Core{}}}
		j.Images = silentImages{}
		s := node.Step{Args: map[string]any{"image_info": map[string]any{"urls": []any{"http://192.0.2.1/os.raw"}}}}
		began := time.Now()
		err := j.locateImage(t.Context(), &s)
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > locateTime {
			t.Errorf("after %s: %v", took, err)
		}
	})
}
