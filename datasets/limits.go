package datasets

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/sparse"
)

// What a file may say that there is without holding it: columns of features that
// are zero everywhere, and classes that nobody has. They take nothing in the file,
// but a training takes weights for each column and a score for each node and class.
// So there may be some of each, and more the more bytes a file has. Everything else
// that a reader takes memory for is in the file, and bounded by
// [github.com/edgewise-ml/edgewise/internal/unpack.Budget] and internal/npy where a
// file is compressed.
const (
	columnsLeast = 1 << 16 // and one for each byte
	scoresLeast  = 1 << 23 // and so many for each byte
	scoresPer    = 64
)

// sound is [Dataset.Check] of what a file of that many bytes holds, which must be
// believable, too.
func (d *Dataset) sound(bytes int64) error {
	if err := d.Check(); err != nil {
		return err
	}
	return d.believable(bytes)
}

// believable returns an error if a file of that many bytes cannot be meant to hold
// as many features or classes as it says.
func (d *Dataset) believable(bytes int64) error {
	n, width := d.Graph.NumNodes(), d.Features.Shape()[1]
	if most := columnsLeast + bytes; int64(width) > most && bytes < 1<<48 {
		what, do := "features a node", "leave out those that are zero everywhere, or save the file without compression"
		if x, ok := d.Features.(*sparse.CSR); ok && width == n && x.NNZ() == n {
			what, do = "nodes, each a feature of its own where a file has none", "leave out nodes without edges, give them features, or save the file without compression"
		}
		return fmt.Errorf("%d %s, in a file of %d bytes: each takes weights, so at most %d are believed: %s", width, what, bytes, most, do)
	}
	if most := scoresLeast + scoresPer*min(bytes, 1<<48); int64(d.Classes) > most/int64(max(n, 1)) {
		return fmt.Errorf("%d nodes of %d classes, in a file of %d bytes: each node has a score of each class, and at most %d are believed: number the classes from 0 without gaps", n, d.Classes, bytes, most)
	}
	return nil
}
