// Command gen makes the embedded Cora from the eight ind.cora.* files:
//
//	go run ./datasets/cora/gen -data DIR -out datasets/cora
//
// It writes cora.zst, whose form the package datasets/cora describes, and
// sources.txt with the SHA-256 of each file it was made from. The same files
// give the same bytes.
package main
