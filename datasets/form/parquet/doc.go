// Package parquet reads graphs from Parquet files, and writes tables as such. It is a form that a program hands to
// the reader:
//
//	raw, err := form.Load("shop/", form.Options{Others: []form.Form{parquet.Form}})
//
// A table of edges has two columns that name their ends, such as source and target, and one of nodes a column that
// names them, such as id. Files are called as those of CSV: NAME_edges.parquet with NAME_nodes.parquet, edges.parquet
// with nodes.parquet, nodes_TYPE.parquet with edges_FROM_KIND_TO.parquet, or one of nodes alone.
//
// Numbers, decimals and booleans become numbers; dates and timestamps times in UTC; texts, enums and UUIDs words;
// lists of numbers of one length a matrix; nulls empty cells. Any other column is an error, which names it.
// Columns are read side by side. Files may be compressed by Snappy, gzip, zstd or LZ4.
//
// What a file says of itself is not believed: a file that was cut short or damaged is an error, and so is a small
// file that says of itself that it is huge. A byte that was changed in a page can only be found if whoever wrote
// the file wrote checksums.
package parquet
