package bootmedia

import (
	"context"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/images/fat"
)

// Ironic's agents look for their settings in this file of a disk with this label.
const (
	settingsLabel = "ir-vfd-dev"
	settingsFile  = "parameters.txt"
)

// floppySize is the largest medium of settings: Ironic's floppy images have this size.
const floppySize = 1440 << 10

// SettingsURL is where the BMC of n reads the settings of the agent that its run's boot starts. It refuses a node for
// which they cannot be made.
func (s *Server) SettingsURL(ctx context.Context, n node.Node) (string, error) {
	path, ok := s.path(n, bootOf(n), settingsImage)
	if !ok {
		return "", node.Refuse(node.Invalid, "node %s boots no medium now", n.UUID)
	}
	if _, err := s.settings(ctx, n); err != nil {
		return "", node.Refuse(node.Invalid, "the settings of the agent of node %s cannot be made: %v", n.UUID, err)
	}
	s.remember(path, n.UUID)
	return n.MediaURL(s.URL) + path, nil
}

// settings is a floppy image with the kernel words of the agent, a line for each.
func (s *Server) settings(ctx context.Context, n node.Node) ([]byte, error) {
	words, err := s.Settings(ctx, n)
	if err != nil {
		return nil, err
	}
	return fat.Build(settingsLabel, &fat.File{Children: []*fat.File{{Name: settingsFile,
		Content: []byte(strings.Join(strings.Fields(words), "\n") + "\n")}}}, 512, floppySize)
}
