package agentapi

import (
	"encoding/hex"
	"fmt"
	"net/url"
)

// minTokenLength is the shortest agent token Ironic issues and its agent
// takes.
const minTokenLength = 32

// Validate refuses a lookup reply that an agent cannot use. A masked token is valid: the agent may already hold the
// real one.
func (r LookupReply) Validate() error {
	if r.Node.UUID == "" {
		return fmt.Errorf("lookup reply: node.uuid is missing")
	}
	if r.Config.HeartbeatTimeout <= 0 {
		return fmt.Errorf("lookup reply: config.heartbeat_timeout is %d, expected seconds above zero",
			r.Config.HeartbeatTimeout)
	}
	if t := r.Config.AgentToken; t != "" && t != MaskedToken && len(t) < minTokenLength {
		return fmt.Errorf("lookup reply: config.agent_token has %d characters, expected at least %d", len(t), minTokenLength)
	}
	return nil
}

// Validate refuses a report no node or step can be found by.
func (p Progress) Validate() error {
	switch {
	case p.AgentToken == "":
		return fmt.Errorf("progress: agent_token is missing")
	case p.Step == "":
		return fmt.Errorf("progress: step is missing")
	case len(p.Step) > maxText || len(p.Stage) > maxText:
		return fmt.Errorf("progress: step and stage have %d and %d characters, at most %d are taken", len(p.Step),
			len(p.Stage), maxText)
	case p.Done < 0 || p.Total < 0:
		return fmt.Errorf("progress: done %d and total %d are bytes and cannot be negative", p.Done, p.Total)
	}
	return nil
}

// Validate refuses lines no node or place can be found for.
func (l LogLines) Validate() error {
	switch {
	case l.AgentToken == "":
		return fmt.Errorf("log: agent_token is missing")
	case l.First < 0:
		return fmt.Errorf("log: first %d is the number of a line and cannot be negative", l.First)
	case len(l.Lines) > MaxLogLines:
		return fmt.Errorf("log: %d lines, at most %d are taken at once", len(l.Lines), MaxLogLines)
	}
	return nil
}

// Validate refuses image information nothing can be written from: without a checksum the
// content of the disk would be unknown.
func (i ImageInfo) Validate() error {
	if i.ID == "" {
		return fmt.Errorf("image_info: id is missing")
	}
	if len(i.URLs) == 0 {
		return fmt.Errorf("image_info: urls is empty")
	}
	for _, s := range i.URLs {
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return fmt.Errorf("image_info: url %q is not an http(s) URL", s)
		}
	}
	if err := i.validateType(); err != nil {
		return err
	}
	return i.validateHash()
}

// maxPartMB is more than any disk has, and still no number that overflows as
// bytes.
const maxPartMB = 1 << 40

// validateType refuses unknown image types.
func (i ImageInfo) validateType() error {
	switch i.ImageType {
	case "", WholeDisk:
		return nil
	case PartitionImage:
	default:
		return fmt.Errorf("image_info: image_type is %q, expected %s or %s", i.ImageType, WholeDisk, PartitionImage)
	}
	for _, size := range []struct {
		key   string
		value int64
		least int64
	}{{"root_mb", i.RootMB, 1}, {"swap_mb", i.SwapMB, 0}, {"ephemeral_mb", i.EphemeralMB, 0}} {
		if size.value < size.least || size.value > maxPartMB {
			return fmt.Errorf("image_info: %s is %d, expected %d or more MiB for a partition image", size.key,
				size.value, size.least)
		}
	}
	if i.DiskLabel != "" && i.DiskLabel != "gpt" && i.DiskLabel != "msdos" {
		return fmt.Errorf("image_info: disk_label is %q, expected gpt or msdos", i.DiskLabel)
	}
	return nil
}

func (i ImageInfo) validateHash() error {
	if (i.OSHashAlgo == "") != (i.OSHashValue == "") {
		return fmt.Errorf("image_info: os_hash_algo and os_hash_value go together: found %q and %q", i.OSHashAlgo,
			i.OSHashValue)
	}
	if i.OSHashAlgo == "" && i.Checksum == "" {
		return fmt.Errorf("image_info: neither os_hash_value nor checksum is there: an image cannot be verified without one")
	}
	if i.OSHashValue != "" {
		if _, err := hex.DecodeString(i.OSHashValue); err != nil {
			return fmt.Errorf("image_info: os_hash_value %q is not hexadecimal", i.OSHashValue)
		}
	}
	return nil
}

// Validate refuses a command that cannot be carried out for its form alone.
func (c Command) Validate() error {
	if _, _, err := c.Split(); err != nil {
		return err
	}
	if len(c.Params) == 0 || c.Params[0] != '{' {
		return fmt.Errorf("command %s: params is not an object", c.Name)
	}
	return nil
}
