package columns

import (
	"github.com/edgewise-ml/edgewise/datasets/form"
)

// Roles say what columns are for. What they leave open follows from the columns' names and contents.
type Roles struct {
	ID, Source, Target, EdgeID string              // as form.Options
	Label                      []string            // what is to be learnt; several are numbers, or 0 and 1
	Weight, Part, Title        string              // columns of these roles
	Parts                      map[string]string   // which part a word of the column Part means: train, val or test; nil: its words are these
	As                         map[string]Encoding // what a column becomes; [Left] leaves it out. Of the column of Label: AsNumber learns its numbers, AsCategory classes
	Undirected                 bool                // both directions of each edge are meant
	Directed                   bool                // each edge leads one way, though the files mean both
	Repeated                   Repeated            // what becomes of several edges from one node to another
}

// Options returns what the reader of files has to know.
func (r Roles) Options() form.Options {
	return form.Options{ID: r.ID, Source: r.Source, Target: r.Target, EdgeID: r.EdgeID}
}

// Encoding is how a column becomes features.
type Encoding string

// The encodings of columns. Without one the cells decide.
const (
	AsNumber   Encoding = "number"   // standardised by the rows that train; an empty cell is their median
	AsPlain    Encoding = "plain"    // a number as it stands
	AsLog      Encoding = "log"      // sign(x)·log(1+|x|), standardised
	AsCategory Encoding = "category" // a feature for each word, or number, that the rows that train have; any other is all zeros
	AsCode     Encoding = "code"     // the number of a word, or of a whole number, that the rows that train have twice; any other is 0; of a matrix a code for each of its columns
	AsTime     Encoding = "time"     // days since the earliest of the rows that train, standardised, and cycles
	AsText     Encoding = "text"     // weights of its words, by how few rows have them
	AsMatrix   Encoding = "matrix"   // as it is
	Left       Encoding = "none"     // no feature
)

// Encodings are those that may be asked for a column of single values.
var Encodings = []Encoding{AsNumber, AsPlain, AsLog, AsCategory, AsCode, AsTime, AsText, Left}

// number reports whether the cells are numbers that become one.
func (e Encoding) number() bool { return e == AsNumber || e == AsPlain || e == AsLog }

// worded reports whether the cells are words.
func (e Encoding) worded() bool { return e == AsCategory || e == AsCode || e == AsText }

// Repeated says what becomes of several edges from one node to another.
type Repeated string

// The ways of repeated edges.
const (
	First Repeated = "first" // the first by what they carry counts, with the sum of the weights; the usual way of edges that carry nothing else, and where nothing is learnt
	Keep  Repeated = "keep"  // each is an edge of its own; the usual way where edges are learnt, or nodes by edges that have columns of their own
	Sum   Repeated = "sum"   // one edge with the sums of their numbers; what is no number is the first's
	Count Repeated = "count" // one edge whose weight is how many there are
)

// Schema says how the columns of a Raw are read, and keeps what was learnt from the rows that train: vocabularies,
// fills, origins of times, classes. It is kept with a model as JSON, so that tomorrow's rows are read in the same
// way.
type Schema struct {
	Nodes      []Table  `json:"nodes"`            // one for each type of nodes
	Edges      []Table  `json:"edges,omitempty"`  // one for each kind of edges
	Graphs     *Table   `json:"graphs,omitempty"` // of many graphs
	Label      *Label   `json:"label,omitempty"`  // nil: nothing is to be learnt
	Undirected bool     `json:"undirected,omitempty"`
	Directed   bool     `json:"directed,omitempty"`
	Repeated   Repeated `json:"repeated,omitempty"`
	Options    Names    `json:"names,omitzero"`
	Fitted     bool     `json:"fitted"`

	Doubts []string `json:"-"` // what was fitted and may not be meant: a column that gives the label away
}

// Names are the columns that say which row is which, where they were chosen.
type Names struct {
	ID, Source, Target, EdgeID string
}

