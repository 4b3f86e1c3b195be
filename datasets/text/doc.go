// Package text reads text and makes sequences for recurrent and recursive networks.
//
// A [Tokeniser] turns lines into numbers: [Characters], [Words], [BytePairs], or a
// [Vocabulary], which cuts at white space. A [Ragged] is sequences of such numbers, of
// different lengths; nothing is ever padded. Some of its sequences are a [Batch]: a graph of
// chains with a node a token. [ByLength] says which sequences make the batches of an epoch.
//
//	l, err := text.LoadCSV("reviews.csv", "review", "stars")
//	words, err := text.NewWords(l.Texts, 2, false) // those that occur at least twice
//	reviews := text.EncodeLines(words, l.Texts)
//	for _, rows := range text.ByLength(reviews.Lengths(), 32, seed, epoch) {
//		b := reviews.Batch(rows) // b.Graph, b.Tokens
//		stars := l.Rows(rows).Labels
//		…
//	}
//
// Each reader returns one of these: [Labelled] texts, sentences with [Tagged] words,
// questions about stories ([Question]), texts and their translations ([Parallel], whose
// tokens are [Pairs], in batches a [PairBatch]), or trees ([Tree], in batches a
// [TreeBatch]). [LoadLines], [LoadCSV], [LoadLabelled], [LoadTagged], [LoadQuestions], [LoadTrees] and
// [LoadParallel] read files of your own, the others published datasets in the folder that [Find] finds. A
// [Task] makes sequences whose answers are known: of symbols, or a [Series] of numbers.
//
// Load and [Save] take a path. Each has a Read or a [Write] beside it that takes a stream, or
// an fs.FS where several files belong together.
//
// Texts are in UTF-8. Errors name the file, the line and, for invalid UTF-8, the byte.
// Files may be in gzip or zstd, and folders may be archives; what expands without bound is
// refused. A byte-order mark, carriage returns and a last line without an end change
// nothing. An empty line is an empty sequence, which is an empty chain.
package text
