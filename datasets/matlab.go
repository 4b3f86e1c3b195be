package datasets

import (
	"bytes"
	"fmt"
	"io"

	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// matlab returns an error that says how to save a MATLAB file in a form that is read.
func matlab(path string) error {
	r, err := unpack.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	head := make([]byte, 128)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return fmt.Errorf("%s: %w", path, err)
	}
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte("\x89HDF\r\n\x1a\n")), bytes.HasPrefix(head, []byte("MATLAB 7.3")):
		return fmt.Errorf("%s: it is a MATLAB file of version 7.3 (HDF5), which is not read: save it from MATLAB with -v7, and then as npz with SciPy and NumPy", path)
	case bytes.HasPrefix(head, []byte("MATLAB 5.0")):
		return fmt.Errorf(`%s: it is a MATLAB file of version 5, which is not read: save it as npz, with the names that its variables have: `+
			`python3 -c "import numpy as np, scipy.io as s, scipy.sparse as p; m = s.loadmat('FILE.mat'); a = p.coo_matrix(m['network']); g = m['group']; `+
			`np.savez_compressed('FILE.npz', edge_index=[a.row, a.col], edge_weight=a.data, labels=g.toarray() if p.issparse(g) else g)"`, path)
	}
	return fmt.Errorf("%s: it is no MATLAB file of a version that is known: save its arrays as npz, with NumPy", path)
}
