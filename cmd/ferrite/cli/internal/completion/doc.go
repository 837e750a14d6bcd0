// Package completion offers a shell what a person may type next: names of
// nodes and records, states, drivers, interfaces and settings.
//
// The arguments of a command are read off its usage line, and a flag is known
// by its name, so a new command is completed without a word of its own. Names
// come from the conductor that the command would ask. A conductor that is away
// costs two seconds and no message.
package completion
