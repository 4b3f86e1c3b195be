// Package spell finds the name that somebody meant who wrote another.
//
//	spell.Nearest("corra", []string{"citeseer", "cora", "pubmed"}) // "cora"
package spell
