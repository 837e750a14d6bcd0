package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// locateImage gives the agent the location of an image that it could not find, or that a cache has. It looks only when
// the step is sent: the credentials for the image are short-lived and never stored.
func (j *job) locateImage(ctx context.Context, s *node.Step) error {
	given, _ := s.Args["image_info"].(map[string]any)
	urls, _ := given["urls"].([]any)
	if len(urls) == 0 || j.Images == nil {
		return nil
	}
	source, _ := urls[0].(string)
	locate := j.Images.Through
	if plan.FoundByConductor(source) {
		locate = j.Images.Locate
	}
	var info agentapi.ImageInfo
	if err := convert(given, &info); err != nil {
		return node.Refuse(node.Invalid, "image_info of the step %s: %v", s, err)
	}
	before := info
	info, err := locate(ctx, j.n, info)
	if err != nil {
		return fmt.Errorf("image %s: %w", nodeapi.MaskText(source), err)
	}
	if reflect.DeepEqual(before, info) {
		return nil
	}
	var found map[string]any
	if err := convert(info, &found); err != nil {
		return err
	}
	if info.Checksum == "" {
		delete(given, "checksum")
	}
	maps.Copy(given, found)
	return nil
}

// convert reads one form of a document as another.
func convert(from, into any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
