package redfish

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
)

// raidController is a storage controller that makes volumes.
type raidController struct {
	id         string
	name       string   // of its first part
	volumes    string   // path of their collection
	types      []string // it can make; nil where the BMC does not report it
	applyTimes []string // of changes to its volumes
	drives     []drive
	present    []volume
}

type drive struct {
	id, path  string
	bytes     int64
	media     string // HDD, SSD
	transport string // SAS, SATA, NVMe
}

type volume struct {
	path, id, name string
	raidType       string
	bytes          int64
	drives         []string // paths
}

func (v volume) String() string {
	return fmt.Sprintf("%s %s (%s)", v.raidType, path.Base(v.path), v.name)
}

// raidLevel is one of Ironic's levels.
type raidLevel struct {
	name, raidType string
	min, max       int // drives
	spans          int // into which the drives must divide; 0 for pairs
	parity         int // drives' worth of redundancy per span
}

// levels are the RAID levels that a target_raid_config may ask for.
func levels() []raidLevel {
	const many = 1 << 10
	return []raidLevel{
		{"0", "RAID0", 1, many, 1, 0},
		{"1", "RAID1", 2, 2, 1, 1},
		{"5", "RAID5", 3, many, 1, 1},
		{"6", "RAID6", 4, many, 1, 2},
		{"1+0", "RAID10", 4, many, 0, 1},
		{"5+0", "RAID50", 6, many, 2, 1},
		{"6+0", "RAID60", 8, many, 2, 2},
	}
}

func levelOf(matches func(raidLevel) bool) (raidLevel, bool) {
	all := levels()
	i := slices.IndexFunc(all, matches)
	if i < 0 {
		return raidLevel{}, false
	}
	return all[i], true
}

// fits reports whether n drives can make the level.
func (l raidLevel) fits(n int) bool {
	return n >= l.min && n <= l.max && (l.spans == 1 || n%2 == 0)
}

// room is how many bytes n drives of a size leave for data.
func (l raidLevel) room(n int, bytes int64) int64 {
	spans := l.spans
	if spans == 0 {
		spans = n / 2
	}
	return int64(n-spans*l.parity) * bytes
}

// raidControllers reads the controllers that make volumes, with their drives and present volumes. Controllers with an
// empty list of RAID types only pass drives on.
func (s *session) raidControllers() ([]raidController, error) {
	l, err := s.systemLinks()
	if err != nil || l.Storage.Path == "" {
		return nil, err
	}
	all, err := s.members(l.Storage.Path)
	if err != nil {
		return nil, fmt.Errorf("list the storage controllers: %w", err)
	}
	slices.SortFunc(all, byNumber)
	var out []raidController
	for _, p := range all {
		c, ok, err := s.raidController(p)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, c)
		}
	}
	return out, nil
}

func (s *session) raidController(at string) (c raidController, ok bool, err error) {
	var doc struct {
		ID                 string `json:"Id"`
		StorageControllers []struct {
			Name               string
			SupportedRAIDTypes *[]string
		}
		Controllers reference
		Drives      []reference
		Volumes     reference
	}
	if _, err := s.get(at, &doc); err != nil {
		return c, false, err
	}
	if doc.Volumes.Path == "" {
		return c, false, nil
	}
	var types *[]string
	if len(doc.StorageControllers) > 0 {
		types = doc.StorageControllers[0].SupportedRAIDTypes
	} else if doc.Controllers.Path != "" { // since Storage.v1_13_0
		if types, err = s.newerRAIDTypes(doc.Controllers.Path); err != nil {
			return c, false, err
		}
	}
	if types != nil && len(*types) == 0 {
		return c, false, nil
	}
	c = raidController{id: doc.ID, volumes: doc.Volumes.Path}
	if len(doc.StorageControllers) > 0 {
		c.name = doc.StorageControllers[0].Name
	}
	if types != nil {
		c.types = *types
	}
	if c.drives, err = s.drives(paths(doc.Drives)); err != nil {
		return c, false, err
	}
	return c, true, s.presentVolumes(&c)
}

func (s *session) newerRAIDTypes(at string) (*[]string, error) {
	all, err := s.members(at)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	var doc struct{ SupportedRAIDTypes *[]string }
	_, err = s.get(all[0], &doc)
	return doc.SupportedRAIDTypes, err
}

func (s *session) drives(all []string) ([]drive, error) {
	var out []drive
	for _, p := range all {
		var doc struct {
			ID                  string `json:"Id"`
			CapacityBytes       int64
			MediaType, Protocol string
		}
		if _, err := s.get(p, &doc); err != nil {
			return nil, err
		}
		out = append(out, drive{doc.ID, p, doc.CapacityBytes, doc.MediaType, doc.Protocol})
	}
	return out, nil
}

// presentVolumes reads the volumes with a level that Ironic has: controllers also show drives that they only pass on as
// volumes.
func (s *session) presentVolumes(c *raidController) error {
	var list struct {
		Support struct{ SupportedValues []string } `json:"@Redfish.OperationApplyTimeSupport"`
	}
	if _, err := s.get(c.volumes, &list); err != nil {
		return err
	}
	c.applyTimes = list.Support.SupportedValues
	all, err := s.members(c.volumes)
	if err != nil {
		return err
	}
	slices.SortFunc(all, byNumber)
	for _, p := range all {
		var doc struct {
			ID             string `json:"Id"`
			Name, RAIDType string
			CapacityBytes  int64
			Links          struct{ Drives []reference }
		}
		if _, err := s.get(p, &doc); err != nil {
			return err
		}
		if _, ok := levelOf(func(l raidLevel) bool { return l.raidType == doc.RAIDType }); ok {
			c.present = append(c.present, volume{p, doc.ID, doc.Name, doc.RAIDType, doc.CapacityBytes, paths(doc.Links.Drives)})
		}
	}
	return nil
}

// onReset reports whether changes to the volumes wait for a start of the machine.
func (c raidController) onReset() bool {
	return slices.Contains(c.applyTimes, "OnReset") && !slices.Contains(c.applyTimes, "Immediate")
}

// applyTime adds the time of a change to its request; nothing where the controller leaves no choice.
func (c raidController) applyTime(body map[string]any) map[string]any {
	switch {
	case slices.Contains(c.applyTimes, "Immediate"):
		body["@Redfish.OperationApplyTime"] = "Immediate"
	case c.onReset():
		body["@Redfish.OperationApplyTime"] = "OnReset"
	}
	return body
}

// sameDrives compares sets.
func sameDrives(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// deletion asks for a volume to be deleted.
func (c raidController) deletion(v volume) request {
	q := request{method: http.MethodDelete, path: strings.TrimRight(v.path, "/"), name: "delete " + v.String()}
	if when := c.applyTime(map[string]any{}); len(when) > 0 { // some controllers refuse a body where none is needed
		q.body = when
	}
	return q
}
