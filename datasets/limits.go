package datasets

import "fmt"

// A file may say that there is more than it holds: columns of features that are zero
// everywhere and classes that nobody has take nothing in it, and nodes that are all
// alike next to nothing where it is compressed. But a training has weights for each
// column, a row in every layer for each node, and a score for each node and class. So
// there may be some of each, and more the more bytes a file has. What a reader itself
// takes is bounded by unpack.Budget and npy.Archive.
const (
	believedLeast = 1 << 16 // nodes or columns, and one for each byte
	scoresLeast   = 1 << 23 // and so many for each byte
	scoresPer     = 64
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
// as many nodes, features or classes as it says.
func (d *Dataset) believable(bytes int64) error {
	n, width := d.Graph.NumNodes(), d.Features.Shape()[1]
	if err := believableNodes(n, bytes); err != nil {
		return err
	}
	if most := believed(bytes); int64(width) > most {
		return fmt.Errorf("%d features a node, in a file of %d bytes: each takes weights, so at most %d are believed: leave out those that are zero everywhere, or save the file without compression", width, bytes, most)
	}
	if x := d.EdgeFeatures; x != nil && int64(x.Dim(1)) > believed(bytes) {
		return fmt.Errorf("%d features an edge, in a file of %d bytes: each takes weights, so at most %d are believed: leave out those that are zero everywhere, or save the file without compression", x.Dim(1), bytes, believed(bytes))
	}
	most := min(believed(bytes), (scoresLeast+scoresPer*min(bytes, 1<<48))/int64(max(n, 1)))
	if int64(d.Classes) > most {
		return fmt.Errorf("%d classes of %d nodes, in a file of %d bytes: each node has a score of each class, so at most %d are believed: number the classes from 0 without gaps", d.Classes, n, bytes, most)
	}
	return nil
}

// believableNodes is believable of nodes alone, before anything is made for each.
func believableNodes(n int, bytes int64) error {
	if most := believed(bytes); int64(n) > most {
		return fmt.Errorf("%d nodes, in a file of %d bytes: each takes a row in every layer, so at most %d are believed: leave out those without edges, or save the file without compression", n, bytes, most)
	}
	return nil
}

// believed is how many nodes, and how many columns of features, a file of that many
// bytes may have.
func believed(bytes int64) int64 { return believedLeast + min(bytes, 1<<48) }
