// Package docs holds the guides of this folder, for programs that show or read them.
package docs

import "embed"

// Guides are the pages, by their names.
//
//go:embed *.md
var Guides embed.FS
