// Package fetch downloads files whose checksum is known.
//
//	g := &fetch.Getter{}
//	err := g.Get(ctx, fetch.File{URL: url, Path: path, Size: n, SHA256: sum})
//
// A file is there whole and right, or not at all. What an interrupted download
// left, NAME.part, the next one goes on with. Errors of a network or a server are
// tried again a few times; a server that sends something else than what was asked
// for is an error at once.
package fetch
