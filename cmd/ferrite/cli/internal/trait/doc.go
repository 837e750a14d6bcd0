// Package trait is the command trait, below the nouns that have traits.
package trait
