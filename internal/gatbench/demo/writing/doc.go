// Package writing has demos that write: a text, a line in other letters, a translation, a sequence from its end.
package writing