// Table says how the columns of one table are read.
type Table struct {
	Type    string            `json:"type,omitempty"` // of nodes; of edges their kind
	From    string            `json:"from,omitempty"` // of edges
	To      string            `json:"to,omitempty"`
	Columns []Column          `json:"columns,omitempty"` // those that become features, in the order of these
	Weight  string            `json:"weight,omitempty"`
	Part    string            `json:"part,omitempty"`  // the column that says which part of the split a row is in
	Parts   map[string]string `json:"parts,omitempty"` // which part a word of it means; nil: its words are train, val and test
	Masks   []string          `json:"masks,omitempty"` // columns that say whether a row trains, validates or tests
	Title   string            `json:"title,omitempty"` // the column that says what people call a row
	Times   []string          `json:"times,omitempty"` // the columns that say when, by which rows may be divided
	Kind    string            `json:"kind,omitempty"`  // the column of words that says which of several kinds a row is of
	Kinds   []string          `json:"kinds,omitempty"`
	Unread  []string          `json:"unread,omitempty"` // columns that are left out
	Count   int               `json:"count,omitempty"`  // of nodes without any columns: how many; each has a feature of its own, so no others are known
	Known   string            `json:"known,omitempty"`  // of these a digest of their ids

	seen  map[string]seen // of each column what Choose saw; nil: the Schema is a file's
	order []string        // the names of all columns, as the table has them
}

// Column says how one column becomes features.
type Column struct {
	Name    string    `json:"name"`
	Type    form.Type `json:"type"` // of the cells that were fitted
	As      Encoding  `json:"as"`
	Asked   bool      `json:"asked,omitempty"`   // the user asked for this encoding
	Words   []string  `json:"words,omitempty"`   // of a category, ascending unless Given: a feature each; of a code, ascending: 1 and so on
	Given   bool      `json:"given,omitempty"`   // the files say which words there are, in this order, and not the rows that train
	Fill    *float64  `json:"fill,omitempty"`    // of a number or time: what an empty cell is
	Gaps    bool      `json:"gaps,omitempty"`    // some of the rows that train are empty; of a number or time a feature says which
	Scale   *Scale    `json:"scale,omitempty"`   // of a number or time; nil: it stays as it is
	From    int64     `json:"from,omitempty"`    // of times: the earliest, from which days are counted
	Till    int64     `json:"till,omitempty"`    // of times that are dates: the latest
	Dated   bool      `json:"dated,omitempty"`   // of times: they are dates, and not such as years
	Cycles  []Cycle   `json:"cycles,omitempty"`  // of times: the cycles that the rows that train go through
	Less    float64   `json:"less,omitempty"`    // of plain numbers beyond what float32 tells apart: what is taken off
	Width   int       `json:"width,omitempty"`   // of a matrix; of text the number of hashes of its words
	Names   []string  `json:"names,omitempty"`   // of a matrix's columns; of text the commonest word of each hash
	Codes   []Code    `json:"codes,omitempty"`   // of a matrix: its columns that hold codes already, as the files say
	Values  [][]int32 `json:"values,omitempty"`  // of a code that is a matrix: of each of its columns the whole numbers, ascending: 1 and so on
	Hashes  []int32   `json:"hashes,omitempty"`  // of text, ascending: those that the rows that train have, a feature each
	Weights []float64 `json:"weights,omitempty"` // of text, of each hash by how few rows have it
}

// Scale is what standardises a number.
type Scale struct {
	Mean float64 `json:"mean"`
	Dev  float64 `json:"dev"` // the standard deviation of the population; 0 of a column of one value, which becomes 0
}

// Cycle is what times go round in. Each becomes a sine and a cosine.
type Cycle string

// The cycles of times.
const (
	Day  Cycle = "day"
	Week Cycle = "week"
	Year Cycle = "year"
)

// Label says what is learnt.
type Label struct {
	Of      form.Of  `json:"of"`
	Columns []string `json:"columns,omitempty"`
	Kind    Answer   `json:"kind"`
	Classes []string `json:"classes,omitempty"` // their names; of one class the words of the column, in the order of the classes
	Count   int      `json:"count"`             // of classes, labels or numbers
	As      Encoding `json:"as,omitempty"`      // of one column, AsNumber or AsCategory: it is learnt as a number or as classes; empty: its cells decide

	why   string // it is learnt so, for people
	other bool   // it could be learnt in the other way
	none  bool   // −1 stands for a row of which nothing is known
}

// Answer says what is learnt of a row.
type Answer string

// What may be learnt.
const (
	OneClass Answer = "class"
	Labels   Answer = "labels"  // several, each there or not
	Numbers  Answer = "numbers" //
)
