package savedtree

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/placeholder"
)

// kind is the way to replace a value.
type kind int

const (
	plain   kind = iota // as it is
	shaped              // digits by digits, letters by letters
	hexed               // hexadecimal digits by such
	address             // an IP address by one for documentation
	removed             // by nothing
)

// rule derives the kind of a value from the name of its property. The first that fits counts.
type rule struct {
	name *regexp.Regexp // of the property, in small letters
	kind kind
}

func named(pattern string, k kind) rule { return rule{regexp.MustCompile("^(" + pattern + ")$"), k} }

// rules are by property. They are checked with planted values: see the tests.
var rules = []rule{
	named(`.*version.*|@odata\.type|.*@redfish\.allowablevalues|partnumber|sparepartnumber`, plain),
	named(`.*password.*|.*secret.*|.*token.*|.*passphrase.*|.*privatekey.*|community.*|.*licensekey.*|authorizationkey`,
		removed),
	named(`certificatestring|.*publickey.*|.*sshkey.*|.*fingerprint.*|signature|csrstring`, removed),
	named(`serialnumber|servicetag|sku|assettag|nodeid|chassisservicetag|expressservicecode|.*serial|boardserial.*`,
		shaped),
	named(`hostname|fqdn|.*hostname|domainname|.*dnsname.*|systemname|computername|.*username|user|owner.*|contact.*`,
		shaped),
	named(`email.*|.*emailaddress.*|phone.*|city|street|building|room|rack|rackname|datacenter.*|aisle|latitude|longitude`,
		shaped),
	named(`durablename|wwn.*|worldwidename|.*wwpn|.*wwnn|.*guid|uuid|.*uuid`, hexed),
	named(`.*macaddress|associatednetworkaddresses|associatedmacaddresses|.*mac`, hexed),
	named(`.*address|.*gateway|nameservers|ntpservers|.*server|.*serveraddress.*|.*ip|origin.*ipaddress|staticnameservers`,
		address),
}

// kindOf is the kind of a property's value, which decides its replacement.
func kindOf(property string) kind {
	property = strings.ToLower(property)
	for _, r := range rules {
		if r.name.MatchString(property) {
			return r.kind
		}
	}
	return plain
}

// patterns are values that are replaced wherever they stand.
var patterns = []struct {
	form *regexp.Regexp
	kind kind
}{
	{regexp.MustCompile(`\b[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5,7}\b`), hexed},
	{regexp.MustCompile(`\b[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}\b`), hexed},
	{regexp.MustCompile(`\bMAC\([0-9A-Fa-f]{12}\b`), hexed}, // of a UEFI device path
	{regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.[A-Za-z0-9.-]+`), shaped},
}

// impersonal reports values that many machines have: to replace them would make them look like some.
func impersonal(text string) bool {
	return placeholder.Text(text) == "" || slices.Contains([]string{"system", "true", "false"}, strings.ToLower(text))
}
