// Package docs holds the guides of this folder, for programs that show or read them.
package docs

import "embed"

// Guides are the pages, by folder and name: use/quickstart.md.
//
//go:embed use models library inside
var Guides embed.FS
