package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// keyFields are the fields of nodes with keys, as the sources name them.
var keyFields = map[string]node.KeyPlace{
	"DriverInfo": node.InDriverInfo, "InstanceInfo": node.InInstanceInfo, "Properties": node.InProperties,
}

// keyReaders are functions that read the key of their first text argument.
var keyReaders = map[string]node.KeyPlace{
	"driverinfo.Text": node.InDriverInfo, "driverinfo.BMCText": node.InDriverInfo,
	"driverinfo.Required": node.InDriverInfo, "driverinfo.Number": node.InDriverInfo,
	"driverinfo.Bool": node.InDriverInfo, "BMCSettingOf": node.InDriverInfo,
	"capability": node.InCapabilities, "wantedCapability": node.InCapabilities,
}

// variableReads are the files that read keys by a variable, with the text in the file that the key has: the key itself
// for "". Elsewhere a key is a text or a constant of its package, which TestKeysAreRead finds by itself.
var variableReads = []struct {
	file  string
	place node.KeyPlace
	text  string
	keys  []string
}{
	{"conductor/bmc/driverinfo/authorities.go", node.InDriverInfo, "", list("redfish_verify_ca, agent_verify_ca")},
	{"conductor/bmc/driverinfo/connection.go", node.InDriverInfo, "", list("redfish_tls_minimum_version, " +
		"redfish_tls_ciphers, redfish_root_prefix, firmware_update_unresponsive_bmc_wait")},
	{"conductor/bmc/ipmi/target.go", node.InDriverInfo, "",
		list("ipmi_username, ipmi_password, ipmi_protocol_version, ipmi_bridging, ipmi_hex_kg_key")},
	{"conductor/bmc/redfish/target.go", node.InDriverInfo, "", list("redfish_address, redfish_system_id, " +
		"redfish_username, redfish_password, redfish_auth_type")},
	{"conductor/bmc/redfish/tls.go", node.InDriverInfo, "", list("redfish_tls")},
	{"conductor/boot/bootpolicy/bootpolicy.go", node.InDriverInfo, "",
		list("deploy_kernel, deploy_ramdisk, rescue_kernel, rescue_ramdisk")},
	{"conductor/node/media.go", node.InDriverInfo, "",
		list("deploy_iso, rescue_iso, redfish_deploy_iso, redfish_rescue_iso")},
	{"conductor/node/patience.go", node.InDriverInfo, `s.Key()`, patienceKeys()},
	{"conductor/plan/network.go", node.InDriverInfo, `"_network"`, list("provisioning_network, cleaning_network, " +
		"rescuing_network, inspection_network, servicing_network")},
	{"conductor/plan/partition.go", node.InInstanceInfo, "", list("root_gb, swap_mb, ephemeral_gb")},
	{"conductor/plan/image.go", node.InInstanceInfo, "", list("image_container_format")},
	{"proto/rootdevice/hints.go", node.InProperties, "", list("root_device, skip_block_devices")},
	{"proto/rootdevice/hints.go", node.InInstanceInfo, "", list("root_device")},
	{"conductor/plan/capability.go", node.InInstanceInfo, "", list("capabilities")},
	{"conductor/plan/capability.go", node.InProperties, "", list("capabilities")},
	{"conductor/imagestore/imagesource/pull_secret.go", node.InInstanceInfo, "", list("image_pull_registry")},
	{"conductor/imagestore/imagesource/pull_secret.go", node.InDriverInfo, "", list("image_pull_registry")},
}

func patienceKeys() (keys []string) {
	for _, s := range node.PatienceSettings() {
		keys = append(keys, s.Key())
	}
	return keys
}

