package cli

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// apiPath is a word that may be the path of a field. A longer path, such as a URL's, is one word, too.
var apiPath = regexp.MustCompile(`[\w/:.-]*/[\w/:.-]+`)

// flagNames puts the flags of a command in the place of the API's fields: an error about instance_info/image_checksum
// is then about --checksum. A field without a flag of this command stays.
func flagNames(cmd *cobra.Command, text string) string {
	has := func(flag string) bool { return cmd.Flags().Lookup(flag) != nil }
	used := map[string]bool{}
	text = apiPath.ReplaceAllStringFunc(text, func(word string) string {
		path := strings.TrimRight(word, ".:")
		flag := nodeapi.FlagOf(path, has)
		if flag == "" {
			return word
		}
		used[flag] = true
		return flag + word[len(path):]
	})
	for flag := range used { // several fields have one flag: it is named once
		f := regexp.QuoteMeta(flag)
		text = regexp.MustCompile(f+`(?:(?:,|,? and|,? or) `+f+`\b)+`).ReplaceAllLiteralString(text, flag)
	}
	return text
}
