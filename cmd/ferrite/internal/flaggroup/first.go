package flaggroup

import "github.com/spf13/pflag"

// All is the name of the flag that shows the help with all flags of a command. The short help has the flags of
// First in its help.
const All = "help-all"

// first marks the flags of First.
const first = "ferrite-first"

// First sets the flags that a person needs first, which alone are in the help. It adds the flag All. A name without a
// flag panics.
func First(f *pflag.FlagSet, names ...string) {
	f.Bool(All, false, "show this help with all settings")
	for _, name := range append(names, All) {
		if err := f.SetAnnotation(name, first, nil); err != nil {
			panic(err) // a mistake of the caller, which the first run of any test would show
		}
	}
}

// Shown returns the flags that the help of a set has, and the number of all its flags; 0 if the help has them all.
func Shown(f *pflag.FlagSet) (shown *pflag.FlagSet, all int) {
	if f.Lookup(All) == nil || f.Changed(All) {
		return f, 0
	}
	shown = pflag.NewFlagSet("first", pflag.ContinueOnError)
	shown.SortFlags = false
	f.VisitAll(func(flag *pflag.Flag) {
		all++
		if _, is := flag.Annotations[first]; is {
			shown.AddFlag(flag)
		}
	})
	return shown, all
}
