// Package form reads graphs from files, archives and databases, each as its form has it, into one noun, [Raw]:
// nodes and edges, their ids, and their columns with the types of their cells. What the columns are for,
// and what becomes of them, packages columns and datasets say.
//
//	raw, err := form.Load("shop_edges.csv", form.Options{})        // and shop_nodes.csv, which lies beside it
//	raw, err := form.Load("cora.zip", form.Options{})              // a folder or an archive is searched
//	raw, err := form.ReadFS(files, "club.graphml", form.Options{}) // embedded files, or any other file system
//	raw, err := form.Read(body, "graph.npz", form.Options{})       // a stream: its name says the form
//
// Load takes a path and Read a stream, as in every package of the library; Open gives the files themselves, to a form.
//
// [All] is the table of forms. To add one, write a file with a value of [Form], which says how its files are
// called, which of them belong together and how they are read, and add it to the table. Search, errors and documentation follow from
// that. A form that needs what this package may not import is a value in a package of its own and
// is given in [Options].
package form
