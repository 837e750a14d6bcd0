package configdrive

import (
	"errors"
	"fmt"
	"io"

	"github.com/ferrite-metal/ferrite/images/iso"
)

// Build makes an ISO 9660 image of files, which map slash-separated paths to content. label is the
// volume's, at most 16 characters. The same input gives the same bytes.
func Build(label string, files map[string][]byte) ([]byte, error) {
	image, err := iso.New(iso.Volume{Label: label, Files: contents(files)})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if image.Size() > MaxSize {
		return nil, tooLarge(int(image.Size()))
	}
	b := make([]byte, image.Size())
	if _, err := image.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return b, nil
}

func contents(files map[string][]byte) map[string]iso.Content {
	all := make(map[string]iso.Content, len(files))
	for name, b := range files {
		all[name] = iso.Bytes(b)
	}
	return all
}
