package steps

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Limits of injected files.
const (
	maxInjected    = 256 << 20 // bytes of one file
	maxAccounts    = 4 << 20   // bytes read of an image's passwd and group
	injectPatience = 10 * time.Minute
)

// injectFilesArgs describes the step's arguments.
func injectFilesArgs() map[string]any {
	return map[string]any{
		"files": map[string]any{"required": false,
			"description": "List of files, in addition to properties and instance_info (inject_files): objects with " +
				"path, content (base64, or a URL with {node[...]} and {ports[...]} filled in) or deleted, " +
				"and if wanted partition, mode, dirmode, owner, group."},
		"verify_ca": map[string]any{"required": false,
			"description": "Only true, the default: certificates are verified as the ramdisk's kernel line says."},
	}
}

// injectFiles is the step deploy.inject_files: it writes files to the installed
// system, and removes files from it.
func injectFiles(ctx context.Context, m *Machine, r Request) (any, error) {
	files, err := injections(r)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	root, err := m.installedDisk(ctx, r.Node)
	if err != nil {
		return nil, noDevice(err)
	}
	volumes, err := m.volumes(ctx, root)
	if err != nil {
		return nil, noDevice(err)
	}
	for i, f := range files {
		m.Progress(agentapi.Progress{Step: "inject_files", Stage: f.Path, Done: int64(i), Total: int64(len(files))})
		v, err := m.volumeFor(f, root, volumes)
		if err != nil {
			return nil, noDevice(err)
		}
		if err := m.inject(ctx, v, f); err != nil {
			return nil, agentapi.NewCommandError("CommandExecutionError", "Command execution failed",
				fmt.Sprintf("inject %s on %s: %v", f.Path, v.device, err))
		}
		m.Log.Info("file injected", "path", f.Path, "partition", v.device, "deleted", f.Deleted)
	}
	return nil, nil
}

// inject does one file on its volume.
func (m *Machine) inject(ctx context.Context, v volume, f injection) (err error) {
	tree, err := m.mount(v, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tree.Close()) }()
	if f.Deleted {
		err = tree.Remove(f.Path)
	} else {
		err = m.writeFile(ctx, tree, f)
	}
	if err != nil {
		return err
	}
	return tree.Sync()
}

// writeFile makes the file. It looks up the owner first, and asks the server before
// there is a file: either may fail.
func (m *Machine) writeFile(ctx context.Context, tree *sys.Tree, f injection) (err error) {
	uid, err := account(tree, "/etc/passwd", f.Owner)
	if err != nil {
		return err
	}
	gid, err := account(tree, "/etc/group", f.Group)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, injectPatience)
	defer cancel()
	content, err := m.content(ctx, f)
	if err != nil {
		return err
	}
	defer content.Close()
	leaf := uint32(0)
	if f.DirMode != nil {
		leaf = *f.DirMode
	}
	if err := tree.MkdirAll(path.Dir(path.Clean("/"+f.Path)), leaf); err != nil {
		return err
	}
	out, err := tree.Create(f.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := copyBounded(out, content); err != nil {
		return err
	}
	if uid >= 0 || gid >= 0 {
		if err := out.Chown(uid, gid); err != nil {
			return err
		}
	}
	if f.Mode == nil {
		return nil
	}
	return tree.Chmod(out, *f.Mode) // last: a new owner takes set-user-id bits away
}

// copyBounded copies a file's content. Content that is too large leaves an empty file,
// not half of it.
func copyBounded(out *os.File, content io.Reader) error {
	n, err := io.Copy(out, io.LimitReader(content, maxInjected+1))
	if err == nil && n > maxInjected {
		err = fmt.Errorf("it is larger than %d bytes; put it into the image instead", maxInjected)
	}
	if err != nil {
		return errors.Join(err, out.Truncate(0))
	}
	return nil
}

// content opens the content of the file.
func (m *Machine) content(ctx context.Context, f injection) (io.ReadCloser, error) {
	if f.url == "" {
		return io.NopCloser(bytes.NewReader(f.bytes)), nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := m.Client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("%s: server answered %s", f.url, resp.Status), resp.Body.Close())
	}
	if coding := resp.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, errors.Join(fmt.Errorf("%s: its server names Content-Encoding %q, which was not asked for, and no "+
			"checksum says which bytes are the file: have it served as it is stored", f.url, coding), resp.Body.Close())
	}
	return resp.Body, nil
}

// account is the number of a user or group: id itself when it is a number, else the name's number in the installed
// system. -1 leaves it unchanged.
func account(tree *sys.Tree, list string, id any) (int, error) {
	name, named := id.(string)
	switch v := id.(type) {
	case nil:
		return -1, nil
	case float64:
		return int(v), nil
	}
	if n, err := strconv.ParseUint(name, 10, 31); named && err == nil {
		return int(n), nil
	}
	f, err := tree.Open(list)
	if err != nil {
		return 0, fmt.Errorf("look up the account %q: %w", name, err)
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxAccounts))
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) < 3 || fields[0] != name {
			continue
		}
		n, err := strconv.ParseUint(fields[2], 10, 31)
		if err != nil {
			return 0, fmt.Errorf("%s on this partition gives %q the id %q, which is no number", list, name, fields[2])
		}
		return int(n), nil
	}
	if err := lines.Err(); err != nil {
		return 0, fmt.Errorf("%s on this partition: %w", list, err)
	}
	return 0, fmt.Errorf("%s on this partition has no %q; give its number", list, name)
}