// TestKeysAreRead: a key of a node is acted upon in the table if, and only if, the sources read it.
func TestKeysAreRead(t *testing.T) {
	read := keyReads(t)
	for _, v := range variableReads {
		source, err := os.ReadFile("../../" + v.file)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range v.keys {
			text := v.text
			if text == "" {
				text = `"` + key + `"`
			}
			if !strings.Contains(string(source), text) {
				t.Errorf("%s has no %s any more, by which it read %s/%s: correct variableReads", v.file, text, v.place, key)
			}
			read[v.place][key] = v.file
		}
	}
	for _, k := range node.Keys {
		if at := read[k.Place][k.Name]; (at != "") != (k.Treatment == node.Acted) {
			t.Errorf("%s/%s is %q in conductor/node/keys.go, and is read in %q: correct its row, or variableReads here",
				k.Place, k.Name, k.Treatment, at)
		}
	}
	for place, keys := range read {
		for key, at := range keys {
			if !slices.ContainsFunc(node.Keys, func(k node.KnownKey) bool { return k.Place == place && k.Name == key }) {
				t.Errorf("%s reads %s/%s, which has no row in conductor/node/keys.go", at, place, key)
			}
		}
	}
}

// keyReads finds the keys that the conductor and the agent read, with a file of each.
func keyReads(t *testing.T) map[node.KeyPlace]map[string]string {
	t.Helper()
	read := map[node.KeyPlace]map[string]string{node.InDriverInfo: {}, node.InInstanceInfo: {}, node.InProperties: {},
		node.InCapabilities: {}}
	constants, files := map[string]string{}, map[string]*ast.File{} // constants by folder and name
	for _, root := range []string{"../../conductor", "../../agent"} {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !production(p) || strings.HasSuffix(path.Dir(filepath.ToSlash(p)), "test") {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
			files[filepath.ToSlash(p)] = parsed
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
				for i, id := range v.Names {
					constants[path.Dir(name)+" "+id.Name] = textIn(v.Values[i])
				}
			}
			return true
		})
	}
	for name, f := range files {
		r := keyReader{read, strings.TrimPrefix(name, "../../"), func(e ast.Expr) string {
			if id, ok := e.(*ast.Ident); ok {
				return constants[path.Dir(name)+" "+id.Name]
			}
			return textIn(e)
		}}
		ast.Inspect(f, r.visit)
	}
	return read
}

// textIn is a text in the sources; "" for another expression.
func textIn(e ast.Expr) string {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return ""
	}
	text, _ := strconv.Unquote(l.Value)
	return text
}

type keyReader struct {
	read map[node.KeyPlace]map[string]string
	file string
	text func(ast.Expr) string // of a literal or constant
}

func (r keyReader) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt: // an element that is set is not read
		for _, e := range n.Lhs {
			if i, ok := e.(*ast.IndexExpr); !ok || fieldOf(i.X) == "" {
				ast.Inspect(e, r.visit)
			}
		}
		for _, e := range n.Rhs {
			ast.Inspect(e, r.visit)
		}
		return false
	case *ast.IndexExpr:
		r.note(fieldOf(n.X), n.Index)
	case *ast.CallExpr:
		r.call(n)
	}
	return true
}

// call notes the keys that a call reads: of a field among its arguments, or of the place of its function.
func (r keyReader) call(c *ast.CallExpr) {
	name, place := "", node.KeyPlace("")
	switch f := c.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
		if x, ok := f.X.(*ast.Ident); ok && x.Name == "driverinfo" {
			name = "driverinfo." + name
		}
	}
	if name == "delete" {
		return
	}
	for _, a := range c.Args {
		if p := fieldOf(a); p != "" {
			place = p
		}
	}
	if p := keyReaders[name]; p != "" {
		place = p
	}
	if i := slices.IndexFunc(c.Args, func(a ast.Expr) bool { return r.text(a) != "" }); i >= 0 {
		r.note(place, c.Args[i])
	}
}

func (r keyReader) note(place node.KeyPlace, key ast.Expr) {
	if name := r.text(key); place != "" && name != "" {
		r.read[place][name] = r.file
	}
}

// fieldOf is the place that an expression like n.DriverInfo names; "" for another expression.
func fieldOf(e ast.Expr) node.KeyPlace {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	return keyFields[s.Sel.Name]
}
