// Package link is the task of links that may be missing: graph autoencoders, which read features, and LightGCN, which learns a row for
// each user and item.
package link
