// Package tiling chooses how a product of a sparse and a dense matrix runs, by what each
// way would cost on this machine.
//
// An edge brings a row of x from wherever it is: from the second cache of the core, from the
// last cache, or from memory. There are three ways:
//
//   - plain: the rows of the matrix one after another, and of x whole rows;
//   - tiles: x is cut in tiles of some columns, each is laid out by itself and then gathered
//     from, so that more rows stay in a cache; all edges are walked once for each tile;
//   - blocks: the edges are put in another order, by panels of rows and then by blocks of
//     the rows of x, so that the rows of a block stay in a cache while a panel uses them. With
//     or without tiles.
//
// [Shape.Cost] is the model. The time of an edge in a walk is
//
//	edge + lines·(hit₂·line₂ + hit₃·line₃ + miss·line)
//
// where lines are the cache lines of a row of the tile, line₂, line₃ and line what one of
// them takes from the second cache, from the last one and from memory, and the shares come
// from how often the matrix itself comes back to a row ([Curve]). In blocks every row is
// near, but each panel brings each block there once, and each row of the matrix is begun
// once in each block. A tile has to be laid out first. [This] measures what a line takes from the caches.
package tiling
