// Package datadir says in which folders datasets may be.
//
//	for _, dir := range datadir.Folders(flag) {
//		… // the flag's, $EDGEWISE_DATA, the user's cache
//	}
package datadir
