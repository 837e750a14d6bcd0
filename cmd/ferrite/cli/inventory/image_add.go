package inventory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const imageAddHelp = `Add an image to the conductor, under a name. A FILE is uploaded from here; - is standard
input. A URL is fetched by the conductor itself; the command waits, and the transfer continues
after Ctrl-C. The image exists once it is complete and its checksum is right.

The conductor detects the format. Without --checksum it accepts any bytes.`

// addition is an image that is to be added.
type addition struct {
	session *client.Session
	nodeapi.NewImage
}

func imageAdd(s *client.Session) *cobra.Command {
	a := &addition{session: s}
	cmd := &cobra.Command{
		Use:   "add NAME FILE|URL [--checksum SUM]",
		Short: "Add an image to the conductor, under a name",
		Long:  imageAddHelp,
		Example: `  ferrite image add debian-12 ./debian-12-genericcloud-amd64.qcow2
  ferrite image add debian-12 https://images.example.com/debian-12.qcow2
  xz -dc disk.raw.xz | ferrite image add disk -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Name = args[0]
			add := a.upload
			if strings.HasPrefix(args[1], "http://") || strings.HasPrefix(args[1], "https://") {
				add = a.fetch
			}
			i, err := add(cmd, args[1])
			if err != nil {
				return s.Older(err, noImages)
			}
			reply, err := json.Marshal(i)
			if err != nil {
				return err
			}
			return output.PrintAny(s, cmd.OutOrStdout(), reply, output.Fields(s, reply))
		},
	}
	f := cmd.Flags()
	f.StringVar(&a.Checksum, "checksum", "", "checksum that the image must have: hex of sha256 or sha512")
	f.StringVar(&a.Owner, "owner", "", "`project` whose machines may have the image; without it, all machines")
	return cmd
}

// upload sends a file. The conductor's digest must equal the digest of the bytes sent.
func (a *addition) upload(cmd *cobra.Command, path string) (i nodeapi.Image, err error) {
	file, size := cmd.InOrStdin(), int64(-1)
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return i, err
		}
		defer f.Close()
		info, err := f.Stat()
		switch {
		case err != nil:
			return i, err
		case !info.Mode().IsRegular():
			return i, fmt.Errorf("%s is no regular file; use - to send a program's output", path)
		case info.Size() == 0:
			return i, fmt.Errorf("%s is empty: expected an image", path)
		}
		file, size = f, info.Size()
	}
	line := wait.NewScreen(cmd, a.session).Line(a.Name, nodeapi.Status{})
	defer line.Close()
	body := &sending{Reader: file, sum: sha256.New(), shown: &shown{line: line, began: time.Now()}, total: size}
	q := url.Values{}
	for key, value := range map[string]string{"checksum": a.Checksum, "owner": a.Owner} {
		if value != "" {
			q.Set(key, value)
		}
	}
	at := imagePath(a.Name) + "/file"
	if len(q) > 0 {
		at += "?" + q.Encode()
	}
	if err := a.session.Client.Upload(cmd.Context(), at, body, size, &i); err != nil {
		return i, err
	}
	if sent := "sha256:" + hex.EncodeToString(body.sum.Sum(nil)); i.Digest != sent {
		return i, fmt.Errorf("the conductor has stored %s, and %s was sent: delete the image, and send it again", i.Digest,
			sent)
	}
	return i, nil
}

// fetch has the conductor fetch a URL, and shows how far it is.
func (a *addition) fetch(cmd *cobra.Command, at string) (i nodeapi.Image, err error) {
	a.URL = at
	ctx := cmd.Context()
	if err := a.session.Client.Do(ctx, "POST", nodeapi.ImagesPath, a.NewImage, &i); err != nil {
		return i, err
	}
	line := wait.NewScreen(cmd, a.session).Line(a.Name, nodeapi.Status{})
	defer line.Close()
	s := &shown{line: line, began: time.Now()}
	for i.State == nodeapi.ImageAdding {
		if i.Progress != nil {
			s.at(i.Progress.Done, i.Progress.Total)
		}
		if err := wait.Pause(ctx, pollImage); err != nil {
			return i, err
		}
		uuid := i.UUID
		i = nodeapi.Image{}
		if err := a.session.Client.Do(ctx, "GET", imagePath(uuid), nil, &i); err != nil {
			return i, lostTransfer(a.Name, err)
		}
	}
	if i.State == nodeapi.ImageFailed {
		return i, fmt.Errorf("image %s was not added: %s", a.Name, i.Error)
	}
	return i, nil
}

// pollImage is between two looks at a transfer.
const pollImage = 500 * time.Millisecond

// lostTransfer explains an image that is neither being added nor there.
func lostTransfer(name string, err error) error {
	if client.NotFound(err) && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("the transfer of image %s has ended: it was deleted, or the conductor was restarted; add it "+
			"again (%w)", name, err)
	}
	return err
}

// shown is how far a transfer is, on the screen. Its rate is that since the beginning.
type shown struct {
	line  *wait.Line
	began time.Time
	last  time.Time
}

// drawEvery is between two drawings.
const drawEvery = 200 * time.Millisecond

func (s *shown) at(done, total int64) {
	now := time.Now()
	if done < total && now.Sub(s.last) < drawEvery {
		return
	}
	s.last = now
	p := nodeapi.Progress{Done: done, Total: max(total, 0)}
	if took := now.Sub(s.began).Seconds(); took > 0 {
		p.Rate = float64(done) / took
	}
	if p.Rate > 0 && p.Total > 0 {
		p.ETA = float64(p.Total-done) / p.Rate
	}
	s.line.Bytes(p)
}

// sending is a body that shows how far it is, and is summed up.
type sending struct {
	io.Reader
	sum         hash.Hash
	shown       *shown
	done, total int64
}

// Read reads the next bytes to send.
func (b *sending) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.sum.Write(p[:n])
	b.done += int64(n)
	b.shown.at(b.done, b.total)
	return n, err
}
