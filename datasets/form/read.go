package form

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// forms is the table of forms, in the order in which a folder is searched for them.
func forms() []Form {
	return []Form{
		ogbForm,
		planetoidForm,
		webkbForm,
		linqsForm,
		npzForm,
		mtxForm,
		tablesForm,
		graphmlForm,
		dotForm,
		tuForm,
		edgeListForm,
		jsonForm,
		jsonLinesForm,
		matlabForm,
		interactionsForm,
		triplesForm,
	}
}

// All returns the forms that are read, in the order in which a folder is searched for them.
func All() []Form { return forms() }

// Names returns the names of the forms.
func Names() []string { return namesOf(forms()) }

func namesOf(all []Form) (names []string) {
	for _, form := range all {
		names = append(names, form.Name)
	}
	return names
}

// Load reads what is at path: a file, whose form its name says, with the files that belong to it; a folder or a zip or
// tar archive, in which there is one dataset; texts perhaps in gzip or zstd.
func Load(path string, o Options) (*Raw, error) {
	f, main, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.read(main, o)
}

// ReadFS is [Load] of a file, a folder or an archive in fsys; "." is all of it.
func ReadFS(fsys fs.FS, name string, o Options) (*Raw, error) {
	f, main, err := OpenFS(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.read(main, o)
}

// Read is [Load] of a single file, or an archive, that r reads. Its name says what it is, and stands in errors.
func Read(r io.Reader, name string, o Options) (*Raw, error) {
	f, main, err := openReader(r, name)
	if err != nil {
		return nil, err
	}
	return f.read(main, o)
}

// read reads the files, beginning with main; without it they are searched.
func (f *Files) read(main string, o Options) (*Raw, error) {
	form, main, err := f.choose(main, o)
	if err != nil {
		return nil, err
	}
	raw, err := form.Read(f, main, o)
	if err != nil {
		return nil, err
	}
	if raw.Name == "" {
		raw.Name = stem(main)
	}
	for _, e := range form.Endings {
		if strings.HasPrefix(e, ".") {
			raw.Name = strings.TrimSuffix(raw.Name, e)
		}
	}
	if raw.Size == 0 {
		raw.Size = f.Size()
	}
	return raw, nil
}

// choose returns the form that the files are of, and the main one.
func (f *Files) choose(main string, o Options) (*Form, string, error) {
	all := append(slices.Clone(o.Others), forms()...)
	switch {
	case o.As != "":
		return f.as(main, o.As, all)
	case main == "":
		return f.search(all, len(o.Others))
	}
	if form, of := f.formOf(main, all); form != nil {
		return form, of, nil
	}
	if why := unread(main); why != "" {
		return nil, "", fmt.Errorf("%s: %s", f.At(main), why)
	}
	return &edgeListForm, main, nil // a list or a table may be called anything
}

// formOf returns the form that takes a file, nil if none does.
func (f *Files) formOf(name string, all []Form) (*Form, string) {
	for i := range all {
		if main := all[i].takes(f, name); main != "" {
			return &all[i], main
		}
	}
	return nil, ""
}

// as returns the form of a name.
func (f *Files) as(main, name string, all []Form) (*Form, string, error) {
	i := slices.IndexFunc(all, func(form Form) bool { return form.Name == name })
	if i < 0 {
		return nil, "", fmt.Errorf("%s: there is no form %.40q; there are: %s", f.Path, name, strings.Join(namesOf(all), ", "))
	}
	form, err := &all[i], error(nil)
	if main == "" {
		if main, err = form.main(f.candidates(form)); err == nil && main == "" {
			err = fmt.Errorf("there is nothing in it of the form %s: %s (%s): name the file itself", name, form.Says, strings.Join(form.Endings, ", "))
		}
		if err != nil {
			return nil, "", f.inside(err)
		}
	}
	return form, main, nil
}

// candidates returns the files in which a form is looked for. Readmes, licences and what is hidden are none of them.
func (f *Files) candidates(form *Form) []string {
	names := slices.DeleteFunc(slices.Clone(f.Names()), isReadme)
	if f.archive != nil {
		return names
	}
	return form.candidates(names)
}

// isReadme reports whether a file is a README or a licence, and so no data.
func isReadme(name string) bool {
	name = strings.ToLower(path.Base(name))
	return strings.HasPrefix(name, "readme") || strings.HasPrefix(name, "license") || strings.HasPrefix(name, "licence")
}

// inside is an error about a folder or an archive.
func (f *Files) inside(err error) error {
	if errors.As(err, new(*several)) && f.archive != nil {
		err = fmt.Errorf("%w: unpack it, and name the file that you want", err)
	}
	return fmt.Errorf("%s: %w", f.Path, err)
}

// search returns the first form that is in a folder or archive. Of the first few, which others have brought along, nothing of
// another form may have the name.
func (f *Files) search(all []Form, others int) (*Form, string, error) {
	for i := range all {
		main, err := all[i].main(f.candidates(&all[i]))
		if err != nil {
			return nil, "", f.inside(err)
		}
		for k := i + 1; main != "" && i < others && k < len(all); k++ {
			if twin, _ := all[k].main(f.candidates(&all[k])); twin != "" && stem(twin) == stem(main) {
				return nil, "", f.inside(&several{[]string{main, twin}})
			}
		}
		if main != "" {
			return &all[i], main, nil
		}
	}
	if inside := f.inner(); len(inside) > 0 {
		return nil, "", fmt.Errorf("%s: there is no dataset in it, but there may be one inside of %s: name that", f.Path, strings.Join(inside, ", "))
	}
	for _, name := range f.Names() {
		if why := unread(name); why != "" {
			return nil, "", fmt.Errorf("%s: %s", f.At(name), why)
		}
	}
	return nil, "", fmt.Errorf("%s: there is no dataset in it that is known: no %s; %s", f.Path, tried(all), f.holds())
}

// holds says which files there are, the first few of many.
func (f *Files) holds() string {
	names := f.Names()
	switch n := len(names); {
	case n == 0:
		return "it is empty"
	case n > namesMost:
		return fmt.Sprintf("it holds %s and %d more files", strings.Join(names[:namesMost], ", "), n-namesMost)
	}
	return "it holds " + strings.Join(names, ", ")
}

// tried says what the main files of forms are called.
func tried(all []Form) string {
	var names []string
	for _, form := range all {
		for _, e := range form.Endings {
			if strings.HasPrefix(e, ".") {
				e = "NAME" + e
			}
			if form.Opens != nil && !slices.Contains(names, e) {
				names = append(names, e)
			}
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// inner returns the paths of the folders and archives in a folder, in which there may be a dataset: the first few of
// many.
func (f *Files) inner() (found []string) {
	if f.archive != nil {
		return nil
	}
	entries, _ := fs.ReadDir(f.folder(), f.within(".")) // a folder that cannot be read has failed before
	for _, e := range entries {
		if hidden := strings.HasPrefix(e.Name(), "."); !hidden && (e.IsDir() || isArchive(e.Name())) && len(found) < namesMost {
			found = append(found, f.At(e.Name()))
		}
	}
	return found
}

// unread says of a file that is often met and not read here what to do; "" of another.
func unread(name string) string {
	switch strings.ToLower(path.Ext(unpack.Plain(name))) {
	case ".gexf", ".gml":
		return "its form is not read: write GraphML, as networkx.write_graphml does"
	case ".pt", ".pth", ".pkl", ".pickle", ".gpickle":
		return "objects of Python are not read: write the arrays, numpy.savez(path, edge_index=…, x=…, y=…)"
	case ".xlsx", ".xls", ".ods", ".feather":
		return "such tables are not read: save them as CSV, NAME_nodes.csv and NAME_edges.csv"
	case ".parquet":
		return "Parquet is not read by this program: save the tables as CSV, NAME_nodes.csv and NAME_edges.csv"
	}
	return ""
}

// Belonging returns the files that [Load] reads for a path, as their names say: that file and those that belong to it; of
// a folder those of all datasets of the form that is read. A program that writes beside a dataset asks so what it
// must leave alone. others are as in [Options].
func Belonging(path string, others ...Form) []string {
	f, main, err := Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	all := append(slices.Clone(others), forms()...)
	switch {
	case f.archive != nil:
		return []string{path}
	case main != "":
		return f.belonging(main, all, path)
	}
	var names []string
	for i := range all {
		within := f.candidates(&all[i])
		main, err := all[i].main(within)
		mains, many := []string{main}, (*several)(nil)
		if errors.As(err, &many) {
			mains = many.names
		}
		for _, main := range mains {
			if main != "" {
				names = append(names, all[i].belongs(within, main)...)
			}
		}
		if len(names) > 0 {
			break
		}
	}
	slices.Sort(names)
	return f.paths(slices.Compact(names))
}

// belonging returns the file at path and those that belong to it.
func (f *Files) belonging(name string, all []Form, path string) []string {
	form, main := f.formOf(name, all)
	if form == nil {
		return []string{path}
	}
	rest := slices.DeleteFunc(form.belongs(f.Names(), main), func(other string) bool { return other == name })
	return append([]string{path}, f.paths(rest)...)
}

// paths returns where files are.
func (f *Files) paths(names []string) (paths []string) {
	for _, name := range names {
		paths = append(paths, f.At(name))
	}
	return paths
}

// matlabForm is MATLAB's, which is not read: its errors say how to save such a file in a form that is.
var matlabForm = Form{
	Name: "matlab",
	Says: "a MATLAB file, of which is said how to save it in a form that is read",
	Opens: func(names []string) (string, error) {
		return only(ending(names, ".mat"))
	},
	Read: func(f *Files, main string, _ Options) (*Raw, error) { return nil, matlab(f, main) },
}

// matlab returns an error that says how to save a MATLAB file in a form that is read.
func matlab(f *Files, main string) error {
	path := f.At(main)
	r, err := f.open(main)
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
