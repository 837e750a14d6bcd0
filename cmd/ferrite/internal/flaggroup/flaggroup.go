// Package flaggroup puts flags of a command into groups with titles, for its help and its reference page.
package flaggroup

import "github.com/spf13/pflag"

// annotation is the title of the group of a flag.
const annotation = "ferrite-group"

// Add adds flags, and makes those that are new a group.
func Add(f *pflag.FlagSet, title string, add func(*pflag.FlagSet)) {
	known := map[string]bool{}
	f.VisitAll(func(flag *pflag.Flag) { known[flag.Name] = true })
	add(f)
	f.VisitAll(func(flag *pflag.Flag) {
		if known[flag.Name] {
			return
		}
		if flag.Annotations == nil {
			flag.Annotations = map[string][]string{}
		}
		flag.Annotations[annotation] = []string{title}
	})
}

// Of is the title of a flag's group; "" for none.
func Of(flag *pflag.Flag) string {
	for _, title := range flag.Annotations[annotation] {
		return title
	}
	return ""
}

// Titles are the groups of a set in the order of their first flags, "" for the flags without.
func Titles(f *pflag.FlagSet) (titles []string, flags map[string]*pflag.FlagSet) {
	flags = map[string]*pflag.FlagSet{}
	f.VisitAll(func(flag *pflag.Flag) {
		title := Of(flag)
		if flags[title] == nil {
			titles = append(titles, title)
			flags[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
			flags[title].SortFlags = false
		}
		flags[title].AddFlag(flag)
	})
	return titles, flags
}
